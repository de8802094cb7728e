"""The results of a sweep, for people as a matrix and for programs as JSON. The page for browsers is `page`'s."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from emulator.cli.arguments import PROGRAM
from emulator.cli.output import BOLD, DIM, GREEN, RED, YELLOW, Style
from emulator.cli.sweep.calls import order_of
from emulator.cli.sweep.cells import FAULT_NAMES, RECOVERABLE, Cell, LeftOut
from emulator.cli.sweep.runs import OUTCOMES, Outcome, Run
from emulator.contract import Contract
from emulator.domain.problems import CATALOGUE
from emulator.kernel.wording import count_of

SIGNS: Final[Mapping[Outcome, str]] = {"survived": ".", "failed": "F", "hung": "H", "damaged": "D"}
LEFT_OUT: Final = "-"
NOT_RUN: Final = "?"
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""What stands for a fault at the head of its column."""
_COLOURS: Final[Mapping[str, str]] = {
    ".": GREEN,
    "F": YELLOW,
    "H": RED,
    "D": RED,
    LEFT_OUT: DIM,
    NOT_RUN: DIM,
    " ": DIM,
}


@dataclass(frozen=True, slots=True)
class Sweep:
    """The whole report of a sweep. `repeat` holds the options that a repetition has to have.

    `not_run`: the cells whose runs had not ended when the sweep was stopped.
    """

    contract: Contract
    clean: Run
    runs: Sequence[Run]
    left_out: Sequence[LeftOut]
    words: Sequence[str]
    repeat: Sequence[str]
    not_run: Sequence[Cell] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the report."""
        return {
            "cells": [run.as_json() for run in self.runs],
            "left_out": [{"cell": str(left.cell), "why": left.why} for left in self.left_out],
            "not_run": [str(cell) for cell in self.not_run],
            "command": list(self.words),
            "clean_seconds": self.clean.seconds,
        }

    def line_to_repeat(self, run: Run) -> str:
        """Return the command line that repeats a run."""
        return shlex.join([PROGRAM, "sweep", *self.repeat, "--only", run.cell, "--", *self.words])

    @property
    def broken(self) -> list[Run]:
        """The runs that did not survive, the worst first; of equal ones, those first that a client could have survived."""
        return sorted((run for run in self.runs if run.outcome != "survived"), key=_worst_first)

    @property
    def calls(self) -> list[str]:
        """The rows of the matrix: operations in the order of the contract, each with its calls, but for those left out."""
        order = order_of(self.contract)
        cells = [*(Cell.read(run.cell) for run in self.runs), *self.not_run]
        cells.sort(key=lambda cell: (order[cell.operation], cell.number))
        return list(dict.fromkeys(cell.call for cell in cells))

    @property
    def columns(self) -> list[tuple[str, list[str]]]:
        """The columns of the matrix under their headings; codes in the order of the catalogue."""
        order = [*CATALOGUE, *FAULT_NAMES]
        calls = set(self.calls)
        met = dict.fromkeys(cell.fault for cell, _ in self._cells() if cell.call in calls)
        faults = sorted(met, key=lambda fault: order.index(fault) if fault in order else len(order))
        columns = [
            ("A client can recover", [fault for fault in faults if fault in RECOVERABLE]),
            ("Somebody has to act", [fault for fault in faults if fault in order and fault not in RECOVERABLE]),
            ("Work fails", [fault for fault in faults if fault not in order]),
        ]
        return [(heading, under) for heading, under in columns if under]

    @property
    def signs(self) -> dict[tuple[str, str], str]:
        """The cells of the matrix by call and fault."""
        return {(cell.call, cell.fault): sign for cell, sign in self._cells()}

    @property
    def left_out_by_reason(self) -> dict[str, list[Cell]]:
        """The cells that were left out, by why they were."""
        cells: dict[str, list[Cell]] = {}
        for left in self.left_out:
            cells.setdefault(left.why, []).append(left.cell)
        return cells

    def summary(self) -> str:
        """Return the number of runs by outcome, in words."""
        counts = [(outcome, sum(run.outcome == outcome for run in self.runs)) for outcome in OUTCOMES]
        left = f"; {count_of(len(self.left_out), 'cell')} left out" if self.left_out else ""
        stopped = f"; incomplete: {count_of(len(self.not_run), 'run')} had not ended" if self.not_run else ""
        words = ", ".join(f"{count} {outcome}" for outcome, count in counts)
        return f"{count_of(len(self.runs), 'run')}: {words}{left}{stopped}"

    def _cells(self) -> Iterator[tuple[Cell, str]]:
        yield from ((Cell.read(run.cell), SIGNS[run.outcome]) for run in self.runs)
        yield from ((left.cell, LEFT_OUT) for left in self.left_out)
        yield from ((cell, NOT_RUN) for cell in self.not_run)


def _worst_first(run: Run) -> tuple[int, bool]:
    """Return by what runs are ordered that did not survive."""
    return -OUTCOMES.index(run.outcome), not Cell.read(run.cell).is_recoverable


def as_text(sweep: Sweep, style: Style) -> str:
    """Return the matrix, and for each run that did not survive, its findings and the command that repeats it."""
    signs, calls, columns = sweep.signs, sweep.calls, sweep.columns
    width = max(len(call) for call in calls)
    faults = [fault for _, under in columns for fault in under]
    letters = dict(zip(faults, _LETTERS, strict=False))
    heads = "   ".join(" ".join(letters[fault] for fault in under) for _, under in columns)
    lines = [style(f"{'':{width}}  {heads}", BOLD)]
    for call in calls:
        row = [[signs.get((call, fault), " ") for fault in under] for _, under in columns]
        cells = "   ".join(" ".join(style(sign, _COLOURS[sign]) for sign in under) for under in row)
        lines.append(f"{call:{width}}  {cells}".rstrip())
    for heading, under in columns:
        lines += ["", style(heading, BOLD), *(f"{letters[fault]}  {fault}" for fault in under)]
    stopped = "   ? not run: the sweep was stopped" if sweep.not_run else ""
    lines += [
        "",
        f". survived   F failed   H hung   D damaged   - left out: it cannot differ from another{stopped}",
        "",
    ]
    for run in sweep.broken:
        lines += _lines_of(sweep, run, style)
    reasons = sweep.left_out_by_reason.items()
    lines += ["", *(f"left out {count_of(len(cells), 'cell')}: {why}" for why, cells in reasons), sweep.summary()]
    return "\n".join(lines) + "\n"


def _lines_of(sweep: Sweep, run: Run, style: Style) -> Iterator[str]:
    word = style(f"{run.outcome:8}", _COLOURS[SIGNS[run.outcome]])
    yield f"{word}  {run.cell}  ({run.end})"
    for finding in run.findings:
        yield f"  {finding['severity']} {finding['rule']}: {finding['message']}"
    yield f"  {sweep.line_to_repeat(run)}"
