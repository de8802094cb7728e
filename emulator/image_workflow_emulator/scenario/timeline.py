"""The timeline of a scenario: changes of state, each at a time or after a request.

Owns what a change says, and which pauses of new writes have no end. The service makes
the changes.
"""

from collections.abc import Iterator, Mapping, Sequence
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


Timeline: TypeAlias = Sequence[TimedChange]
"""Changes in the order in which they are made; those after requests come last."""


class TimelineWarning(Struct, frozen=True):
    """A pause that may never end."""

    line: int
    message: str
    remedy: str


_REMEDY: Final = 'say how long it lasts: "for: 30s" beside "admission: paused"'


def pause_warnings(timeline: Timeline) -> Iterator[TimelineWarning]:
    """Find pauses of new writes that nothing ends, or that may begin after their end."""
    openings = [index for index, timed in enumerate(timeline) if timed.change == OPEN]
    ends_after_request = any(
        isinstance(timeline[index].when, After) for index in openings
    )
    if ends_after_request:
        return
    for index, timed in enumerate(timeline):
        if not timed.is_endless_pause:
            continue
        if isinstance(timed.when, After) and openings:
            last = timeline[openings[-1]].spelling["at"]
            message = (
                "this pause begins after a request, and ends only at a fixed time, "
                f"at {last}: if it begins later, nothing ends it"
            )
            yield TimelineWarning(timed.line, message, _REMEDY)
        elif not openings or index > openings[-1]:
            message = "nothing ends this pause of new writes"
            yield TimelineWarning(timed.line, message, _REMEDY)
