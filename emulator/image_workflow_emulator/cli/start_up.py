"""What `serve` and `exec` do alike at their start: the log, the socket, the application and warnings.

Must not know how long either of them serves.
"""

import asyncio
import errno
import json
import logging
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.settings import (
    CLIENT_VARIABLES,
    OPTIONS,
    READINGS_FILE,
    VARIABLE_PREFIX,
    CommandError,
    Settings,
    UsageError,
    local_url,
)
from image_workflow_emulator.testing.errors import unreadable

if TYPE_CHECKING:
    from image_workflow_emulator.app import Application

_LOGGER = logging.getLogger("image_workflow_emulator.cli")


class _Lines(logging.Formatter):
    """One line a record, led by the real time, which is not the emulator's."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        time = format_timestamp(int(record.created * 1000))
        level = record.levelname.lower()
        message = super().format(record)  # with the traceback, if there is one
        if self._as_json:
            return json.dumps({"time": time, "level": level, "logger": record.name, "message": message})
        return f"{time} {level:7} {message}"


def _configure_logging(settings: Settings) -> None:
    """Send the log of the whole process to standard error, from the given level up."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines(as_json=settings.log_format == "json"))
    level = settings.log_level.upper()
    logging.basicConfig(handlers=[handler], level=level, force=True)
    logging.getLogger("PIL").setLevel(logging.WARNING)  # it logs every chunk of every picture
    # The server's own messages at `info` (process ids, "Shutting down") are of no use to its user.
    logging.getLogger("uvicorn").setLevel(
        "DEBUG" if level == "DEBUG" else max(logging.WARNING, logging.getLevelName(level))
    )


def _warn_of_unknown_variables(environment: Mapping[str, str]) -> None:
    """Warn about variables that look like options but are not."""
    known = {*(option.variable for option in OPTIONS), *CLIENT_VARIABLES}
    for name in sorted(environment):
        if name.startswith(VARIABLE_PREFIX) and name not in known:
            _LOGGER.warning("unknown variable %s", name)


def _warn_of_open_control_plane(settings: Settings, address: str) -> None:
    """Warn where other machines may reach the control plane, and nothing keeps them from it."""
    if not settings.control_token and not ip_address(address).is_loopback:
        _LOGGER.warning(
            "listening on %s: without --control-token, everybody who reaches it can change the emulator and read its keys",
            address,
        )


def _listening_socket(host: str, port: int) -> socket.socket:
    """Bind the address before anything else, so that a port in use is reported at once. Raises CommandError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        # A name such as localhost may have both: clients that use 127.0.0.1 must find the server there.
        family, _, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
        is_dual = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server(address, family=family, dualstack_ipv6=is_dual)
    except (OSError, UnicodeError) as error:
        is_taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
        hint = "; choose another with --port (0 picks a free one)" if is_taken else ""
        said = (isinstance(error, OSError) and error.strerror) or "invalid host name"
        raise CommandError(f"cannot listen on {host}, port {port}: {said.partition(' (while')[0]}{hint}") from error


def _load_application(settings: Settings) -> "Application":
    """Build the application. Raises UsageError or DocumentError for files that cannot be used."""
    from image_workflow_emulator.app import Application

    if settings.readings is None and Path(READINGS_FILE).exists():
        settings = settings._replace(found_readings=READINGS_FILE)
    try:
        return Application(settings, is_served=True)
    except OSError as error:
        raise UsageError(unreadable(error)) from error


async def make_given(settings: Settings, address: str) -> None:
    """Make what the option `given` lists, in the emulator that this process serves. Raises EmulatorError."""
    if settings.given is not None:
        from image_workflow_emulator.testing.control_client import ControlClient
        from image_workflow_emulator.testing.sandbox import Given

        await asyncio.to_thread(Given(ControlClient(address, settings.control_token)).file, settings.given)


@contextmanager
def started(settings: Settings, environment: Mapping[str, str]) -> Iterator[tuple[socket.socket, str, "Application"]]:
    """Give a socket that is bound, its address, and the application for it.

    A line is written for each request meanwhile, if the settings ask for it.

    Raises UsageError or DocumentError for settings and files that cannot be used, CommandError if the port is taken.
    """
    _configure_logging(settings)
    _warn_of_unknown_variables(environment)
    with _listening_socket(settings.host, settings.port) as listener, ExitStack() as stack:
        host, port = listener.getsockname()[:2]
        _warn_of_open_control_plane(settings, host)
        application = _load_application(settings)
        if settings.access_log:
            from image_workflow_emulator.cli.access_log import AccessLog
            from image_workflow_emulator.cli.invocation import Style

            style = Style(sys.stderr, environment)
            log = stack.enter_context(closing(AccessLog(style, as_json=settings.log_format == "json")))
            application.sandboxes.watchers.append(log.note)
        yield listener, local_url(host, port), application
