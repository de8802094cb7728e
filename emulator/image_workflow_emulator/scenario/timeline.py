"""The timeline of a scenario: changes of state, each at a time or after a request.

Owns what a change says. The service makes the changes.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from image_workflow_emulator.scenario.matching import Match
from image_workflow_emulator.scenario.world import TeamChange


class AdmissionChange(Struct, frozen=True):
    """New writes are refused with 503, or admitted again."""

    admission: Literal["paused", "open"]
    retry_after: int | None = None
    """Seconds that a refused client is asked to wait. None: the service's own."""


OPEN: Final = AdmissionChange("open")

Change: TypeAlias = AdmissionChange | TeamChange


class After(Struct, frozen=True):
    """The answer to the nth request of those that match."""

    match: Match
    nth: int = 1


class TimedChange(Struct, frozen=True):
    """A change, and when it is made."""

    when: int | After
    """Milliseconds since the scenario began, or a request."""
    change: Change
    line: int
    """Its line in the file; 0 if it was not read from text."""
    spelling: Mapping[str, Any]
    """The entry as the file has it, for people."""
    for_ms: int | None = None
    """How long it lasts. None: until something else is set."""

    @property
    def is_endless_pause(self) -> bool:
        """Whether it pauses new writes until another change admits them."""
        return (
            isinstance(self.change, AdmissionChange)
            and self.change.admission == "paused"
            and self.for_ms is None
        )
