"""A client on the wire that lets every failure of it through as it is: a reset as a reset, half a body as half a body.

Each request has a connection of its own, unless one is handed in. Knows HTTP and where the surfaces of a served emulator
are, and nothing of what it does.
"""

import json as json_text
from collections.abc import Mapping
from contextlib import closing
from http.client import HTTPConnection
from typing import Any, Final
from urllib.parse import urlsplit

from tests.support.emulator_client import FULL, JSON, Answer

SECONDS: Final = 20.0
"""After this a request that should have been answered is taken for hung."""
IMPATIENT_SECONDS: Final = 0.2
"""How long a client waits for an answer that will never come."""


class Wire:
    """A client of one server, and of its control plane, with the credential of one key."""

    def __init__(self, base_url: str, key: str = FULL) -> None:
        parts = urlsplit(base_url)
        assert parts.hostname
        self._address = (parts.hostname, parts.port)
        self._key = key

    def connect(self, seconds: float = SECONDS) -> HTTPConnection:
        """Return a connection, which is not open yet; a socket that is silent for so long raises TimeoutError."""
        return HTTPConnection(*self._address, timeout=seconds)

    def start(
        self, connection: HTTPConnection, method: str, path: str, body: Any = None, idempotency_key: str | None = None
    ) -> None:
        """Send a request to the service, and do not wait for its answer."""
        headers = {"Authorization": f"Bearer {self._key}"}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        self._send(connection, method, "/v1" + path, body, headers)

    def finish(self, connection: HTTPConnection) -> Answer:
        """Wait for an answer. Raises ConnectionResetError, IncompleteRead or TimeoutError."""
        response = connection.getresponse()
        headers = tuple((name.lower(), value) for name, value in response.getheaders())
        return Answer(response.status, headers, response.read())

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        idempotency_key: str | None = None,
        connection: HTTPConnection | None = None,
        seconds: float = SECONDS,
    ) -> Answer:
        """Send a request to the service and wait for its answer; raises as `finish` does."""
        if connection is not None:
            self.start(connection, method, path, body, idempotency_key)
            return self.finish(connection)
        with closing(self.connect(seconds)) as own:
            return self.ask(method, path, body, idempotency_key, own)

    def request(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
        """Send a request to a path from the root, with no headers but these, and wait for its answer.

        Bytes are sent as they are, anything else as JSON.
        """
        with closing(self.connect()) as connection:
            self._send(connection, method, path, body, headers or {})
            return self.finish(connection)

    def control(self, method: str, path: str, body: Any = None) -> Any:
        """Ask the control plane for something that must succeed."""
        answer = self.request(method, "/_emulator" + path, body)
        assert answer.status in (200, 201, 204), answer.body
        return answer.json if answer.body else None

    def bring_in(self, data: bytes, content_type: str = "image/png", key: str = "upload") -> Answer:
        """Upload a file, by requests whose Idempotency-Keys begin with this one; return the answer to the completion."""
        body = {"content_type": content_type, "size_bytes": len(data)}
        session = self.ask("POST", "/uploads", body, f"{key}, opened").json
        token = self.send_bytes(session, data).json
        return self.ask("POST", f"/uploads/{session['id']}/complete", token, f"{key}, completed")

    def upload(self, data: bytes, key: str = "upload") -> str:
        """Bring a PNG in, and return the id of its Asset."""
        done = self.bring_in(data, key=key)
        assert done.status == 201, done.body
        return done.id

    def send_bytes(self, session: Any, data: bytes) -> Answer:
        """Send bytes to the signed URL of an Upload Session."""
        return self.request("POST", urlsplit(session["upload"]["url"]).path, data, session["upload"]["headers"])

    def fetch(self, url: str) -> Answer:
        """Get a file by its link."""
        return self.request("GET", urlsplit(url).path)

    def _send(self, connection: HTTPConnection, method: str, path: str, body: Any, headers: Mapping[str, str]) -> None:
        if body is not None and not isinstance(body, bytes):
            body, headers = json_text.dumps(body).encode(), {**JSON, **headers}
        connection.request(method, path, body, headers)
