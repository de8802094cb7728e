"""Which pauses of new writes in a scenario may never end: a mistake that is easily
made.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from image_workflow_emulator.scenario.scenario import Scenario
from image_workflow_emulator.scenario.timeline import OPEN, After, TimedChange

_REMEDY: Final = 'say how long it lasts, such as "for: 30s" beside "admission: paused"'


class PauseWarning(Struct, frozen=True):
    """A pause that may never end."""

    file: str
    line: int
    message: str
    remedy: str = _REMEDY


def pause_warnings(scenario: Scenario) -> Iterator[PauseWarning]:
    """Find pauses that nothing ends, and those that may begin after their end.

    A change that opens admission after a request is taken to end every pause: when that
    request comes, nobody knows.
    """
    timeline = scenario.timeline
    openings = [index for index, timed in enumerate(timeline) if timed.change == OPEN]
    if any(isinstance(timeline[index].when, After) for index in openings):
        return
    last_opening = max(openings, default=None)
    for index, timed in enumerate(timeline):
        if not timed.is_endless_pause:
            continue
        message = _why_endless(timeline, index, last_opening)
        if message is not None:
            yield PauseWarning(scenario.file, timed.line, message)


def _why_endless(
    timeline: Sequence[TimedChange],
    index: int,
    last_opening: int | None,
) -> str | None:
    """Say why a pause may never end; None if it ends."""
    if last_opening is None:
        return "nothing ends this pause of new writes"
    opens_at = timeline[last_opening].spelling["at"]
    if isinstance(timeline[index].when, After):
        return (
            "this pause begins after a request, and its only end is at a fixed time, "
            f"{opens_at}: if it begins later, it never ends"
        )
    if index > last_opening:
        return (
            f"nothing ends this pause of new writes after the last end, at {opens_at}"
        )
    return None
