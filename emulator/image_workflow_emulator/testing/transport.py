"""One request and its answer: over HTTP, or to an emulator in this process, without a socket."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

Application = Callable[[Any, Any, Any], Awaitable[None]]

HOST: Final = "testserver"
"""The host that an emulator in this process is asked for: that of Starlette's TestClient."""
ORIGIN: Final = f"http://{HOST}"


class Answer(Struct, frozen=True):
    """A whole answer. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        """The JSON object of the answer; empty if it is none."""
        try:
            value = json.loads(self.body or b"null")
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


def lower_names(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return headers by their names in lower case; the values of a repeated one are joined, as HTTP allows."""
    headers: dict[str, str] = {}
    for name, value in pairs:
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return headers


def send(method: str, url: str, headers: Mapping[str, str], content: bytes | None, seconds: float) -> Answer:
    """Send a request and return the answer; `seconds` bounds each silence. Redirects and proxies are not followed.

    Raises OSError or ValueError if there is none.
    """
    import http.client  # with TLS, it takes as long to import as the rest of a command

    address = urlsplit(url)
    connect = http.client.HTTPSConnection if address.scheme.lower() == "https" else http.client.HTTPConnection
    connection = connect(address.hostname or "", address.port, timeout=seconds)
    try:
        target = (address.path or "/") + (f"?{address.query}" if address.query else "")
        connection.request(method, target, content, dict(headers))
        response = connection.getresponse()
        return Answer(response.status, lower_names(response.getheaders()), response.read())
    except http.client.HTTPException as error:
        raise ConnectionError(str(error) or type(error).__name__) from error
    finally:
        connection.close()


async def ask(
    application: Application, method: str, target: str, headers: Mapping[str, str], content: bytes = b""
) -> Answer:
    """Send a request to an application, and return its answer. `target` is a path with its query.

    Raises LostAnswerError if a scenario loses the answer.
    """
    path, _, query = target.partition("?")
    sent = {**headers, "Host": HOST, "Content-Length": str(len(content))}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [
            (name.lower().encode("latin-1", "replace"), value.encode("latin-1", "replace"))
            for name, value in sent.items()
        ],
        "client": None,
        "server": (HOST, 80),
    }
    pieces = [{"type": "http.request", "body": content, "more_body": False}]
    answered: list[Any] = []

    async def receive() -> Any:
        return pieces.pop() if pieces else await asyncio.Event().wait()  # the client stays

    async def send(message: Any) -> None:
        answered.append(message)

    await application(scope, receive, send)
    pairs = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in answered[0]["headers"])
    return Answer(answered[0]["status"], lower_names(pairs), b"".join(message.get("body", b"") for message in answered))
