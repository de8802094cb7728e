"""The servers that the emulator is compared with, each with nothing behind it.

- `raw`: a plain ASGI function. It drops what it reads, and answers with as many bytes
  as the path says: `/BYTES`.
- `starlette`: a route of Starlette that answers with a small JSON object.
- `fastapi`: the same with FastAPI and a response model.

All run on uvicorn, with uvloop and httptools and without an access log.
"""

import socket
import sys
from typing import Any, Final

from uvicorn.config import Config
from uvicorn.server import Server

KINDS: Final = ("raw", "starlette", "fastapi")
_METHODS: Final = ["GET", "POST"]


async def _raw(
    scope: Any,
    receive: Any,
    send: Any,
) -> None:
    more = True
    while more:
        message = await receive()
        more = message.get("more_body", False)
    size = int(scope["path"][1:] or 0)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % size),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b" " * size})


def _starlette() -> Any:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def hello(request: Request) -> JSONResponse:
        if request.method == "POST":
            await request.json()
        return JSONResponse({"hello": "world"})

    return Starlette(routes=[Route("/{size}", hello, methods=_METHODS)])


def _fastapi() -> Any:
    from fastapi import FastAPI
    from pydantic import BaseModel

    class Greeting(BaseModel):
        hello: str

    async def hello() -> dict[str, str]:
        return {"hello": "world"}

    application = FastAPI()
    application.add_api_route(
        "/{size}",
        hello,
        methods=_METHODS,
        response_model=Greeting,
    )
    return application


def config_of(kind: str) -> Config:
    """Return how one of them is served."""
    application: Any = _raw
    if kind == "starlette":
        application = _starlette()
    elif kind == "fastapi":
        application = _fastapi()
    return Config(
        application,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
    )


class AnnouncingServer(Server):
    """Prints the line by which the emulator, too, says that it is ready."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        host, port = (sockets or [])[0].getsockname()
        print(f"ready http://{host}:{port}", flush=True)


def main() -> None:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    AnnouncingServer(config_of(sys.argv[1])).run(sockets=[listener])


if __name__ == "__main__":
    main()
