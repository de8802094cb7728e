"""A cell of a sweep: one fault at one call.

Owns how a cell is spelt, `OPERATION#N:FAULT`, or `OPERATION#N+:FAULT` for a fault that
lasts, and the scenario with one rule that it is.
"""

from collections.abc import Mapping
from typing import Any, Self

from msgspec import Struct

from image_workflow_emulator.scenario.matching import BYTE_SURFACES
from image_workflow_emulator.sweep import faults


class Cell(Struct, frozen=True, order=True):
    """A fault at the Nth call of an operation, or at the Nth work that it admits."""

    operation: str
    number: int
    fault: str
    lasts: bool = False
    """Whether the fault is at all later calls too."""
    test: str = ""
    """The place where it is tried: the id of a test, or that of a fixture that tests
    share. Empty: all of the command."""

    def __str__(self) -> str:
        number = f"#{self.number}" if self.number else ""
        return f"{self.operation}{number}{self._mark}:{self.fault}"

    @classmethod
    def read(cls, text: str, test: str = "") -> Self:
        """Parse a cell that is tried in a `test`. Raises ValueError."""
        call, _, fault = text.rpartition(":")
        operation, _, number = call.partition("#")
        digits = number.rstrip("+")
        return cls(
            operation=operation,
            number=int(digits or 0),
            fault=fault,
            lasts=number.endswith("+"),
            test=test,
        )

    @property
    def class_name(self) -> str:
        """The name of its class: its operation and fault, without the number."""
        return f"{self.operation}{self._mark}:{self.fault}"

    @property
    def _mark(self) -> str:
        if self.lasts:
            return "+"
        return ""

    @property
    def is_of_client(self) -> bool:
        """Whether it is the client that is broken."""
        return self.operation == faults.CLIENT

    @property
    def group(self) -> str:
        """The kind of its fault."""
        if self.is_of_client:
            return faults.CLIENT
        if self.fault in faults.OF_WORK:
            return faults.OUTPUTS
        if self.fault in faults.OF_A_CALL and self.fault != faults.FAILED_AFTER:
            return faults.NETWORK
        return faults.PROBLEMS

    @property
    def is_recoverable(self) -> bool:
        """Whether a client can recover from it: its command should then succeed."""
        return self.fault in faults.RECOVERABLE and not self.lasts

    @property
    def is_silent(self) -> bool:
        """Whether the client waits for an answer. Such a run takes time, and no
        processor.
        """
        return self.fault in (faults.SLOW, faults.STALL)

    @property
    def keeps_what_was_made(self) -> bool:
        """Whether a client has no reason to make again what it made: nothing is
        missing, and nothing was made in vain.
        """
        if self.is_of_client or self.fault in faults.LOSES_A_RESOURCE:
            return False
        return not faults.is_of_one_output(self.fault)

    def scenario(self, kinds: Mapping[str, str]) -> dict[str, Any]:
        """Return it as a scenario. `kinds` has the kind of work of each operation."""
        rule: dict[str, Any] = {"name": str(self)}
        if self.is_of_client:
            rule["then"] = {"client": self.fault}
        else:
            rule["match"] = self._match(kinds)
            rule["when"] = {
                "nth": self._numbers(),
                "per": "team",
            }
            rule["then"] = faults.outcome_of(self.fault)
        return {
            "scenario": "sweep",
            "rules": [rule],
        }

    def _numbers(self) -> str:
        """Return which calls it is about, as `nth` says it."""
        if self.lasts:
            return f">={self.number}"
        return str(self.number)

    def _match(self, kinds: Mapping[str, str]) -> dict[str, str]:
        if self.group == faults.OUTPUTS:
            return {"work": kinds[self.operation]}
        if self.operation in BYTE_SURFACES:
            return {"bytes": self.operation}
        return {"operation": self.operation}
