"""What can become of accepted work, decided when it is admitted (D31). Data only; how a file spells it is `outcome_format`'s."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, get_args

from emulator.domain.resources import Scene

FailureCode = Literal["processing_failed", "timed_out", "content_rejected"]

FAILURE_CODES: Final[tuple[FailureCode, ...]] = get_args(FailureCode)
"""How work and outputs can fail (D31)."""
SCENES: Final[tuple[Scene, ...]] = get_args(Scene)
MAXIMUM_SLOTS: Final = 6
"""The most outputs that one Generation can have (section 8)."""


@dataclass(frozen=True, slots=True)
class WorkOutcome:
    """What becomes of accepted work; what is None, empty or False goes as usual.

    `outputs` names the failures of single slots, counted from 1; `fail` is the failure of the whole work. `duration_ms`
    is the time from the start of the work to its last end. Stalled work never ends. `scene` is what a Background's
    source is taken to show (D30).
    """

    outputs: Mapping[int, FailureCode] = field(default_factory=lambda: MappingProxyType({}))
    fail: FailureCode | None = None
    duration_ms: int | None = None
    stall: bool = False
    scene: Scene | None = None

    def did(self) -> str:
        """Say in words what becomes of the work."""
        parts = [f"output {slot} fails with {code}" for slot, code in sorted(self.outputs.items())]
        if self.fail is not None:
            parts.append(f"the work fails with {self.fail}")
        if self.duration_ms is not None:
            parts.append(f"the work takes {self.duration_ms} ms")
        if self.stall:
            parts.append("the work never ends")
        if self.scene is not None:
            parts.append(f"the source is taken for {self.scene}")
        return ", ".join(parts) or "nothing"


NO_OUTCOME: Final = WorkOutcome()

OUTCOME_WORDS: Final = ("outputs", "fail", "duration", "stall", "scene")
"""The words under `then` that make up a `WorkOutcome`."""
