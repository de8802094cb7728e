"""The `serve` command: one uvicorn server around the application, from the bound port to the last answer.

Owns the listening socket, the start-up message, the `ready` line, signals and the log.
"""

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from emulator import __version__
from emulator.cli.addresses import local_url
from emulator.cli.errors import CommandError, unreadable
from emulator.cli.logs import configure_logging
from emulator.contract import BASE_PATH
from emulator.control import PREFIX
from emulator.documents.complaints import nearest
from emulator.imaging.memory import give_back_large_blocks
from emulator.server.garbage import collect_with_small_pauses
from emulator.server.server import WatchedServer
from emulator.settings import OPTIONS, VARIABLE_PREFIX, Settings, unknown_variables

if TYPE_CHECKING:
    from emulator.app import Application, StartUpSummary

_LOGGER = logging.getLogger("emulator.cli")
GRACE_SECONDS = 8
"""How long requests in flight may take to finish after SIGTERM: less than the 10 s after which containers are killed."""
TRANSFER_GRACE_SECONDS = 7
"""How long what is still on its way may take to arrive; then the connection is cut, and its request ends by itself."""
IMAGE_GRACE_SECONDS = 4
"""How much of this their image work may take, so that its clients still get their answers: usual images need a tenth."""


def serve(settings: Settings, environment: Mapping[str, str]) -> int:
    """Serve until SIGTERM or Ctrl-C, let the requests in flight finish, and return the exit status.

    Raises UsageError or DocumentError for settings and files that cannot be used, CommandError if the port is taken.
    """
    signal.signal(signal.SIGTERM, _stop_before_ready)
    configure_logging(settings.log_format, settings.log_level)
    warn_of_unknown_variables(environment)
    with listening_socket(settings.host, settings.port) as listener:
        application = load_application(settings)
        address = address_of(listener)
        message = _start_up_message(settings.public_url or address, application.start_up_summary())
        with access_log(application, settings, environment, is_usual=True):
            _AnnouncingServer(application, f"{message}\nready {address}{BASE_PATH}").run(sockets=[listener])
    return 0


@contextmanager
def access_log(
    application: "Application", settings: Settings, environment: Mapping[str, str], *, is_usual: bool
) -> Iterator[None]:
    """Write a line for each request meanwhile, if that is asked for or usual."""
    if not (is_usual if settings.access_log is None else settings.access_log):
        yield
        return
    from emulator.cli.access_log import AccessLog
    from emulator.cli.output import Style

    log = AccessLog(Style(sys.stderr, environment), as_json=settings.log_format == "json")
    application.sandboxes.observe(log.note)
    try:
        yield
    finally:
        log.close()


def warn_of_unknown_variables(environment: Mapping[str, str]) -> None:
    """Warn about variables that look like options but are not."""
    # The prefix, which all of them have, says nothing about which one was meant.
    known = {option.variable.removeprefix(VARIABLE_PREFIX): option.variable for option in OPTIONS}
    for name in unknown_variables(environment):
        suggestions = " or ".join(known[meant] for meant in nearest(name.removeprefix(VARIABLE_PREFIX), known))
        hint = f"; did you mean {suggestions}?" if suggestions else ""
        _LOGGER.warning("unknown variable %s%s", name, hint)


def load_application(settings: Settings) -> "Application":
    """Build the application. Raises UsageError or DocumentError for files that cannot be used."""
    from emulator.app import Application

    try:
        return Application(settings)
    except OSError as error:
        raise unreadable(error) from error


class _AnnouncingServer(WatchedServer):
    """A server that prints when it is ready, and for which a signal to stop is not a failure."""

    def __init__(self, application: "Application", announcement: str) -> None:
        super().__init__(application, GRACE_SECONDS)
        self._application = application
        self._announcement = announcement

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        collect_with_small_pauses()
        print(self._announcement, flush=True)
        give_back_large_blocks()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._application.stop()
        loop = asyncio.get_running_loop()
        loop.call_later(IMAGE_GRACE_SECONDS, self._application.close)
        loop.call_later(TRANSFER_GRACE_SECONDS, self._cut_transfers)
        await super().shutdown(sockets)
        self._application.close()

    def _cut_transfers(self) -> None:
        connections = list(self.server_state.connections)
        for connection in connections:
            connection.transport.abort()
        if connections:
            number, seconds = len(connections), TRANSFER_GRACE_SECONDS
            _LOGGER.warning("cut %d connections whose requests did not end within %d s", number, seconds)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn would end the process by the signal it caught; here the caller returns a status of its own.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.handle_exit)
        yield


def _stop_before_ready(_number: int, _frame: FrameType | None) -> None:
    sys.exit(0)


def listening_socket(host: str, port: int) -> socket.socket:
    """Bind the address before anything else, so that a port in use is reported at once."""
    listener = None
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        # A name such as localhost may have both: clients that use 127.0.0.1 must find the server there.
        family, kind, protocol, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
        listener = socket.socket(family, kind, protocol)
        if sys.platform != "win32":  # there, the option would let two servers share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except (OSError, UnicodeError) as error:
        if listener is not None:
            listener.close()
        reason = error.strerror if isinstance(error, OSError) else "invalid host name"
        raise CommandError(f"cannot listen on {host}, port {port}: {reason}") from error
    return listener


def address_of(listener: socket.socket) -> str:
    """The address under which this machine reaches the socket."""
    host, port = listener.getsockname()[:2]
    return local_url(host, port)


def _start_up_message(address: str, summary: "StartUpSummary") -> str:
    teams = max((len(team) for team, _, _ in summary.keys), default=0)
    keys = max((len(key) for _, key, _ in summary.keys), default=0)
    rows = [f"{team:{teams}}  {key:{keys}}  {note}".rstrip() for team, key, note in summary.keys]
    example = summary.keys[0][1] if summary.keys else "KEY"
    return "\n".join(
        [
            f"Image Workflow Emulator {__version__}",
            "",
            f"  base URL  {address}{BASE_PATH}",
            f"  page      {address}{PREFIX}",
            f"  clock     {summary.clock}",
            *(f"  {'' if number else 'keys':8}  {row}" for number, row in enumerate(rows)),
            "",
            f'  curl -H "Authorization: Bearer {example}" {address}{BASE_PATH}/team',
            "",
        ]
    )
