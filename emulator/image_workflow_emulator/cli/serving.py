"""How `serve` and `exec` start in the same way: the log, the socket and the
application.

Owns the line that is logged for each request.
"""

import asyncio
import errno
import json
import logging
import os
import select
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

from image_workflow_emulator.app import Application
from image_workflow_emulator.client.local_files import unreadable
from image_workflow_emulator.kernel.seed import without_signature
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.kernel.wording import printable
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox.sandbox import DEFAULT_SANDBOX_ID, Sandbox
from image_workflow_emulator.settings import (
    READINGS_FILE,
    CommandError,
    Settings,
    UsageError,
    local_url,
    unknown_variables,
)

_LOGGER = logging.getLogger("image_workflow_emulator.cli")


@contextmanager
def started(
    settings: Settings, environment: Mapping[str, str]
) -> Iterator[tuple[socket.socket, str, Application]]:
    """Give a socket that is bound, its address, and the application for it.

    A line is written for each request meanwhile, if the settings ask for it.

    Raises UsageError or DocumentError for settings and files that cannot be used,
    CommandError if the port is taken.
    """
    _configure_logging(settings)
    for name in unknown_variables(environment):
        _LOGGER.warning("unknown variable %s", name)
    if settings.readings is None and Path(READINGS_FILE).exists():
        settings = settings._replace(found_readings=READINGS_FILE)
    as_json = settings.log_format == "json"
    with (
        _listening_socket(settings.host, settings.port) as listener,
        closing(AccessLog(as_json=as_json)) as log,
    ):
        host, port = listener.getsockname()[:2]
        if not settings.control_token and not ip_address(host).is_loopback:
            _LOGGER.warning(
                "listening on %s: without --control-token, anyone who reaches it can "
                "use and read it",
                host,
            )
        try:
            application = Application(settings, is_served=True)
        except OSError as error:
            raise UsageError(unreadable(error)) from error
        if settings.access_log:
            application.sandboxes.watchers.append(log.note)
        yield listener, local_url(host, port), application


def _configure_logging(settings: Settings) -> None:
    """Send the log of the whole process to standard error, from the given level up."""

    class Lines(logging.Formatter):
        """One line a record, led by the real time, which is not the emulator's."""

        def format(self, record: logging.LogRecord) -> str:
            time, level = (
                format_timestamp(int(record.created * 1000)),
                record.levelname.lower(),
            )
            message = super().format(record)  # with the traceback, if there is one
            if settings.log_format == "json":
                return json.dumps(
                    {
                        "time": time,
                        "level": level,
                        "logger": record.name,
                        "message": message,
                    }
                )
            return f"{time} {level:7} {message}"

    handler, level = logging.StreamHandler(sys.stderr), settings.log_level.upper()
    handler.setFormatter(Lines())
    logging.basicConfig(handlers=[handler], level=level, force=True)
    # The server's own messages at `info` (process ids, "Shutting down") are of no use to its user.
    logging.getLogger("uvicorn").setLevel("WARNING" if level == "INFO" else level)


def _listening_socket(host: str, port: int) -> socket.socket:
    """Bind the address before anything else, so that a port in use is reported at once.

    Raises CommandError.
    """
    # A name such as localhost may have addresses of both kinds: clients that use
    # 127.0.0.1 must find the server there.
    family = socket.AF_INET
    is_dual = False
    if ":" in host:
        family = socket.AF_INET6
        is_dual = socket.has_dualstack_ipv6()
    try:
        return socket.create_server((host, port), family=family, dualstack_ipv6=is_dual)
    except TypeError as error:  # a name that cannot be encoded
        reason = "invalid host name"
        raise CommandError(_cannot_listen(host, port, reason)) from error
    except OSError as error:
        reason, _, _ = (error.strerror or "invalid host name").partition(" (while")
        if error.errno == errno.EADDRINUSE:
            reason += "; choose another with --port (0 picks a free one)"
        raise CommandError(_cannot_listen(host, port, reason)) from error


def _cannot_listen(host: str, port: int, reason: str) -> str:
    return f"cannot listen on {host}, port {port}: {reason}"


