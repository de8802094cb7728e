"""The connections of a server: how many there may be, and how long each may be idle or slow.

Must not know how a limit is kept: a connection knows when it is overdue, and the server asks it.
"""

import sys
from typing import Final

from emulator.server.batches import Batch
from emulator.server.heads import KnownHeads
from emulator.server.uvicorn_classes import ServerState

HEAD_SECONDS: Final = 30.0
"""How long the head of a request may take, from its first byte to its last."""
BODY_SECONDS: Final = 30.0
"""How long a body may go without a byte while the server waits for it."""
ANSWER_SECONDS: Final = 600.0
"""How long an answer may go on without a byte being taken by the system, which does so in steps of up to a megabyte."""
IDLE_SECONDS: Final = 120.0
"""How long a connection may be open without a request."""
MAXIMUM_CONNECTIONS: Final = 1_000
SPARE_FILES: Final = 64
"""File descriptors for everything else: the log, helpers, files that are read."""


class Connections(ServerState):
    """The state that the connections of one server share."""

    def __init__(self) -> None:
        super().__init__()
        self.limit = connection_limit()
        self.refused = 0
        """The number of connections refused since the last check, because there were too many."""
        self.batch = Batch()
        self.heads = KnownHeads()
        self._malformed = 0

    def next_request_id(self) -> str:
        """Return a Request-Id for bytes that never became a request: unique, and never that of a request."""
        self._malformed += 1
        return f"req_{self._malformed:026x}"


def connection_limit() -> int:
    """Return how many connections this process can hold: fewer where its limit of open files is low."""
    if sys.platform == "win32":
        return MAXIMUM_CONNECTIONS
    import resource

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MAXIMUM_CONNECTIONS
    return max(min(MAXIMUM_CONNECTIONS, files - SPARE_FILES), 1)
