"""The causes of what a sweep found: what is to be fixed, each thing once.

A cause is an operation and the habit that a client lacks there. Where the same habit is
missing in several operations, it is one cause of all of them.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from typing import Final, TypeAlias

from msgspec import Struct, structs

from image_workflow_emulator.kernel.wording import first_of
from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.faults import OF_A_CLIENT
from image_workflow_emulator.sweep.gate import Gate
from image_workflow_emulator.sweep.habits import (
    RETRY,
    WAIT,
    Habit,
    missing_habit,
    remedy_for,
)
from image_workflow_emulator.sweep.runs import OUTCOMES, Outcome, Run

LineToRepeat: TypeAlias = Callable[[str, str], str]
"""Makes the command that repeats a cell in a test."""
_Groups: TypeAlias = dict[tuple[str, Habit], list[Run]]
"""Runs by operation and habit."""

_MANY: Final = 3
"""In how many operations a habit is missing that is one cause."""
_MAX_OPERATIONS: Final = 3
"""How many of them a summary names."""
_ENDINGS: Final = {"failed": "no recovery from", "hung": "no end after"}
_ONLY_BY: Final = {
    "new-key": "only a test in which a write is sent again can notice it",
    "one-key": "only a test with two writes of an operation can notice it",
}
"""Which tests can notice a fault of the client, where few can."""


class Cause(Struct, frozen=True):
    """What several runs have in common."""

    summary: str
    outcome: Outcome
    remedy: str
    """What the client has to do."""
    section: str
    """The page that says more."""
    cells: Sequence[str]
    tests: Sequence[str]
    command: str
    """Repeats one of the runs."""


def causes_of(
    runs: Sequence[Run],
    gate: Gate,
    line: LineToRepeat,
) -> list[Cause]:
    """Return what is to be fixed: the worst first, and of what is equal the most
    frequent.
    """
    groups = _grouped(_weaknesses(runs, gate))
    causes = [_cause(habit, members, line) for habit, members in _joined(groups)]
    return sorted(causes, key=_urgency)


def _urgency(cause: Cause) -> tuple[int, int]:
    """Return a number for how bad a cause is and one for how frequent, low for high."""
    return -_rank(cause.outcome), -len(cause.cells)


def _rank(outcome: Outcome) -> int:
    return OUTCOMES.index(outcome)


def _weaknesses(runs: Sequence[Run], gate: Gate) -> Iterator[Run]:
    """Iterate over the runs that show something to fix, the worst first.

    One in which a fault lasts is left out where it is no worse than once.
    """
    ranks = {run.trial: _rank(run.outcome) for run in runs}
    for run in sorted(runs, key=lambda run: -ranks[run.trial]):
        once = structs.replace(run.trial, lasts=False)
        is_worse_than_once = ranks.get(once, 0) < ranks[run.trial]
        is_new = not run.trial.lasts or is_worse_than_once
        if is_new and gate.is_weakness(run):
            yield run


def _grouped(runs: Iterator[Run]) -> _Groups:
    groups: _Groups = {}
    for run in runs:
        key = (run.trial.operation, missing_habit(run))
        members = groups.setdefault(key, [])
        members.append(run)
    for operation, habit in list(groups):
        # A client that never tries again does not do so after a wait either.
        if habit == WAIT and (operation, RETRY) in groups:
            groups[operation, RETRY] += groups.pop((operation, habit))
    return groups


def _joined(groups: _Groups) -> Iterator[tuple[Habit, list[Run]]]:
    """Iterate over habits with their runs. Where habit and remedy are the same in many
    operations, they are one.
    """
    alike: dict[tuple[Habit, str], list[list[Run]]] = {}
    for (_, habit), runs in groups.items():
        key = (habit, remedy_for(habit, runs))
        members = alike.setdefault(key, [])
        members.append(runs)
    for (habit, _), members in alike.items():
        if len(members) < _MANY:
            for runs in members:
                yield habit, runs
            continue
        joined = list(chain.from_iterable(members))
        joined.sort(key=lambda run: -_rank(run.outcome))
        yield habit, joined


def _cause(
    habit: Habit,
    runs: Sequence[Run],
    line: LineToRepeat,
) -> Cause:
    operations = list(dict.fromkeys(run.trial.operation for run in runs))
    cells = list(dict.fromkeys(run.cell for run in runs))
    tests = list(dict.fromkeys(run.test for run in runs if run.test))
    where = first_of(operations, _MAX_OPERATIONS)
    endings = "; ".join(_endings(runs))
    first = runs[0]
    return Cause(
        summary=f"{where}: {endings}",
        outcome=first.outcome,
        remedy=remedy_for(habit, runs),
        section=f"docs/survive.md, {habit.section}",
        cells=cells,
        tests=tests,
        command=line(first.cell, first.test),
    )


def _endings(runs: Sequence[Run]) -> list[str]:
    """Say how runs ended, and after which faults."""
    # The keys of a dict keep the order in which faults come first.
    faults_by_ending: dict[str, dict[str, None]] = {}
    for run in runs:
        faults = faults_by_ending.setdefault(_ending_of(run), {})
        faults[run.trial.fault] = None
    return [
        f"{ending} {first_of(faults)}" for ending, faults in faults_by_ending.items()
    ]


def _ending_of(run: Run) -> str:
    if run.leaves_outputs:
        return "completed outputs not taken after"
    if run.outcome == "failed" and run.why:
        return f"{run.why}, after"
    if run.outcome in _ENDINGS:
        return _ENDINGS[run.outcome]
    errors = ", ".join(run.errors)
    return f"{errors} after"


# A broken client ----------------------------------------------------------------------


def unnoticed_by(
    runs: Sequence[Run],
    untried: Collection[str],
    line: LineToRepeat,
) -> Iterator[Cause]:
    """Iterate over the faults of the client that no test noticed, each with the
    operations whose requests were broken. `untried` are the cells that a test is left
    for.
    """
    runs_by_cell: dict[str, list[Run]] = {}
    for run in runs:
        if run.trial.is_of_client and run.cell not in untried:
            members = runs_by_cell.setdefault(run.cell, [])
            members.append(run)
    for cell, members in runs_by_cell.items():
        broken = _unnoticed_operations(members)
        if broken:
            fault = Cell.read(cell).fault
            mistake = OF_A_CLIENT[fault]
            yield Cause(
                summary=_summary_of_unnoticed(fault, broken),
                outcome="unnoticed",
                remedy=f"add a test that fails if {mistake}, or fail it by its conduct",
                section="docs/conduct.md",
                cells=[cell],
                tests=[],
                command=line(cell, ""),
            )


def _unnoticed_operations(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Return the operations that were broken and in no test noticed, with the
    parameters that they lost.
    """
    noticed = set[str]()
    for run in runs:
        if run.outcome == "noticed":
            noticed.update(run.broken)
    unnoticed: dict[str, list[str]] = {}
    for run in runs:
        if run.outcome != "unnoticed":
            continue
        for operation, parameters in run.broken.items():
            if operation not in noticed:
                names = unnoticed.setdefault(operation, [])
                names += [name for name in parameters if name not in names]
    return unnoticed


def _summary_of_unnoticed(fault: str, broken: dict[str, list[str]]) -> str:
    if fault == "drop-query":
        sentences = []
        for operation, parameters in broken.items():
            names = " and ".join(parameters)
            sentences.append(f"{operation}: nobody would notice without {names}")
        return "; ".join(sentences)
    where = first_of(broken)
    summary = f"{where}: no test of yours would notice if {OF_A_CLIENT[fault]}"
    if fault in _ONLY_BY:
        summary += f"; {_ONLY_BY[fault]}"
    return summary
