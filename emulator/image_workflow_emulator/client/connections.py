"""HTTP requests that reach the emulator whatever a test has replaced.

Owns the connection of a request. Test tools replace parts of the standard library while
a test runs: VCR.py the classes of `http.client`, pook a method of these classes,
pytest-socket and other network guards `socket.socket` or its methods. None of them is
meant for requests to the control plane, which must be neither recorded, played back nor
refused. So this module keeps what it uses of `http.client`, `socket` and `ssl` from the
moment it is imported. The pytest plugin imports it before the first test runs.
"""

import http.client
import socket
from collections.abc import Mapping
from http.client import HTTPException
from ssl import create_default_context
from typing import NamedTuple
from urllib.parse import urlsplit

_resolve = socket.getaddrinfo


class _Socket(socket.socket):
    """A socket whose methods are those that `socket.socket` had at import."""

    connect = socket.socket.connect
    settimeout = socket.socket.settimeout
    sendall = socket.socket.sendall
    recv_into = socket.socket.recv_into
    makefile = socket.socket.makefile
    close = socket.socket.close


class _Connection(http.client.HTTPConnection):
    """A connection whose methods are those that its base class had at import."""

    response_class = http.client.HTTPResponse
    request = http.client.HTTPConnection.request
    putrequest = http.client.HTTPConnection.putrequest
    putheader = http.client.HTTPConnection.putheader
    endheaders = http.client.HTTPConnection.endheaders
    send = http.client.HTTPConnection.send
    getresponse = http.client.HTTPConnection.getresponse
    close = http.client.HTTPConnection.close

    def __init__(
        self,
        host: str,
        port: int | None,
        seconds: float,
    ) -> None:
        super().__init__(host, port, timeout=seconds)
        self._seconds = seconds

    def connect(self) -> None:
        self.sock = _connected_socket(self.host, self.port, self._seconds)


class _TlsConnection(_Connection):
    """The same, encrypted."""

    default_port = http.client.HTTPS_PORT

    def connect(self) -> None:
        super().connect()
        context = create_default_context()
        self.sock = context.wrap_socket(self.sock, server_hostname=self.host)


class RawAnswer(NamedTuple):
    """A whole answer, its headers as they came."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


def exchange(
    method: str,
    url: str,
    headers: Mapping[str, str],
    content: bytes | None,
    seconds: float,
) -> RawAnswer:
    """Send a request and return its answer.

    `seconds` bounds each silence. Redirects and proxies are not followed. Raises OSError
    or ValueError if there is no answer.
    """
    address = urlsplit(url)
    connection_class = _Connection
    if address.scheme.lower() == "https":
        connection_class = _TlsConnection
    connection = connection_class(address.hostname or "", address.port, seconds)
    target = address.path or "/"
    if address.query:
        target += f"?{address.query}"
    try:
        connection.request(method, target, content, dict(headers))
        response = connection.getresponse()
        return RawAnswer(response.status, response.getheaders(), response.read())
    except HTTPException as error:
        raise ConnectionError(str(error) or type(error).__name__) from error
    finally:
        connection.close()


def _connected_socket(
    host: str,
    port: int,
    seconds: float,
) -> socket.socket:
    """Connect to the first address of a host that accepts. Raises OSError."""
    refusal = OSError(f"{host} has no address")
    addresses = _resolve(host, port, type=socket.SOCK_STREAM)
    for family, kind, protocol, _, address in addresses:
        connection = _Socket(family, kind, protocol)
        try:
            connection.settimeout(seconds)
            connection.connect(address)
        except OSError as error:
            connection.close()
            refusal = error
        else:
            return connection
    raise refusal
