"""The server that the emulator is compared with: the same one with nothing behind it.

A plain ASGI function on uvicorn, with uvloop and httptools and without an access log. It reads what it is sent, drops
it, and answers with as many bytes as the path says: `/BYTES`.
"""

import socket
from typing import Any

from uvicorn.config import Config
from uvicorn.server import Server


async def application(scope: Any, receive: Any, send: Any) -> None:
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


class AnnouncingServer(Server):
    """Prints the line by which the emulator, too, says that it is ready."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        host, port = (sockets or [])[0].getsockname()
        print(f"ready http://{host}:{port}", flush=True)


def raw_config() -> Config:
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


def main() -> None:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    AnnouncingServer(raw_config()).run(sockets=[listener])


if __name__ == "__main__":
    main()
