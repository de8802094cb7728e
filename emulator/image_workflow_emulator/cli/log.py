"""The log of a process that serves: records of `logging`, and a line for each request.

All of it, and whatever else Python writes to standard error, such as warnings and
tracebacks, goes through one writer, which never waits for the reader.
"""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from typing import Any, Final, TextIO

from image_workflow_emulator.cli.background_writer import (
    left_out_note,
    written_in_background,
)
from image_workflow_emulator.console.styles import coloured, shows_colours
from image_workflow_emulator.kernel.seed import without_signature
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.kernel.wording import printable
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox.sandbox import DEFAULT_SANDBOX_ID, Sandbox
from image_workflow_emulator.settings import Settings

_MAX_PATH: Final = 500
"""Limit of the characters of a path that is none of an operation."""


@contextmanager
def process_log(settings: Settings) -> Iterator[None]:
    """Send the log of the whole process to standard error, from the given level up.

    In the block, nothing that is written to `sys.stderr` waits for its reader.
    """
    formatter = _LineFormatter(as_json=settings.log_format == "json")
    level = settings.log_level.upper()
    with (
        written_in_background(sys.stderr, formatter.left_out) as stream,
        redirect_stderr(stream),
    ):
        handler = logging.StreamHandler(stream)
        handler.setFormatter(formatter)
        logging.basicConfig(
            handlers=[handler],
            level=level,
            force=True,
        )
        # At `info`, the server's own messages (process ids, "Shutting down") are of no
        # use to its user.
        if level == "INFO":
            level = "WARNING"
        logging.getLogger("uvicorn").setLevel(level)
        try:
            yield
        finally:
            logging.getLogger().removeHandler(handler)


class _LineFormatter(logging.Formatter):
    """One line for a record, with the real time, which is not the emulator's."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with the traceback if there is one."""
        time = format_timestamp(int(record.created * 1000))
        level = record.levelname.lower()
        message = super().format(record)
        if not self._as_json:
            return f"{time} {level:7} {message}"
        return json.dumps(
            {"time": time, "level": level, "logger": record.name, "message": message}
        )

    def left_out(self, lines: int) -> str:
        """Return the line that is written in place of lines that were left out."""
        message = left_out_note(lines)
        record = logging.LogRecord(
            __name__,
            logging.WARNING,
            "",
            0,
            message,
            None,
            None,
        )
        return self.format(record)


class RequestLog:
    """A line for each request that was answered.

    The lines do not go through `logging`, which takes 10 µs to make a record of each.
    """

    def __init__(self, stream: TextIO, *, as_json: bool) -> None:
        self._stream = stream
        self._as_json = as_json
        self._in_colour = shows_colours(stream)

    def note(self, sandbox: Sandbox, record: RequestRecord) -> None:
        """Write the line of a request that has ended."""
        facts = _facts(sandbox.id, record)
        if self._as_json:
            self._stream.write(f"{json.dumps(facts)}\n")
        else:
            self._stream.write(f"{_text(facts, in_colour=self._in_colour)}\n")


def _text(facts: dict[str, Any], *, in_colour: bool) -> str:
    """Return the line for people."""
    status = str(facts["status"] or "---")
    if in_colour:
        status = coloured(status)
    cells = [facts["operation"], facts["code"]]
    if facts["replayed"]:
        cells.append("replayed")
    if facts["lost"]:
        cells.append("lost")
    cells.append(f"{facts['duration_ms']:.1f} ms")
    cells.append(facts["team"])
    if facts["sandbox"] != DEFAULT_SANDBOX_ID:
        cells.append(f"({facts['sandbox']})")
    if facts["remedy"]:
        cells.append(f"-> {facts['remedy']}")
    described = printable("  ".join(filter(None, cells)))
    return f"{facts['time']}  {status}  {described}"


def _facts(sandbox: str, record: RequestRecord) -> dict[str, Any]:
    """Return the members of the line in JSON."""
    remedy = None
    if record.code is not None:
        from image_workflow_emulator.control.explaining import remedy_of

        remedy = remedy_of(record)
    operation = record.operation
    if operation is None:
        path = without_signature(record.path)[:_MAX_PATH]
        operation = f"{record.method} {path}"
    return {
        "level": "info",
        "logger": "access",
        "time": format_timestamp(record.arrived_at),
        "status": record.status,
        "operation": operation,
        "code": record.code,
        "replayed": record.replay_of is not None,
        "lost": record.loss is not None,
        "duration_ms": round(record.duration_ms or 0, 1),
        "team": record.team.name if record.team else None,
        "sandbox": sandbox,
        "remedy": remedy,
    }
