"""The outcomes of accepted work, decided when it is admitted (D31): the data, and its form in a file."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, Self, get_args

from msgspec import Struct
from msgspec.structs import replace

from emulator.documents.values import optional, parse_span_ms
from emulator.domain.resources import Scene

FailureCode = Literal["processing_failed", "timed_out", "content_rejected"]
"""How work and outputs can fail (D31)."""
FAILURE_CODES: Final[tuple[FailureCode, ...]] = get_args(FailureCode)


class WorkOutcome(Struct, frozen=True):
    """The outcome of accepted work; None, empty or False: as usual.

    `outputs` names the failures of single slots, counted from 1; `fail` is the failure of the whole work. `duration_ms`
    is the time from the start of the work to its last end. Stalled work never ends. `scene` is what a Background's
    source is taken to show (D30).
    """

    outputs: Mapping[int, FailureCode] = MappingProxyType({})
    fail: FailureCode | None = None
    duration_ms: int | None = None
    stall: bool = False
    scene: Scene | None = None

    def within(self, slots: int) -> Self:
        """Return the outcome of work that has so many outputs: without the failures of others."""
        outputs = {slot: code for slot, code in self.outputs.items() if slot <= slots}
        return self if outputs == self.outputs else replace(self, outputs=MappingProxyType(outputs))

    @classmethod
    def read(cls, then: Mapping[str, Any]) -> Self:
        """Read the mapping under `then` of a rule about work, valid by the schema, every scalar as text."""
        return cls(
            MappingProxyType({int(slot): code for slot, code in then.get("outputs", {}).items()}),
            then.get("fail"),
            optional(then, "duration", parse_span_ms),
            "stall" in then,
            then.get("scene"),
        )


NO_OUTCOME: Final = WorkOutcome()

OUTCOME_WORDS: Final = ("outputs", "fail", "duration", "stall", "scene")
"""The words under `then` that make up a `WorkOutcome`."""
