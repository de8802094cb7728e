"""The client of the tests for a served emulator.

It lets every failure of the wire through: a reset comes as a reset, half a body as half
a body. Nothing is held against the contract, which a scenario may have spoiled. Each
request has a connection of its own, unless one is handed in.
"""

from contextlib import closing
from http.client import HTTPConnection
from typing import Final
from urllib.parse import urlsplit

from tests.support.emulator_client import FULL, HOST, Answer, Call, Client

SECONDS: Final = 20.0
"""After this a request that should have been answered is taken for hung."""
IMPATIENT_SECONDS: Final = 0.2
"""How long a client waits for an answer that will never come."""


class ServedClient(Client):
    """A client of the emulator at a base URL, with or without its path.

    Addresses that the emulator hands out are gone to.
    """

    def __init__(self, base_url: str, key: str = FULL) -> None:
        super().__init__(key)
        parts = urlsplit(base_url)
        self.address = parts.netloc
        self.base_path = parts.path
        self.host = ""

    def connect(self, seconds: float = SECONDS, address: str = "") -> HTTPConnection:
        """Return a connection, which is not open yet.

        Raises TimeoutError if it is silent for so long.
        """
        return HTTPConnection(address or self.address, timeout=seconds)

    def start(self, connection: HTTPConnection, call: Call) -> None:
        target, query = self.place_of(call)
        if query:
            target = f"{target}?{query}"
        headers = {name.decode(): value for name, value in self.headers_of(call)}
        connection.request(
            call.method,
            target,
            call.body,
            headers,
        )

    def finish(self, connection: HTTPConnection) -> Answer:
        """Wait for an answer.

        Raises ConnectionResetError, IncompleteRead or TimeoutError.
        """
        response = connection.getresponse()
        received = response.getheaders()
        headers = [(name.lower(), value) for name, value in received]
        return Answer(
            status=response.status,
            raw_headers=tuple(headers),
            body=response.read(),
        )

    def send(
        self,
        call: Call,
        connection: HTTPConnection | None = None,
        seconds: float = SECONDS,
    ) -> Answer:
        if connection is not None:
            self.start(connection, call)
            return self.finish(connection)
        address = urlsplit(call.target).netloc
        if address == HOST:
            address = ""
        with closing(self.connect(seconds, address)) as own_connection:
            self.start(own_connection, call)
            return self.finish(own_connection)
