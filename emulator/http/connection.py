"""What the server hands in with the ASGI scope beside what ASGI knows: a handle on the connection under a request."""

from typing import Protocol

CONNECTION_EXTENSION = "emulator.connection"


class Connection(Protocol):
    """The connection under a request."""

    @property
    def made_ms(self) -> float:
        """When it was opened, as `emulator.kernel.clock.host_elapsed_ms` counts."""

    def reset(self) -> None:
        """Break it off at once, so that the client sees a reset."""

    def close(self) -> None:
        """Close it after the bytes sent so far, though the answer is incomplete."""
