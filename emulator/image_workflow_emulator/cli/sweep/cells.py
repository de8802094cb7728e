"""The cells of a sweep: one fault at one call each. Which of them are run, and the rule that each stands for.

Pure functions of what `notes` has. Owns the notation of a cell: `OPERATION#N:FAULT`, and `OPERATION#N+:FAULT` for a fault
that lasts; of a pair, `CELL & CELL`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import filter as fnfilter
from typing import Final, Self

from image_workflow_emulator.cli.sweep.notes import Noted, NotedCall, NotedWork
from image_workflow_emulator.domain.problems import CATALOGUE, MENDED_BY_CLIENT, MENDED_BY_TIME
from image_workflow_emulator.domain.readings import READINGS
from image_workflow_emulator.scenario.faults.fault import Fault
from image_workflow_emulator.scenario.faults.network import NetworkFault
from image_workflow_emulator.scenario.faults.problem import ProblemFault
from image_workflow_emulator.scenario.matching import BYTE_SURFACES, Nth, RequestMatch, When, WorkMatch
from image_workflow_emulator.scenario.scenario import FAILURE_CODES, RequestRule, Rule, Scenario, WorkOutcome, WorkRule

GROUPS: Final = ("problems", "network", "outputs", "readings")
"""The kinds of faults that can be chosen."""
LOST_BEFORE: Final = "lost-before-commit"
LOST_AFTER: Final = "lost-after-commit"
FAILED_AFTER: Final = "internal_error-after-commit"
OVERTAKEN: Final = "overtaken"
FINISHED_AT_ONCE: Final = "finished-at-first-poll"
REORDERED: Final = "outputs-reordered"
SLOW_MS: Final = 30_000
"""How late an answer is that is beyond the usual time limits of clients."""
_LATE_MS: Final = 120_000
_OVERTAKEN_MS: Final = 1_000
_FAULTS: Final[Mapping[str, tuple[Fault, str]]] = {
    LOST_BEFORE: (NetworkFault("reset"), "after a lost request"),
    LOST_AFTER: (NetworkFault("reset", "after_commit"), "after a lost answer"),
    "cut": (NetworkFault("truncate", "after_commit"), "after an answer that breaks off"),
    "garbled": (NetworkFault("garbage", "after_commit"), "after an answer that is not readable"),
    "stall": (NetworkFault("stall", "after_commit"), "after no answer"),
    "slow": (NetworkFault(at="after_commit", latency_ms=(SLOW_MS, SLOW_MS)), "after an answer that comes late"),
    FAILED_AFTER: (ProblemFault("internal_error", at="after_commit"), "after 500 internal_error after the commit"),
    OVERTAKEN: (NetworkFault(latency_ms=(_OVERTAKEN_MS, _OVERTAKEN_MS)), "where a later request is carried out first"),
}
"""The faults that are no problem code, by their names, each with when a client meets it."""
FAULT_NAMES: Final = tuple(_FAULTS)
_ORDERS: Final = {
    FINISHED_AT_ONCE: "where its work has finished at the first poll",
    REORDERED: "where outputs finish in another order",
}
_OUTCOMES: Final[Mapping[str, WorkOutcome]] = {
    **{f"fail-{code}": WorkOutcome(fail=code) for code in FAILURE_CODES},
    **{f"output-1-{code}": WorkOutcome(outputs={1: code}) for code in FAILURE_CODES},
    FINISHED_AT_ONCE: WorkOutcome(duration_ms=1),
    "late": WorkOutcome(duration_ms=_LATE_MS),
}
"""What may become of work, by its name."""
_OPTIONS: Final = {REORDERED: ("--readings", "D76=shuffled")}
"""By fault: the options of `exec` that make the emulator so."""
_SILENT: Final = ("slow", "stall")
RECOVERABLE: Final = MENDED_BY_TIME | MENDED_BY_CLIENT | _FAULTS.keys() | {FINISHED_AT_ONCE, REORDERED}
"""The faults that a client can recover from: by asking again, by waiting, with a new Upload Session, or by relying on no order."""
_MISSING: Final = {code for code, kind in CATALOGUE.items() if kind.status == 404} | {"invalid_reference"}
"""The problems after which a client may make anew what it refers to."""
READING: Final = "reading"
"""Stands for a call in the cell of a reading of the specification."""
_WORK: Final = "work"
_CALLS_MEETING: Final = (
    ("list*", "D02 D26 D74"),
    ("create[!U]*", "D04"),
    ("create*", "D10 D12 D14"),
    ("complete*", "D10 D12 D14"),
    ("update*", "D04 D10 D12 D14"),
    ("delete*", "D10 D12 D14"),
    ("upload", "D15 D16 D18 D57"),
    ("download", "D19"),
    ("*Product", "D22"),
    ("listProducts", "D22"),
    ("getTeam", "D29"),
    ("get*eration", "D42"),
    ("create*Generation", "D32 D35 D37 D40 D76"),
    ("createProductPhotographyGeneration", "D33"),
    (_WORK, "D27 D31 D70 D71"),
    ("", "D66"),  # no clean run is paused
)
"""The calls that can meet the readings of decisions, `work` for any that admit some; all can where a decision is not here."""
_PAIRED: Final = (LOST_AFTER, LOST_BEFORE, "rate_limited", "service_unavailable")
_AND: Final = " & "


@dataclass(frozen=True, slots=True)
class Cell:
    """A fault that strikes the Nth call of an operation, and where it lasts all later ones (of work: the Nth admitted)."""

    operation: str
    number: int
    fault: str
    lasts: bool = False
    then: "Cell | None" = None
    """The second cell of a pair, which strikes what the client does because of the first."""

    def __str__(self) -> str:
        return f"{self.call}:{self.fault}" + (f"{_AND}{self.then}" if self.then else "")

    @property
    def label(self) -> str:
        """What strikes the call, in words."""
        return f"{self.fault}, then {self.then.fault}" if self.then else self.fault

    @property
    def call(self) -> str:
        """The call that is struck; of a reading, which holds for all calls, just the word."""
        if self.operation == READING:
            return READING
        return f"{self.operation}#{self.number}{'+' if self.lasts else ''}"

    @property
    def class_name(self) -> str:
        """The name of its class: its operation and fault, whatever the number."""
        return re.sub("#[0-9]+", "", str(self))

    @property
    def group(self) -> str:
        """The kind of its fault."""
        if self.operation == READING:
            return "readings"
        if self.fault in _OUTCOMES or self.fault == REORDERED:
            return "outputs"
        return "network" if self.fault in _FAULTS and self.fault != FAILED_AFTER else "problems"

    @property
    def is_recoverable(self) -> bool:
        """Whether a client can recover from it: its command should then succeed."""
        is_first = self.fault in RECOVERABLE and not self.lasts
        return is_first and (self.then is None or self.then.is_recoverable)

    @property
    def is_silent(self) -> bool:
        """Whether the client waits for an answer: such a run takes time, and no processor."""
        return self.fault in _SILENT

    @property
    def is_answered_once(self) -> bool:
        """Whether a client has no reason to make again what it made: nothing is missing, and nothing was made in vain."""
        return not self.fault.startswith("output-1") and self.fault not in _MISSING and self.group != "readings"

    @property
    def options(self) -> tuple[str, ...]:
        """The options of `exec` that make the emulator so; none where a rule does."""
        return ("--readings", self.fault) if self.operation == READING else _OPTIONS.get(self.fault, ())

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse a cell, or a pair."""
        first, _, second = text.partition(_AND)
        call, _, fault = first.partition(":")
        operation, _, number = call.partition("#")
        if operation == READING:
            return cls(READING, 0, fault)
        then = cls.read(second) if second else None
        return cls(operation, int(number.removesuffix("+")), fault, number.endswith("+"), then)

    @property
    def smaller(self) -> "list[Cell]":
        """The cells with fewer faults that this one has in it."""
        if self.then is not None:
            return [replace(self, then=None), self.then]
        return [replace(self, lasts=False)] if self.lasts else []

    def pairs(self) -> "Iterator[Cell]":
        """Return the pairs that begin with this cell: those that also strike the next call, which is its repetition."""
        if self.is_recoverable and self.fault in _PAIRED:
            for fault in _PAIRED:
                second = Cell(self.operation, self.number + 1, fault)
                yield Cell(self.operation, self.number, self.fault, then=second)

    def strike(self) -> Scenario:
        """Return the scenario that strikes this call, and no earlier one; for a reading, an option of the run, nothing."""
        return Scenario("sweep", rules=tuple(self._rules()), file="sweep")

    def _rules(self) -> Iterator[Rule]:
        when = When(Nth(self.number, None if self.lasts else self.number))
        if self.fault in _OUTCOMES:
            work = WorkMatch(operation=self.operation)
            yield WorkRule(str(self), _OUTCOMES[self.fault], work, when, "sweep")
        elif not self.options:
            surfaces = frozenset(surface for surface in BYTE_SURFACES if surface == self.operation)
            match = RequestMatch(bytes=surfaces) if surfaces else RequestMatch(frozenset({self.operation}))
            fault = _FAULTS[self.fault][0] if self.fault in _FAULTS else ProblemFault(self.fault)
            yield RequestRule(str(self), fault, match, when, "sweep")
        if self.then is not None:
            yield from self.then._rules()  # noqa: SLF001 (of the same class)


