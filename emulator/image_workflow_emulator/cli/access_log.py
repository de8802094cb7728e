"""One line for each request that was answered, on standard error, while the emulator serves.

Lines are gathered for a tenth of a second and written together, past `logging`, which takes 10 µs to make a record of
each. A reader that is too slow delays no request: what cannot be kept for it is left out and counted.
"""

import asyncio
import json
import os
import select
import sys
from typing import Any, Final

from image_workflow_emulator.kernel.printable import printable
from image_workflow_emulator.kernel.signing import without_signature
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox.sandbox import DEFAULT_SANDBOX_ID, Sandbox

_GATHER_SECONDS: Final = 0.1
_CLOSE_SECONDS: Final = 1.0
_PIPE_BYTES: Final = 4096
"""The most bytes that a pipe takes at once if it has room (PIPE_BUF of Linux)."""
_MAX_PATH: Final = 500
"""The most characters of a path that is none of an operation."""


class AccessLog:
    """The lines of requests. To be closed, which writes those that wait."""

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

    def close(self) -> None:
        """Write the waiting lines, if the reader keeps up."""
        _write(self._waiting, _CLOSE_SECONDS)

    def _write(self) -> None:
        _write(self._waiting)
        if self._left_out and not self._waiting:
            self._waiting += f"({self._left_out} more requests are not listed: the log was not read in time)\n".encode()
            self._left_out = 0
        self._is_due = False
        self._schedule()

    def _schedule(self) -> None:
        if self._waiting and not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(_GATHER_SECONDS, self._write)


def _text(facts: dict[str, Any]) -> str:
    parts = (
        facts["time"],
        str(facts["status"] or "---"),
        facts["operation"],
        facts["code"],
        facts["replayed"] and "replayed",
        facts["lost"] and "answer lost",
        f"{facts['duration_ms']:.1f} ms",
        facts["team"],
        None if facts["sandbox"] == DEFAULT_SANDBOX_ID else f"({facts['sandbox']})",
        facts["remedy"] and f"-> {facts['remedy']}",
    )
    return printable("  ".join(filter(None, parts)))


def _facts(sandbox: str, record: RequestRecord) -> dict[str, Any]:
    remedy = None
    if record.code is not None:
        from image_workflow_emulator.control.explanations import remedy_of

        remedy = remedy_of(record)
    return {
        "level": "info",
        "logger": "access",
        "time": format_timestamp(record.arrived_at),
        "status": record.status,
        "operation": record.operation or f"{record.method} {without_signature(record.path)[:_MAX_PATH]}",
        "code": record.code,
        "replayed": record.replay_of is not None,
        "lost": record.loss is not None,
        "duration_ms": round(record.duration_ms or 0, 1),
        "team": record.team.name if record.team else None,
        "sandbox": sandbox,
        "remedy": remedy,
    }


def _write(waiting: bytearray, patience_seconds: float = 0) -> None:
    """Write what there is room for, past the buffer of Python, and take it away."""
    try:
        number = sys.stderr.fileno()
        while waiting and (sys.platform == "win32" or select.select((), (number,), (), patience_seconds)[1]):
            del waiting[: os.write(number, waiting[:_PIPE_BYTES])]
    except (AttributeError, OSError, ValueError):  # there is no standard error, or nobody reads it
        waiting.clear()
