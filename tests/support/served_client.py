"""The client of the tests for a served emulator, which lets every failure of the wire through as it is.

A reset comes as a reset, half a body as half a body, and nothing is held against the contract: a scenario may well have
spoiled it. Each request has a connection of its own, unless one is handed in.
"""

from contextlib import closing, nullcontext
from http.client import HTTPConnection
from typing import Final
from urllib.parse import urlsplit

from tests.support.emulator_client import FULL, HOST, Answer, Call, Client

SECONDS: Final = 20.0
"""After this a request that should have been answered is taken for hung."""
IMPATIENT_SECONDS: Final = 0.2
"""How long a client waits for an answer that will never come."""


class ServedClient(Client):
    """A client of the emulator at a base URL, with or without its path; addresses that it hands out are gone to."""

    def __init__(self, base_url: str, key: str = FULL) -> None:
        super().__init__(key)
        parts = urlsplit(base_url)
        self.address, self.base_path, self.host = parts.netloc, parts.path, ""

    def connect(self, seconds: float = SECONDS, address: str = "") -> HTTPConnection:
        """Return a connection, which is not open yet; a socket that is silent for so long raises TimeoutError."""
        return HTTPConnection(address or self.address, timeout=seconds)

    def start(self, connection: HTTPConnection, call: Call) -> None:
        path, query = self.place_of(call)
        headers = {name.decode(): value for name, value in self.headers_of(call)}
        connection.request(
            call.method, f"{path}?{query}" if query else path, call.body, headers
        )

    def finish(self, connection: HTTPConnection) -> Answer:
        """Wait for an answer. Raises ConnectionResetError, IncompleteRead or TimeoutError."""
        response = connection.getresponse()
        headers = tuple((name.lower(), value) for name, value in response.getheaders())
        return Answer(response.status, headers, response.read())

    def send(
        self,
        call: Call,
        connection: HTTPConnection | None = None,
        seconds: float = SECONDS,
    ) -> Answer:
        address = urlsplit(call.target).netloc
        used = connection or self.connect(seconds, "" if address == HOST else address)
        with nullcontext() if connection else closing(used):
            self.start(used, call)
            return self.finish(used)
