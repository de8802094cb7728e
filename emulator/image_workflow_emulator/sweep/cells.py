"""The cells of a sweep, one fault at one call each, and the choice of those that are tried.

Pure functions of what `evidence` has. Owns the notation of a cell, `OPERATION#N:FAULT`, and `OPERATION#N+:FAULT` for a
fault that lasts, the rule of a scenario that it is, and what is known of each fault.

Theory of the plan. A class is an operation and a fault; its first call stands for the others, in the test that has the
fewest cells so far. What matters most is tried first.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final, Self

from msgspec import Struct, field, structs

from image_workflow_emulator.contract import OperationContract, load_contract
from image_workflow_emulator.domain.problems import (
    BYTE_CODES,
    CATALOGUE,
    MENDED_BY_CLIENT,
    MENDED_BY_TIME,
)
from image_workflow_emulator.scenario.matching import BYTE_SURFACES
from image_workflow_emulator.scenario.outcomes import FAILURE_CODES
from image_workflow_emulator.sweep.evidence import Entry, calls_of, works_of

GROUPS: Final = ("problems", "network", "outputs")
"""The kinds of faults of the service that can be chosen."""
CLIENT: Final = "client"
"""The kind of faults of the client, which stands for an operation in their cells: `client:drop-key`."""
LOST_AFTER: Final = "lost-after-commit"
FAILED_AFTER: Final = "internal_error-after-commit"
SLOW_SECONDS: Final = 30
"""How late an answer is that is beyond the usual time limits of clients."""
_AFTER: Final = {"at": "after_commit"}
_FAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    LOST_AFTER: {"network": "reset", **_AFTER},
    FAILED_AFTER: {"problem": "internal_error", **_AFTER},
    "lost-before-commit": {"network": "reset"},
    "cut": {"network": "truncate", **_AFTER},
    "garbled": {"network": "garbage", **_AFTER},
    "stall": {"network": "stall", **_AFTER},
    "slow": {"network": {"latency": f"{SLOW_SECONDS}s"}, **_AFTER},
}
"""The faults that are no problem code: what a rule says. Those that cost most come first."""
_AFTER_COMMIT: Final = {fault for fault, then in _FAULTS.items() if "at" in then}
"""The faults of requests that were carried out: they count no others."""
_OUTCOMES: Final[Mapping[str, Mapping[str, Any]]] = {
    **{f"fail-{code}": {"fail": code} for code in FAILURE_CODES},
    **{f"output-1-{code}": {"outputs": {"1": code}} for code in FAILURE_CODES},
}
"""What may become of work, by its name: what a rule says."""
RECOVERABLE: Final = MENDED_BY_TIME | MENDED_BY_CLIENT | _FAULTS.keys()
"""The faults that a client can recover from: by asking again, by waiting, or with a new Upload Session."""
_MISSING: Final = {code for code, kind in CATALOGUE.items() if kind.status == 404} | {
    "invalid_reference"
}
"""The problems after which a client may make anew what it refers to."""


class Cell(Struct, frozen=True, order=True):
    """A fault at the Nth call of an operation, and where it lasts at all later ones (of work: the Nth admitted)."""

    operation: str
    number: int
    fault: str
    lasts: bool = False
    test: str = ""
    """The place where it is tried: the id of a test, or that of a fixture that tests share; empty: all of the
    command.
    """

    def __str__(self) -> str:
        number = f"#{self.number}" if self.number else ""
        return f"{self.operation}{number}{'+' if self.lasts else ''}:{self.fault}"

    @classmethod
    def read(cls, text: str, test: str = "") -> Self:
        """Parse a cell, which is tried in a `test`. Raises ValueError."""
        call, _, fault = text.rpartition(":")
        operation, _, number = call.partition("#")
        return cls(
            operation, int(number.rstrip("+") or 0), fault, number.endswith("+"), test
        )

    @property
    def class_name(self) -> str:
        """The name of its class: its operation and fault, whatever the number."""
        return f"{self.operation}{'+' if self.lasts else ''}:{self.fault}"

    @property
    def group(self) -> str:
        """The kind of its fault."""
        if self.operation == CLIENT:
            return CLIENT
        if self.fault in _OUTCOMES:
            return "outputs"
        return (
            "network"
            if self.fault in _FAULTS and self.fault != FAILED_AFTER
            else "problems"
        )

    @property
    def is_recoverable(self) -> bool:
        """Whether a client can recover from it: its command should then succeed."""
        return self.fault in RECOVERABLE and not self.lasts

    @property
    def is_silent(self) -> bool:
        """Whether the client waits for an answer: such a run takes time, and no processor."""
        return self.fault in ("slow", "stall")

    @property
    def is_answered_once(self) -> bool:
        """Whether a client has no reason to make again what it made: nothing is missing, and nothing was
        made in vain.
        """
        return (
            self.number > 0
            and not self.fault.startswith("output-1")
            and self.fault not in _MISSING
        )

    def scenario(self, kinds: Mapping[str, str]) -> dict[str, Any]:
        """Return it as a scenario. `kinds`: by operation, the kind of work that it admits."""
        if self.operation == CLIENT:
            return {
                "scenario": "sweep",
                "rules": [{"name": str(self), "then": {"client": self.fault}}],
            }
        when = {
            "nth": f">={self.number}" if self.lasts else str(self.number),
            "per": "team",
        }
        if self.group == "outputs":
            match, then = {"work": kinds[self.operation]}, _OUTCOMES[self.fault]
        else:
            match = {
                "bytes"
                if self.operation in BYTE_SURFACES
                else "operation": self.operation
            }
            then = _FAULTS.get(self.fault, {"problem": self.fault})
        return {
            "scenario": "sweep",
            "rules": [{"name": str(self), "match": match, "when": when, "then": then}],
        }


DEFECTS: Final[Mapping[str, str]] = {
    "drop-key": "your client sent no Idempotency-Key",
    "new-key": "your client sent another Idempotency-Key at each attempt",
    "one-key": "your client sent the same Idempotency-Key with all writes",
    "drop-query": "your client sent no query",
    "ignore-hint": "your client did not read Retry-After",
    "drop-authorization": "your client sent no API key",
}
"""What each fault of the client is, in words."""


def cells_of(
    journals: Mapping[str, Iterable[Sequence[Entry]]],
) -> dict[str, dict[Cell, str]]:
    """Return all cells that the journals of sandboxes show, by test, each with why it is left out since its result
    cannot differ from another's: empty if it is not.
    """
    codes = {
        name: operation.all_codes
        for name, operation in load_contract().operations.items()
    }
    codes.update(dict.fromkeys(BYTE_SURFACES, BYTE_CODES))
    found: dict[str, dict[Cell, str]] = {}
    for test, sandboxes in journals.items():
        cells = {
            pair
            for journal in sandboxes
            for pair in (*_of_calls(journal, codes), *_of_works(journal))
        }
        # A cell that one sandbox can show is tried: without a reason it comes last, and replaces those with one.
        found[test] = dict(sorted(cells, reverse=True)) | {
            Cell(CLIENT, 0, one): "" for one in DEFECTS if cells
        }
    return found


def _of_calls(
    journal: Sequence[Entry], codes: Mapping[str, Iterable[str]]
) -> Iterator[tuple[Cell, str]]:
    for call in calls_of(journal):
        for fault in (*codes[call.operation], *_FAULTS):
            why = ""
            if fault in CATALOGUE and not call.can_return(fault):
                why = "the call was refused without a fault, before that is checked"
            elif call.is_read and fault in (FAILED_AFTER, LOST_AFTER):
                why = (
                    "a read commits nothing: it does not matter when its answer is lost"
                )
            number = call.carried_out if fault in _AFTER_COMMIT else call.number
            if number == 0:
                continue  # nothing was done whose answer could be lost
            yield Cell(call.operation, number, fault), why
            if fault in RECOVERABLE:
                yield Cell(call.operation, number, fault, lasts=True), why


def _of_works(journal: Sequence[Entry]) -> Iterator[tuple[Cell, str]]:
    for work in works_of(journal):
        for fault in _OUTCOMES:
            is_output = fault.startswith("output-")
            if work.outputs or not is_output:
                same = (
                    "it is the only output, which fails with its work"
                    if is_output and work.outputs == 1
                    else ""
                )
                yield Cell(work.operation, work.number, fault), same


# The plan ------------------------------------------------------------------------------------------------------------

CHOICES: Final = ("recoverable", *GROUPS, CLIENT, "all")
_FAULTS_BY_COST: Final = (*_FAULTS, *CATALOGUE)


class Plan(Struct, eq=False):
    """What is to be tried, in its order; the classes of all cells for which that stands; and what is left out, and
    why.
    """

    cells: list[Cell] = field(default_factory=list)
    classes: dict[str, list[Cell]] = field(default_factory=dict)
    left_out: dict[Cell, str] = field(default_factory=dict)

    def shard(self, number: int, shards: int) -> "Plan":
        """Return the part of it that is one of some shards, counted from 1."""
        return Plan(self.cells[number - 1 :: shards], self.classes, self.left_out)


def choose(
    found: Mapping[str, Mapping[Cell, str]], only: str | None, faults: Sequence[str]
) -> Plan:
    """Choose what is tried. `found`: by test, its cells, each with why it is left out.

    `faults` are some of `CHOICES`, none for the default; `only` is a glob of cells, all of which are tried in every
    test.
    """
    kinds = set(faults or (("all", CLIENT) if only is not None else ("recoverable",)))
    groups = kinds.union(GROUPS if {"all", "recoverable"} & kinds else ())
    is_whole = only is not None or bool({"all", CLIENT} & kinds)
    plan, tests, tried, load = (
        Plan(),
        dict[Cell, list[str]](),
        set[str](),
        Counter[tuple[str, bool]](),
    )
    for test, cells in found.items():
        for cell, why in cells.items():
            if cell.group in groups and fnmatchcase(str(cell), only or "*"):
                if not why or str(cell) == only:
                    tests.setdefault(cell, []).append(test)
                else:
                    plan.left_out[cell] = why
    for cell in by_urgency(tests):
        marks = {f"{cell.operation}+", f"{cell.fault}+"} if cell.lasts else {cell.fault}
        is_new = is_whole or cell.group in kinds or not marks <= tried
        if not is_new and cell.class_name not in plan.classes:
            plan.left_out[cell] = "a similar call is tried"
            continue
        if not cell.is_recoverable:
            tried |= marks
        plan.left_out.pop(cell, None)  # of another test
        plan.classes.setdefault(cell.class_name, []).append(cell)
    if is_whole:
        plan.cells = [
            structs.replace(cell, test=test) for cell in tests for test in tests[cell]
        ]
    else:  # those that have least choice choose first
        for cell in sorted(
            (members[0] for members in plan.classes.values()),
            key=lambda cell: len(tests[cell]),
        ):
            test = min(tests[cell], key=lambda test: load[test, cell.is_silent])
            load[test, cell.is_silent] += 1
            plan.cells.append(structs.replace(cell, test=test))
    plan.cells = by_urgency(plan.cells)
    return plan


def by_urgency(cells: Iterable[Cell]) -> list[Cell]:
    """Sort cells by what matters most; among equals, what costs most goes first, then other writes."""
    operations = load_contract().operations
    return sorted(cells, key=lambda cell: _urgency(cell, operations))


def _urgency(
    cell: Cell, operations: Mapping[str, OperationContract]
) -> tuple[int | str, ...]:
    operation = operations.get(cell.operation)
    price = max(
        map(int, re.findall(r"(\d) Credit", operation.cost if operation else "")),
        default=0,
    )
    is_write = operation is not None and operation.is_write
    stage = 3 if cell.lasts else 4
    if cell.group == "outputs":
        stage = 1
    elif cell.is_recoverable:
        stage = 0 if is_write else 2
    fault = _FAULTS_BY_COST.index(cell.fault) if cell.fault in _FAULTS_BY_COST else 0
    place = [*operations, cell.operation].index(cell.operation)
    return stage, -price, not is_write, fault, place, cell.number, cell.test
