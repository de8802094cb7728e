"""What the fields of Teams and credentials go back to when a change of a timeline ends."""

from typing import Annotated, Final, TypeAlias

from msgspec import Meta, Struct

from image_workflow_emulator.domain.resources import Instant
from image_workflow_emulator.scenario.world import WorldCredential, WorldTeam

_MAX_DIFFERENCE: Final = 2**53
_Difference: TypeAlias = Annotated[int, Meta(ge=-_MAX_DIFFERENCE, le=_MAX_DIFFERENCE)]


class End(Struct, frozen=True):
    """When a change of a timeline ends."""

    at: Instant
    scenario: str
    """The id of the Team whose scenario it is; empty for that of all Teams."""

    def later(self, other: "End") -> "End":
        """Return the later of two ends."""
        if other.at > self.at:
            return other
        return self


class PreviousTeamValue(Struct, frozen=True):
    """What one field of a Team goes back to."""

    end: End
    before: WorldTeam
    """A change of this field alone. It has no Credits."""
    credits_back: _Difference = 0
    """How many Credits are given back; a negative number is taken away."""


class PreviousCredentialValue(Struct, frozen=True):
    """What one field of a credential goes back to."""

    end: End
    before: WorldCredential
    """A change of this field alone."""
