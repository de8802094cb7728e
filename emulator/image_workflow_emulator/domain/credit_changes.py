"""The history of a Team's Credits: each change with its time, its reason and what it
left.
"""

from dataclasses import dataclass, field
from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from image_workflow_emulator.domain.resources import Amount, Instant

MAX_CREDIT_CHANGES: Final = 10_000
"""How many changes of one Team are kept: the newest."""

CreditReason: TypeAlias = Literal[
    "start", "set", "scenario", "reserved", "charged", "released"
]

_MAX_CHANGE: Final = 2**53 - 1


class CreditChange(Struct, frozen=True, gc=False, array_like=True):
    """One change of a Team's Credits."""

    sequence: Annotated[int, Meta(ge=1, le=10**12)]
    """Counts the changes of its Team from 1."""
    at: Instant
    change: Annotated[int, Meta(ge=-_MAX_CHANGE, le=_MAX_CHANGE)]
    """By how much the available Credits changed: 0 for a charge of reserved ones."""
    available: Amount
    """What was available after it."""
    reserved: Amount
    """What was reserved after it."""
    reason: CreditReason
    id: str | None
    """The work that reserved them; None for a change that no work made."""


@dataclass(slots=True, eq=False)
class CreditHistory:
    """The newest changes of one Team's Credits."""

    changes: list[CreditChange] = field(default_factory=list)
    """Oldest first."""

    @property
    def left(self) -> int:
        """How many older changes are no longer kept."""
        if not self.changes:
            return 0
        return self.changes[0].sequence - 1

    @property
    def next_sequence(self) -> int:
        """The number of the change that comes next."""
        if not self.changes:
            return 1
        return self.changes[-1].sequence + 1

    def add(self, change: CreditChange) -> None:
        """Keep a change, and drop the oldest one where there are too many."""
        self.changes.append(change)
        del self.changes[:-MAX_CREDIT_CHANGES]
