"""One line for each request that was answered, on standard error, while the emulator serves.

A line is written at once, and past `logging`, which takes 10 µs to make a record of it. A reader that is too slow delays no
request: where there is no room lines are left out, and the next that is written says how many.
"""

import json
import os
import select
import sys
from typing import Any, Final

from image_workflow_emulator.cli.invocation import DIM, Style
from image_workflow_emulator.kernel.printable import printable
from image_workflow_emulator.kernel.signing import without_signature
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox.sandbox import DEFAULT_SANDBOX_ID, Sandbox

_MAX_BYTES: Final = 4096
"""What a pipe takes that has room (PIPE_BUF of Linux)."""
_MAX_PATH: Final = 500
"""The most characters of a path that is none of an operation."""


class AccessLog:
    """The lines of requests."""

    def __init__(self, style: Style, *, as_json: bool) -> None:
        self._style = style
        self._as_json = as_json
        self._left_out = 0

    def note(self, sandbox: Sandbox, record: RequestRecord) -> None:
        """Write a line for a request that has left."""
        if sys.stderr is None:
            return
        facts = _facts(sandbox.id, record)
        line = json.dumps(facts) if self._as_json else self._text(facts)
        if self._left_out:
            line = f"({self._left_out} more requests are not listed: the log was not read in time)\n{line}"
        self._left_out = 0 if _write(line) else self._left_out + 1

    def _text(self, facts: dict[str, Any]) -> str:
        style, remedy = self._style, facts["remedy"]
        parts = (
            style(facts["time"], DIM),
            style.status(str(facts["status"] or "---"), facts["status"]),
            printable(facts["operation"]),
            facts["code"],
            facts["replayed"] and "replayed",
            facts["lost"] and "answer lost",
            f"{facts['duration_ms']:.1f} ms",
            printable(facts["team"] or ""),
            None if facts["sandbox"] == DEFAULT_SANDBOX_ID else f"({facts['sandbox']})",
            remedy and style(printable(f"-> {remedy}"), DIM),
        )
        return "  ".join(filter(None, parts))


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


def _write(text: str) -> bool:
    """Write a line past the buffer of Python, and return whether there was room."""
    try:
        number = sys.stderr.fileno()
        has_room = sys.platform == "win32" or bool(select.select((), (number,), (), 0)[1])
        if has_room:
            os.write(number, text.encode(errors="replace")[: _MAX_BYTES - 1] + b"\n")
    except (OSError, ValueError):  # the reader is gone
        return True
    return has_room
