"""The address of a server on this machine, for the server itself and for its clients."""

from typing import Final

_LOOPBACK: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""By the address that stands for all addresses of a machine: the one that reaches it from inside."""


def local_url(host: str, port: int) -> str:
    """Return the address under which this machine reaches a server that listens on a host and port."""
    host = _LOOPBACK.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