def circumstance(fault: str) -> str:
    """Say when a client meets a fault, such as `after 429 rate_limited`, or what is in another order: `where ...`."""
    if fault in CATALOGUE:
        return f"after {CATALOGUE[fault].status} {fault}"
    return _FAULTS[fault][1] if fault in _FAULTS else _ORDERS.get(fault, f"after {fault}")


def sandboxes_of(cell: Cell, noted: Noted) -> set[str]:
    """Return the ids of the sandboxes in which a cell strikes."""
    if cell.operation == READING:
        return set().union(*(call.sandboxes for call in noted.calls))
    counted: Sequence[NotedCall | NotedWork] = noted.works if cell.group == "outputs" else noted.calls
    return next(one.sandboxes for one in counted if (one.operation, one.number) == (cell.operation, cell.number))


def every_cell(noted: Noted, all_codes: Mapping[str, Iterable[str]]) -> dict[Cell, str]:
    """Return all cells, each with why it is left out, since its result cannot differ from another's: empty if it is not.

    `all_codes`: what each operation can return.
    """
    return dict([*_of_calls(noted.calls, all_codes), *_of_works(noted.works), *_of_readings(noted)])


def _of_calls(calls: Sequence[NotedCall], all_codes: Mapping[str, Iterable[str]]) -> Iterator[tuple[Cell, str]]:
    for call in calls:
        repeated = "it repeats a poll, whose first and last calls are run" if call.is_repetition else ""
        for fault in (*sorted(all_codes[call.operation], key=[*CATALOGUE].index), *_FAULTS):
            if (fault == FAILED_AFTER and call.is_read) or (fault == OVERTAKEN and not call.is_overlapped):
                continue
            why = repeated
            if fault in CATALOGUE and fault not in call.codes:
                why = why or "the clean run was refused at this call before that is checked"
            if fault == LOST_AFTER and call.is_read:
                why = why or f"a read commits nothing: its client sees {LOST_BEFORE}"
            yield Cell(call.operation, call.number, fault), why
            if fault in RECOVERABLE and fault != OVERTAKEN:
                yield Cell(call.operation, call.number, fault, lasts=True), why


def _of_works(works: Sequence[NotedWork]) -> Iterator[tuple[Cell, str]]:
    for work in works:
        for fault in _OUTCOMES:
            code = fault.removeprefix("output-1-")
            if code == fault or work.outputs:
                same = f"it is the only output: that is fail-{code}" if code != fault and work.outputs == 1 else ""
                yield Cell(work.operation, work.number, fault), same
        if work.outputs > 1 and work.number == 1:
            yield Cell(work.operation, work.number, REORDERED), ""


def _of_readings(noted: Noted) -> Iterator[tuple[Cell, str]]:
    called = [*(call.operation for call in noted.calls), *([_WORK] if noted.works else [])]
    cannot = " ".join(decisions for glob, decisions in _CALLS_MEETING if not fnfilter(called, glob))
    can = " ".join(decisions for glob, decisions in _CALLS_MEETING if fnfilter(called, glob))
    for name, reading in READINGS.items():
        if reading.decision in can or reading.decision not in cannot:
            yield Cell(READING, 0, name), ""
