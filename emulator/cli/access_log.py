"""One line for each request that was answered, on standard error, while the emulator serves.

Requests only leave their entry here. A thread words and writes them, many at once: a reader that is too slow delays no
request, but some lines are left out, which a line reports.
"""

import json
import os
import sys
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from emulator.cli.output import DIM, Style
from emulator.kernel.printable import printable
from emulator.kernel.signing import without_signature
from emulator.kernel.timestamps import format_timestamp
from emulator.service.sandbox import DEFAULT_SANDBOX_ID

if TYPE_CHECKING:
    from emulator.service.journal import Entry
    from emulator.service.sandbox import Sandbox

GATHER_SECONDS: Final = 0.1
"""How long lines are gathered before they are written."""
MOST_WAITING: Final = 20_000
CLOSE_SECONDS: Final = 1.0


class AccessLog:
    """The lines of requests. To be closed, which writes those that wait."""

    def __init__(self, style: Style, *, as_json: bool) -> None:
        self._style = style
        self._as_json = as_json
        self._waiting: list[tuple[str, Entry]] = []
        self._left_out = 0
        self._something = Event()
        self._closing = Event()
        self._thread: Thread | None = None

    def note(self, sandbox: "Sandbox", entry: "Entry") -> None:
        """Take an entry of a sandbox's journal; only one that is complete makes a line."""
        if not entry.is_complete:
            return
        if len(self._waiting) >= MOST_WAITING:
            self._left_out += 1
            return
        self._waiting.append((sandbox.id, entry))
        if len(self._waiting) == 1:
            if self._thread is None:
                self._thread = Thread(target=self._run, name="access-log", daemon=True)
                self._thread.start()
            self._something.set()

    def close(self) -> None:
        """Write the waiting lines, if the reader keeps up."""
        self._closing.set()
        self._something.set()
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        while not self._closing.is_set():
            self._something.wait()
            self._closing.wait(GATHER_SECONDS)
            self._something.clear()
            waiting, self._waiting = self._waiting, []
            left_out, self._left_out = self._left_out, 0
            lines = [self._line(sandbox, entry) for sandbox, entry in waiting]
            if left_out:
                lines.append(f"({left_out} more requests: their lines were not read in time)")
            _write("".join(f"{line}\n" for line in lines))

    def _line(self, sandbox: str, entry: "Entry") -> str:
        team = entry.caller.account.team.name if entry.caller else None
        what = entry.operation or f"{entry.method} {without_signature(entry.path)}"
        remedy = _remedy(entry)
        fields = {
            "time": format_timestamp(entry.arrived_at),
            "status": entry.status,
            "operation": what,
            "code": entry.code,
            "replayed": entry.replay_of is not None,
            "lost": entry.loss is not None,
            "duration_ms": round(entry.duration_ms or 0, 1),
            "team": team,
            "sandbox": sandbox,
            "remedy": remedy,
        }
        if self._as_json:
            return json.dumps({"level": "info", "logger": "access", **fields})
        status, style = str(entry.status or "---"), self._style
        parts = [
            style(str(fields["time"]), DIM),
            style.status(status, entry.status),
            printable(what),
            fields["code"],
            "replayed" if fields["replayed"] else None,
            "answer lost" if fields["lost"] else None,
            f"{fields['duration_ms']} ms",
            printable(team or ""),
            None if sandbox == DEFAULT_SANDBOX_ID else f"({sandbox})",
            remedy and style(printable(f"-> {remedy}"), DIM),
        ]
        return "  ".join(str(part) for part in parts if part)


def _remedy(entry: "Entry") -> str | None:
    if entry.code is None:
        return None
    from emulator.control.explanations import remedy_of

    return remedy_of(entry)


def _write(text: str) -> None:
    """Write past the buffer of Python: the lines come from a thread that may still write when the process ends."""
    if sys.stderr is None:
        return
    data = text.encode(errors="replace")
    try:
        while data:
            data = data[os.write(sys.stderr.fileno(), data) :]
    except (OSError, ValueError):  # the reader is gone
        return