async def make_given(settings: Settings, address: str) -> None:
    """Make what the option `given` lists, in the emulator that this process serves.

    Raises EmulatorError.
    """
    if settings.given is None:
        return
    from image_workflow_emulator.client.control_client import ControlClient
    from image_workflow_emulator.testing.sandbox import Given

    given = Given(ControlClient(address, settings.control_token))
    await asyncio.to_thread(given.file, settings.given)


# The line of each request ---------------------------------------------------------------------------------------------

_GATHER_SECONDS: Final = 0.1
_PIPE_BYTES: Final = 4096
"""The most bytes that a pipe takes at once if it has room (PIPE_BUF of Linux)."""
_MAX_PATH: Final = 500
"""Limit of the characters of a path that is none of an operation."""


class AccessLog:
    """One line for each request that was answered, on standard error. To be closed, which writes the waiting lines.

    Lines are gathered for a tenth of a second and written together, past `logging`, which takes 10 µs to make a record
    of each. A reader that is too slow delays no request: what cannot be kept for it is left out and counted.
    """

    def __init__(self, *, as_json: bool, max_waiting: int = 4 * 2**20) -> None:
        """Keep at most `max_waiting` bytes for a reader that is too slow."""
        self._as_json, self._max_waiting = as_json, max_waiting
        self._waiting = bytearray()
        self._left_out = 0
        self._is_due = False

    def note(self, sandbox: Sandbox, record: RequestRecord) -> None:
        """Take a request that has left. To be called in an event loop."""
        if len(self._waiting) >= self._max_waiting:
            self._left_out += 1
            return
        facts = _facts(sandbox.id, record)
        line = json.dumps(facts) if self._as_json else _text(facts)
        self._waiting += line.encode(errors="replace") + b"\n"
        self._schedule()

    def _schedule(self) -> None:
        if self._waiting and not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(_GATHER_SECONDS, self._write_gathered)

    def _write_gathered(self) -> None:
        self._write()
        if self._left_out and not self._waiting:
            self._waiting += f"({self._left_out} more requests are not listed: the log was not read in time)\n".encode()
            self._left_out = 0
        self._is_due = False
        self._schedule()

    def _write(self, patience_seconds: float = 0) -> None:
        """Write what there is room for, past the buffer of Python."""
        try:
            number = sys.stderr.fileno()
            while (
                self._waiting and select.select((), (number,), (), patience_seconds)[1]
            ):
                del self._waiting[: os.write(number, self._waiting[:_PIPE_BYTES])]
        except (OSError, ValueError):  # nobody reads standard error
            self._waiting.clear()

    def close(self) -> None:
        """Write the waiting lines, if the reader takes each in a second."""
        self._write(patience_seconds=1)


def _text(facts: dict[str, Any]) -> str:
    head = (
        facts["time"],
        str(facts["status"] or "---"),
        facts["operation"],
        facts["code"],
    )
    fates = (facts["replayed"] and "replayed", facts["lost"] and "lost")
    place = "" if facts["sandbox"] == DEFAULT_SANDBOX_ID else f"({facts['sandbox']})"
    end = (
        f"{facts['duration_ms']:.1f} ms",
        facts["team"],
        place,
        facts["remedy"] and f"-> {facts['remedy']}",
    )
    return printable("  ".join(filter(None, head + fates + end)))


def _facts(sandbox: str, record: RequestRecord) -> dict[str, Any]:
    remedy = None
    if record.code is not None:
        from image_workflow_emulator.control.describing import remedy_of

        remedy = remedy_of(record)
    return {
        "level": "info",
        "logger": "access",
        "time": format_timestamp(record.arrived_at),
        "status": record.status,
        "operation": record.operation
        or f"{record.method} {without_signature(record.path)[:_MAX_PATH]}",
        "code": record.code,
        "replayed": record.replay_of is not None,
        "lost": record.loss is not None,
        "duration_ms": round(record.duration_ms or 0, 1),
        "team": record.team.name if record.team else None,
        "sandbox": sandbox,
        "remedy": remedy,
    }
