"""One line for each request that was answered, on standard error, while the emulator serves.

A line is worded at once, and written by a thread, many at a time: a reader that is too slow delays no request, but some
lines are left out, which a line reports. What many lines have in common is worded once, so that a line costs 1 µs. `logging` has a queue too, but takes 10 µs to make a record of each line, and
its thread wakes for each.
"""

import json
import os
import sys
from collections import deque
from functools import lru_cache
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from emulator.cli.output import DIM, Style
from emulator.kernel.printable import printable
from emulator.kernel.signing import without_signature
from emulator.kernel.timestamps import format_timestamp
from emulator.service.sandbox import DEFAULT_SANDBOX_ID

if TYPE_CHECKING:
    from emulator.service.record import RequestRecord
    from emulator.service.sandbox import Sandbox

GATHER_SECONDS: Final = 0.1
"""How long lines are gathered before they are written."""
LINES_AT_ONCE: Final = 500
"""So many are joined in 0.1 ms, in which nothing else runs."""
MAX_WORDINGS: Final = 500
"""Limit of the parts of lines that are kept because other lines have them too."""
MAX_WAITING_CHARACTERS: Final = 4 * 2**20
CLOSE_SECONDS: Final = 1.0


class AccessLog:
    """The lines of requests. To be closed, which writes those that wait."""

    def __init__(self, style: Style, *, as_json: bool) -> None:
        self._style = style
        self._as_json = as_json
        self._before_time, _, self._after_time = style("TIME", DIM).partition("TIME")
        if as_json:
            self._before_time = '{"level": "info", "logger": "access", "time": "'
        self._around = lru_cache(maxsize=MAX_WORDINGS)(self._word)
        self._waiting: deque[str] = deque()
        self._waiting_characters = 0
        self._left_out = 0
        self._closing = Event()
        self._thread = Thread(target=self._run, name="access-log", daemon=True)
        self._thread.start()

    def note(self, sandbox: "Sandbox", record: "RequestRecord") -> None:
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
            while lines := [self._waiting.popleft() for _ in range(min(len(self._waiting), LINES_AT_ONCE))]:
                _write("".join(lines))
            left_out, self._left_out, self._waiting_characters = self._left_out, 0, 0
            if left_out:
                _write(f"({left_out} more requests are not listed: the log was not read in time)\n")

    def _line(self, sandbox: str, record: "RequestRecord") -> str:
        before, after = self._around(
            record.status,
            record.operation or f"{record.method} {without_signature(record.path)}",
            record.code,
            record.replay_of is not None,
            record.loss is not None,
            record.team.name if record.team else None,
            sandbox,
            _remedy(record),
        )
        time = format_timestamp(record.arrived_at)
        return f"{self._before_time}{time}{before}{record.duration_ms or 0:.1f}{after}"

    def _word(
        self,
        status: int | None,
        what: str,
        code: str | None,
        is_replayed: bool,
        is_lost: bool,
        team: str | None,
        sandbox: str,
        remedy: str | None,
    ) -> tuple[str, str]:
        """Return what stands between the time and the duration of a line, and behind the duration."""
        if self._as_json:
            first = {"status": status, "operation": what, "code": code, "replayed": is_replayed, "lost": is_lost}
            last = {"team": team, "sandbox": sandbox, "remedy": remedy}
            return f'", {json.dumps(first)[1:-1]}, "duration_ms": ', f", {json.dumps(last)[1:]}\n"
        style = self._style
        first_parts = (
            style.status(str(status or "---"), status),
            printable(what),
            code,
            "replayed" if is_replayed else None,
            "answer lost" if is_lost else None,
        )
        last_parts = (
            printable(team or ""),
            None if sandbox == DEFAULT_SANDBOX_ID else f"({sandbox})",
            remedy and style(printable(f"-> {remedy}"), DIM),
        )
        before, after = "  ".join(filter(None, first_parts)), "  ".join(("", *filter(None, last_parts)))
        return f"{self._after_time}  {before}  ", f" ms{after}\n"


def _remedy(record: "RequestRecord") -> str | None:
    if record.code is None:
        return None
    from emulator.control.explanations import remedy_of

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
