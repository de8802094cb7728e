"""What the server hands in with the ASGI scope beside what ASGI knows: a handle on the connection under a request."""

from typing import Protocol

CONNECTION_EXTENSION = "emulator.connection"


class Connection(Protocol):
    """The connection under a request."""

    @property
    def made_ms(self) -> float:
        """When it was made, by the host's clock, as `emulator.kernel.clock.host_elapsed_ms` tells it."""

    def reset(self) -> None:
        """Break it off at once, so that the client sees a reset."""

    def close(self) -> None:
        """Close it after what was sent, though the answer is not whole."""
