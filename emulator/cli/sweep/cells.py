"""The cells of a sweep: one fault at one call each. Which of them are run, and the rule that each stands for.

Pure functions of what `calls` noted. Owns the notation of a cell: `OPERATION#N:FAULT`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from emulator.cli.sweep.calls import Call, Work
from emulator.scenario.faults.base import Fault
from emulator.scenario.faults.loss import LossFault
from emulator.scenario.faults.problem import ProblemFault
from emulator.scenario.matching import BYTE_SURFACES, Nth, RequestMatch, When, WorkMatch
from emulator.scenario.outcomes import FAILURE_CODES, WorkOutcome
from emulator.scenario.rules import RequestRule, Rule, WorkRule
from emulator.scenario.scenario import Scenario

GROUPS: Final = ("problems", "network", "outputs")
"""The kinds of faults that can be chosen."""
LOST_BEFORE: Final = "lost-before-commit"
LOST_AFTER: Final = "lost-after-commit"
_FAIL: Final = "fail-"
_FIRST_OUTPUT: Final = "output-1-"


@dataclass(frozen=True, slots=True)
class Cell:
    """A fault that strikes the Nth call of an operation (for a failure of work: its Nth admitted work), and no other."""

    operation: str
    number: int
    fault: str

    def __str__(self) -> str:
        return f"{self.call}:{self.fault}"

    @property
    def call(self) -> str:
        """The call that is struck."""
        return f"{self.operation}#{self.number}"

    @property
    def group(self) -> str:
        """The kind of its fault."""
        if self.fault in (LOST_BEFORE, LOST_AFTER):
            return "network"
        return "outputs" if self.fault.startswith((_FAIL, _FIRST_OUTPUT)) else "problems"

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse a cell."""
        call, _, fault = text.partition(":")
        operation, _, number = call.partition("#")
        return cls(operation, int(number), fault)

    def strike(self) -> Scenario:
        """Return the scenario that strikes this call alone."""
        return Scenario("sweep", rules=(self._rule(),), file="sweep")

    def _rule(self) -> Rule:
        when = When(Nth(self.number, self.number))
        if self.group == "outputs":
            return WorkRule(str(self), self._outcome(), WorkMatch(operation=self.operation), when, "sweep")
        surfaces = frozenset(surface for surface in BYTE_SURFACES if surface == self.operation)
        match = RequestMatch(bytes=surfaces) if surfaces else RequestMatch(frozenset({self.operation}))
        return RequestRule(str(self), self._request_fault(), match, when, "sweep")

    def _request_fault(self) -> Fault:
        if self.group == "problems":
            return ProblemFault(self.fault)
        return LossFault("reset", "before_commit" if self.fault == LOST_BEFORE else "after_commit")

    def _outcome(self) -> WorkOutcome:
        for code in FAILURE_CODES:
            if self.fault == _FAIL + code:
                return WorkOutcome(fail=code)
            if self.fault == _FIRST_OUTPUT + code:
                return WorkOutcome(outputs={1: code})
        raise ValueError(self.fault)


def sandboxes_of(cell: Cell, calls: Sequence[Call], works: Sequence[Work]) -> set[str]:
    """Return the ids of the sandboxes in which a cell strikes."""
    counted: Sequence[Call | Work] = works if cell.group == "outputs" else calls
    return next(one.sandboxes for one in counted if (one.operation, one.number) == (cell.operation, cell.number))


class LeftOut(NamedTuple):
    """A cell that is not run, since its result cannot differ from another's."""

    cell: Cell
    why: str


def plan(
    calls: Sequence[Call], works: Sequence[Work], all_codes: dict[str, list[str]]
) -> tuple[list[Cell], list[LeftOut]]:
    """Return the cells that are worth a run, and those that are not. `all_codes`: what each operation can return."""
    cells: list[Cell] = []
    left_out: list[LeftOut] = []
    for cell, why in (*_of_calls(calls, all_codes), *_of_works(works)):
        if why:
            left_out.append(LeftOut(cell, why))
        else:
            cells.append(cell)
    return cells, left_out


def _of_calls(calls: Sequence[Call], all_codes: dict[str, list[str]]) -> Iterator[tuple[Cell, str]]:
    for call in calls:
        poll = "it repeats a poll, whose first and last calls are run"
        repeated = poll if call.is_repetition else ""
        for code in all_codes[call.operation]:
            decided = "" if code in call.codes else "the clean run was refused at this call before that is checked"
            yield Cell(call.operation, call.number, code), repeated or decided
        yield Cell(call.operation, call.number, LOST_BEFORE), repeated
        nothing = f"a read commits nothing: its client sees {LOST_BEFORE}" if call.is_read else ""
        yield Cell(call.operation, call.number, LOST_AFTER), repeated or nothing


def _of_works(works: Sequence[Work]) -> Iterator[tuple[Cell, str]]:
    for work in works:
        for code in FAILURE_CODES:
            yield Cell(work.operation, work.number, _FAIL + code), ""
        for code in FAILURE_CODES if work.outputs else ():
            same = f"it is the only output: that is {_FAIL}{code}" if work.outputs == 1 else ""
            yield Cell(work.operation, work.number, _FIRST_OUTPUT + code), same
