"""The uvicorn server: its options, the limit of connections, and its end.

Owns how long a stop may take. What one connection does is in `connection`.
"""

import asyncio
import logging
import resource
import socket
from types import FrameType
from typing import Any, Final, Protocol

from uvicorn.config import Config
from uvicorn.server import Server

from image_workflow_emulator.http.heads import Receive, Scope, Send
from image_workflow_emulator.server.connection import Connection, ConnectionState

MAX_CONNECTIONS: Final = 1_000
SPARE_FILES: Final = 64
"""File descriptors for the log, helpers and files that are read; at most half of what
the process may have."""
IDLE_SECONDS: Final = 120
"""How long a connection may be open without a request."""
GRACE_SECONDS: Final = 8
"""How long requests in flight may take after a stop began: less than the 10 s after
which containers are killed."""
UNWIND_SECONDS: Final = 1
"""How long requests may take to end once their connections are cut."""
_TICKS_BETWEEN_REPORTS: Final = 50
"""uvicorn ticks ten times a second."""
_LOGGER: Final = logging.getLogger("image_workflow_emulator.server")


def connection_limit() -> int:
    """Return how many connections this process can hold.

    There are fewer than `MAX_CONNECTIONS` where its limit of open files is low.
    """
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    spare = min(SPARE_FILES, files // 2)
    return max(min(MAX_CONNECTIONS, files - spare), 1)


def server_config(application: Any) -> Config:
    """Return how uvicorn serves an ASGI application."""
    return Config(
        application,
        http=Connection,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS + UNWIND_SECONDS,
    )


class ServedApplication(Protocol):
    """The application, as far as its server ends it."""

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Answer one request, or the events of the lifespan."""

    def stop(self) -> None:
        """Let the requests in flight come to their end."""

    def close(self) -> None:
        """End the helper processes."""


class EmulatorServer(Server):
    """A uvicorn server that refuses connections above a limit and ends in time."""

    def __init__(self, application: ServedApplication) -> None:
        super().__init__(server_config(application))
        self._served = application
        self.server_state: ConnectionState = ConnectionState(connection_limit())

    async def on_tick(self, counter: int) -> bool:
        """Report refused connections now and then."""
        if counter % _TICKS_BETWEEN_REPORTS == 0:
            self.report_refused_connections()
        return await super().on_tick(counter)

    def report_refused_connections(self) -> None:
        """Log how many connections were refused since the last report, if any."""
        state = self.server_state
        if state.refused_connections:
            _LOGGER.warning(
                "refused %d connections: there may be %d at most; close idle ones in "
                "the client's pool, or raise the limit of open files (ulimit -n) if it "
                "is lower than %d",
                state.refused_connections,
                state.max_connections,
                MAX_CONNECTIONS + SPARE_FILES,
            )
            state.refused_connections = 0

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let requests in flight finish, but cut their connections in time."""
        self._served.stop()
        loop = asyncio.get_running_loop()
        grace = loop.call_later(GRACE_SECONDS, self._end_transfers)
        await super().shutdown(sockets)
        grace.cancel()
        if self.force_exit:  # which uvicorn takes for the end of the process
            await self.lifespan.shutdown()

    def _end_transfers(self) -> None:
        number = self.cut_connections()
        if number:
            _LOGGER.warning(
                "cut %d connections whose requests did not end within %d s",
                number,
                GRACE_SECONDS,
            )

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop at the first signal, and at once at the second, whichever they are.

        Neither ends the process itself.
        """
        if self.should_exit and not self.force_exit:
            self.force_exit = True
            asyncio.get_running_loop().call_soon_threadsafe(self.cut_connections)
        self.should_exit = True

    async def end_at_once(self) -> None:
        """End without waiting for any answer: no client waits for one any more."""
        for server in self.servers:
            server.close()
        self._served.stop()
        self.cut_connections()
        if self.server_state.tasks:
            await asyncio.wait(self.server_state.tasks, timeout=UNWIND_SECONDS)
        await self.lifespan.shutdown()

    def cut_connections(self) -> int:
        """Break off every connection, and return how many there were."""
        self._served.close()  # no request waits for image work any more
        connections = list(self.server_state.connections)
        for connection in connections:
            connection.transport.abort()
        return len(connections)
