"""The connections of a server: how many there may be, and how long each may be idle or slow.

Every few seconds the server looks at all of them and ends those that are overdue, so that a request costs nothing more.
A limit that is reached is logged with its remedy, once for each check.
"""

import asyncio
import logging
import socket
import sys
from typing import Final

from emulator.cli.batches import Batch
from emulator.cli.heads import KnownHeads
from emulator.cli.server_parts import Config, Server, ServerState

HEAD_SECONDS: Final = 30.0
"""How long the head of a request may take, from its first byte to its last."""
BODY_SECONDS: Final = 30.0
"""How long a body may go without a byte while the server waits for it."""
ANSWER_SECONDS: Final = 600.0
"""How long an answer may go on without a byte being taken by the system, which does so in steps of up to a megabyte."""
IDLE_SECONDS: Final = 120.0
"""How long a connection may be open without a request."""
MAXIMUM_CONNECTIONS: Final = 1_000
_LOOK_SECONDS: Final = 5.0
_SPARE_FILES: Final = 64
"""File descriptors for everything else: the log, helpers, files that are read."""

_LOGGER = logging.getLogger("emulator.server")


class Connections(ServerState):
    """What the connections of one server share."""

    def __init__(self) -> None:
        super().__init__()
        self.limit = greatest_number()
        self.refused = 0
        """How many were refused since the last check, because there were too many."""
        self.batch = Batch()
        self.heads = KnownHeads()
        self._malformed = 0

    def next_request_id(self) -> str:
        """Return a Request-Id for bytes that never became a request: unique, and never that of a request."""
        self._malformed += 1
        return f"req_{self._malformed:026x}"


class WatchedServer(Server):
    """A server that ends connections that are idle or slow for too long."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.server_state: Connections = Connections()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve, and to check connections."""
        await super().startup(sockets)
        self._look_later(asyncio.get_running_loop())

    def _look_later(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.call_later(_LOOK_SECONDS, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        connections, now = self.server_state, loop.time()
        ended = sum(connection.end_if_overdue(now) for connection in list(connections.connections))  # type: ignore[union-attr]  # of cli.protocol
        if ended:
            _LOGGER.warning(
                "closed %d connections that kept the server waiting: a head must come within %d s, a body must go on "
                "within %d s, an answer must be read on within %d s, an idle connection closes after %d s",
                *(ended, HEAD_SECONDS, BODY_SECONDS, ANSWER_SECONDS, IDLE_SECONDS),
            )
        if connections.refused:
            _LOGGER.warning(
                "refused %d connections: there may be %d at most; close idle ones in the client's pool, or "
                "raise the limit of open files (ulimit -n) if it is lower than %d",
                *(connections.refused, connections.limit, MAXIMUM_CONNECTIONS + _SPARE_FILES),
            )
            connections.refused = 0
        self._look_later(loop)


def greatest_number() -> int:
    """Return how many connections this process can hold: fewer where its limit of open files is low."""
    if sys.platform == "win32":
        return MAXIMUM_CONNECTIONS
    import resource

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MAXIMUM_CONNECTIONS
    return max(min(MAXIMUM_CONNECTIONS, files - _SPARE_FILES), 1)
