"""One line for each request that was answered, on standard error, while the emulator serves.

A line is worded at once, and written by a thread, many at a time: a reader that is too slow delays no request, but some
lines are left out, which a line reports. `logging` has a queue too, but takes 10 µs to make a record of each line, and its
thread wakes for each.
"""

import json
import os
import sys
from collections import deque
from threading import Event, Thread
from typing import Final

from image_workflow_emulator.cli.invocation import DIM, Style
from image_workflow_emulator.kernel.printable import printable
from image_workflow_emulator.kernel.signing import without_signature
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox.sandbox import DEFAULT_SANDBOX_ID, Sandbox

GATHER_SECONDS: Final = 0.1
"""How long lines are gathered before they are written."""
MAX_WAITING_CHARACTERS: Final = 4 * 2**20
CLOSE_SECONDS: Final = 1.0


class AccessLog:
    """The lines of requests. To be closed, which writes those that wait."""

    def __init__(self, style: Style, *, as_json: bool) -> None:
        self._style = style
        self._line = self._json_line if as_json else self._text_line
        self._waiting: deque[str] = deque()
        self._waiting_characters = 0
        self._left_out = 0
        self._closing = Event()
        self._thread = Thread(target=self._run, name="access-log", daemon=True)
        self._thread.start()

    def note(self, sandbox: Sandbox, record: RequestRecord) -> None:
        """Take a request of a sandbox's journal; only one that is complete makes a line."""
        if not record.is_complete:
            return
        if self._waiting_characters >= MAX_WAITING_CHARACTERS:
            self._left_out += 1
            return
        line = self._line(sandbox.id, record)
        self._waiting_characters += len(line)
        self._waiting.append(line)

    def close(self) -> None:
        """Write the waiting lines, if the reader keeps up."""
        self._closing.set()
        self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        is_closing = False
        while not is_closing:
            is_closing = self._closing.wait(GATHER_SECONDS)
            _write("".join(self._waiting.popleft() for _ in range(len(self._waiting))))
            left_out, self._left_out, self._waiting_characters = self._left_out, 0, 0
            if left_out:
                _write(f"({left_out} more requests are not listed: the log was not read in time)\n")

    def _json_line(self, sandbox: str, record: RequestRecord) -> str:
        line = {
            "level": "info",
            "logger": "access",
            "time": format_timestamp(record.arrived_at),
            "status": record.status,
            "operation": _operation(record),
            "code": record.code,
            "replayed": record.replay_of is not None,
            "lost": record.loss is not None,
            "duration_ms": round(record.duration_ms or 0, 1),
            "team": record.team.name if record.team else None,
            "sandbox": sandbox,
            "remedy": _remedy(record),
        }
        return json.dumps(line) + "\n"

    def _text_line(self, sandbox: str, record: RequestRecord) -> str:
        style, code = self._style, record.code
        remedy = None if code is None else _remedy(record)
        parts = (
            style(format_timestamp(record.arrived_at), DIM),
            style.status(str(record.status or "---"), record.status),
            record.operation or printable(_operation(record)),
            code,
            record.replay_of and "replayed",
            record.loss and "answer lost",
            f"{record.duration_ms or 0:.1f} ms",
            printable(record.team.name) if record.team else None,
            None if sandbox == DEFAULT_SANDBOX_ID else f"({sandbox})",
            remedy and style(printable(f"-> {remedy}"), DIM),
        )
        return "  ".join(filter(None, parts)) + "\n"


def _operation(record: RequestRecord) -> str:
    return record.operation or f"{record.method} {without_signature(record.path)}"


def _remedy(record: RequestRecord) -> str | None:
    if record.code is None:
        return None
    from image_workflow_emulator.control.explanations import remedy_of

    return remedy_of(record)


def _write(text: str) -> None:
    """Write past the buffer of Python: the thread may still write when the process ends."""
    if sys.stderr is None:
        return
    data = text.encode(errors="replace")
    try:
        while data:
            data = data[os.write(sys.stderr.fileno(), data) :]
    except (OSError, ValueError):  # the reader is gone
        return
