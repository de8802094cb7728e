"""The cells of a sweep: one fault at one call each, and the rule of a scenario that it is.

Pure functions of what `evidence` has. Owns the notation of a cell, `OPERATION#N:FAULT`, and `OPERATION#N+:FAULT` for a
fault that lasts, and what is known of each fault.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Self

from msgspec import Struct

from image_workflow_emulator.domain.problems import CATALOGUE, MENDED_BY_CLIENT, MENDED_BY_TIME
from image_workflow_emulator.scenario.scenario import BYTE_SURFACES, FAILURE_CODES
from image_workflow_emulator.sweep.evidence import Call, Evidence, Work

GROUPS: Final = ("problems", "network", "outputs")
"""The kinds of faults of the service that can be chosen."""
CLIENT: Final = "client"
"""The kind of faults of the client, which stands for an operation in their cells: `client:drop-key`."""
LOST_BEFORE: Final = "lost-before-commit"
LOST_AFTER: Final = "lost-after-commit"
FAILED_AFTER: Final = "internal_error-after-commit"
SLOW_SECONDS: Final = 30
"""How late an answer is that is beyond the usual time limits of clients."""
_AFTER: Final = {"at": "after_commit"}
_FAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    LOST_BEFORE: {"network": "reset"},
    LOST_AFTER: {"network": "reset", **_AFTER},
    "cut": {"network": "truncate", **_AFTER},
    "garbled": {"network": "garbage", **_AFTER},
    "stall": {"network": "stall", **_AFTER},
    "slow": {"network": {"latency": f"{SLOW_SECONDS}s"}, **_AFTER},
    FAILED_AFTER: {"problem": "internal_error", **_AFTER},
}
"""The faults that are no problem code: what a rule says."""
FAULT_NAMES: Final = tuple(_FAULTS)
_OUTCOMES: Final[Mapping[str, Mapping[str, Any]]] = {
    **{f"fail-{code}": {"fail": code} for code in FAILURE_CODES},
    **{f"output-1-{code}": {"outputs": {"1": code}} for code in FAILURE_CODES},
}
"""What may become of work, by its name: what a rule says."""
RECOVERABLE: Final = MENDED_BY_TIME | MENDED_BY_CLIENT | _FAULTS.keys()
"""The faults that a client can recover from: by asking again, by waiting, or with a new Upload Session."""
_MISSING: Final = {code for code, kind in CATALOGUE.items() if kind.status == 404} | {"invalid_reference"}
"""The problems after which a client may make anew what it refers to."""
_CALL: Final = re.compile(r"(?P<operation>\w+)(#(?P<number>\d+)(?P<lasts>\+?))?:(?P<fault>[\w-]+)")


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
        found = _CALL.fullmatch(text)
        if found is None:
            raise ValueError(text)
        return cls(found["operation"], int(found["number"] or 0), found["fault"], bool(found["lasts"]), test)

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
        return "network" if self.fault in _FAULTS and self.fault != FAILED_AFTER else "problems"

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
        return self.number > 0 and not self.fault.startswith("output-1") and self.fault not in _MISSING

    def scenario(self, kinds: Mapping[str, str]) -> dict[str, Any]:
        """Return it as a scenario. `kinds`: by operation, the kind of work that it admits."""
        if self.operation == CLIENT:
            return {"scenario": "sweep", "rules": [{"name": str(self), "then": {"client": self.fault}}]}
        when = {"nth": f">={self.number}" if self.lasts else str(self.number), "per": "team"}
        if self.group == "outputs":
            match, then = {"work": kinds[self.operation]}, _OUTCOMES[self.fault]
        else:
            match = {"bytes" if self.operation in BYTE_SURFACES else "operation": self.operation}
            then = _FAULTS.get(self.fault, {"problem": self.fault})
        return {"scenario": "sweep", "rules": [{"name": str(self), "match": match, "when": when, "then": then}]}


DEFECTS: Final[Mapping[str, str]] = {
    "drop-key": "your client sent no Idempotency-Key",
    "new-key": "your client sent another Idempotency-Key at each attempt",
    "one-key": "your client sent the same Idempotency-Key with all writes",
    "drop-query": "your client sent no query",
    "ignore-hint": "your client did not read Retry-After",
    "drop-authorization": "your client sent no API key",
}
"""What each fault of the client is, in words."""


def cells_of(evidence: Evidence, all_codes: Mapping[str, Iterable[str]]) -> dict[Cell, str]:
    """Return all cells, each with why it is left out, since its result cannot differ from another's: empty if it is
    not.

    `all_codes`: what each operation can return.
    """
    of_client = ((Cell(CLIENT, 0, defect), "") for defect in DEFECTS if evidence.calls)
    return dict([*_of_calls(evidence.calls.values(), all_codes), *_of_works(evidence.works.values()), *of_client])


def _of_calls(calls: Iterable[Call], all_codes: Mapping[str, Iterable[str]]) -> Iterator[tuple[Cell, str]]:
    for call in calls:
        for fault in (*sorted(all_codes[call.operation], key=[*CATALOGUE].index), *_FAULTS):
            if fault == FAILED_AFTER and call.is_read:
                continue
            why = ""
            if fault in CATALOGUE and not call.can_return(fault):
                why = "the call was refused without a fault, before that is checked"
            if fault == LOST_AFTER and call.is_read:
                why = why or f"a read commits nothing: its client sees {LOST_BEFORE}"
            yield Cell(call.operation, call.number, fault), why
            if fault in RECOVERABLE:
                yield Cell(call.operation, call.number, fault, lasts=True), why


def _of_works(works: Iterable[Work]) -> Iterator[tuple[Cell, str]]:
    for work in works:
        for fault in _OUTCOMES:
            code = fault.removeprefix("output-1-")
            if code == fault or work.outputs:
                same = f"it is the only output: that is fail-{code}" if code != fault and work.outputs == 1 else ""
                yield Cell(work.operation, work.number, fault), same
