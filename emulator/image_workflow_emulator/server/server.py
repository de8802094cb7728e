"""One uvicorn server: how it is configured, and what it does with connections that keep it waiting.

Every few seconds it checks all connections and ends overdue ones, so that a request costs nothing more. A limit that is
reached is logged with its remedy, once for each check.
"""

import asyncio
import logging
import sys
from typing import Any, Final

from uvicorn.config import Config
from uvicorn.server import Server

from image_workflow_emulator.server.protocol import ANSWER_SECONDS, REQUEST_SECONDS, Connections, WatchedProtocol

MAX_CONNECTIONS: Final = 1_000
SPARE_FILES: Final = 64
"""File descriptors for the log, helpers and files that are read. At most half of what the process may have."""
_TICKS: Final = 50
"""Connections are checked every 50 ticks of uvicorn, which are 5 seconds."""
_LOGGER = logging.getLogger("image_workflow_emulator.server")


def connection_limit() -> int:
    """Return how many connections this process can hold: fewer where its limit of open files is low."""
    if sys.platform == "win32":
        return MAX_CONNECTIONS
    import resource

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    spare = min(SPARE_FILES, files // 2)
    return MAX_CONNECTIONS if files == resource.RLIM_INFINITY else max(min(MAX_CONNECTIONS, files - spare), 1)


def server_config(application: Any, grace_seconds: int = 0) -> Config:
    """Return how uvicorn serves an ASGI application."""
    return Config(
        application,
        http=WatchedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=grace_seconds,
    )


class WatchedServer(Server):
    """A server that ends connections that are slow for too long."""

    def __init__(self, application: Any, grace_seconds: int = 0) -> None:
        """`grace_seconds`: how long requests in flight may take to finish when the server is told to stop."""
        super().__init__(server_config(application, grace_seconds))
        self.server_state: Connections = Connections(connection_limit())

    async def on_tick(self, counter: int) -> bool:
        """Check connections now and then."""
        if counter % _TICKS == 0:
            self._close_overdue()
        return await super().on_tick(counter)

    def cut_connections(self) -> int:
        """Break off every connection, and return how many there were: no request is answered any more."""
        connections = list(self.server_state.connections)
        for connection in connections:
            connection.transport.abort()
        return len(connections)

    def _close_overdue(self) -> None:
        state, now = self.server_state, asyncio.get_running_loop().time()
        ended = sum(connection.end_if_overdue(now) for connection in list(state.connections))
        if ended:
            text = "closed %d connections: a request must go on within %d s, an answer must be read on within %d s"
            _LOGGER.warning(text, ended, REQUEST_SECONDS, ANSWER_SECONDS)
        if state.refused:
            _LOGGER.warning(
                "refused %d connections: there may be %d at most; close idle ones in the client's pool, or "
                "raise the limit of open files (ulimit -n) if it is lower than %d",
                *(state.refused, state.limit, MAX_CONNECTIONS + SPARE_FILES),
            )
            state.refused = 0
