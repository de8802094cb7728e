"""One uvicorn server: how it is configured, and what it does with connections that keep it waiting.

Every few seconds it looks at all of them and ends those that are overdue, so that a request costs nothing more. A limit
that is reached is logged with its remedy, once for each look.
"""

import asyncio
import logging
import socket
from typing import Any, Final, cast

from emulator.server.connections import (
    ANSWER_SECONDS,
    BODY_SECONDS,
    HEAD_SECONDS,
    IDLE_SECONDS,
    MAXIMUM_CONNECTIONS,
    SPARE_FILES,
    Connections,
)
from emulator.server.protocol import PatientHttpProtocol
from emulator.server.uvicorn_classes import Config, Server

_LOOK_SECONDS: Final = 5.0
_LOGGER = logging.getLogger("emulator.server")


def server_config(application: Any, grace_seconds: int = 0) -> Config:
    """Return how uvicorn serves an ASGI application."""
    return Config(
        application,
        http=PatientHttpProtocol,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=grace_seconds,
    )


class WatchedServer(Server):
    """A server that ends connections that are idle or slow for too long."""

    def __init__(self, application: Any, grace_seconds: int = 0) -> None:
        """`grace_seconds`: how long requests in flight may take to finish when the server is told to stop."""
        super().__init__(server_config(application, grace_seconds))
        self.server_state: Connections = Connections()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve, and to check connections."""
        await super().startup(sockets)
        self._look_later(asyncio.get_running_loop())

    def _look_later(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.call_later(_LOOK_SECONDS, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        connections, now = self.server_state, loop.time()
        all_of_them = cast(list[PatientHttpProtocol], list(connections.connections))
        ended = sum(connection.end_if_overdue(now) for connection in all_of_them)
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
                *(connections.refused, connections.limit, MAXIMUM_CONNECTIONS + SPARE_FILES),
            )
            connections.refused = 0
        self._look_later(loop)
