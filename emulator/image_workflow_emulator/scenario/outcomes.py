"""The outcomes of accepted work, decided when it is admitted (D31)."""

from collections.abc import Mapping
from typing import Final, Literal, Self, get_args

from msgspec import Struct
from msgspec.structs import replace

from image_workflow_emulator.domain.resources import Scene

FailureCode = Literal["processing_failed", "timed_out", "content_rejected"]
"""How work and outputs can fail (D31)."""
FAILURE_CODES: Final[tuple[FailureCode, ...]] = get_args(FailureCode)


class WorkOutcome(Struct, frozen=True):
    """The outcome of accepted work; None, empty or False: as usual."""

    outputs: Mapping[int, FailureCode] = {}
    """The failures of single slots, counted from 1."""
    fail: FailureCode | None = None
    """The failure of the whole work."""
    duration_ms: int | None = None
    """The time from the start of the work to its last end."""
    stall: bool = False
    """Whether the work never ends."""
    scene: Scene | None = None
    """What a Background's source is taken to show (D30)."""

    def within(self, slots: int) -> Self:
        """Return the outcome of work that has so many outputs."""
        failing_outputs = {
            slot: code for slot, code in self.outputs.items() if slot <= slots
        }
        return replace(self, outputs=failing_outputs)
