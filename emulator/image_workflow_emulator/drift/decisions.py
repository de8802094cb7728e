"""The decisions that have readings, each with what calls of the service show of it.

Only what is observed counts: an answer that is the same under every reading names none.
"""

from collections.abc import Mapping
from typing import Final

from image_workflow_emulator.domain.readings import READINGS
from image_workflow_emulator.drift.calls import Traffic
from image_workflow_emulator.drift.observations import answers, keys_and_lists, uploads, work
from image_workflow_emulator.drift.observations.base import UNTOLD, Observe, Seen

_FILES: Final = (answers, keys_and_lists, uploads, work)
_OBSERVATIONS: Final[Mapping[str, Observe]] = {
    reading.decision: next(getattr(file, reading.field) for file in _FILES if hasattr(file, reading.field))
    for reading in READINGS.values()
}
"""By decision: the observation, a function with the name of its field of `Readings`."""


def observed(decision: str, traffic: Traffic) -> list[Seen]:
    """Return the evidence for one decision."""
    return [seen for seen in _OBSERVATIONS[decision](traffic) if seen.reading != UNTOLD]
