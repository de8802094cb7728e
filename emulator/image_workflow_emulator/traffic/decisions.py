"""The decisions that have readings, each with what calls of the service show of it.

Only what is observed counts: an answer that is the same under every reading names none.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.domain.readings import READINGS, Readings, chosen
from image_workflow_emulator.traffic.calls import Traffic
from image_workflow_emulator.traffic.journals import read_entry
from image_workflow_emulator.traffic.observations import answers, requests, uploads, work
from image_workflow_emulator.traffic.observations.base import UNTOLD, Observe, Seen

_FILES: Final = (answers, requests, uploads, work)
_OBSERVATIONS: Final[Mapping[str, Observe]] = {
    reading.decision: next(getattr(file, reading.field) for file in _FILES if hasattr(file, reading.field))
    for reading in READINGS.values()
}
"""By decision: the observation, a function with the name of its field of `Readings`."""


def observed(decision: str, traffic: Traffic) -> list[Seen]:
    """Return the evidence for one decision."""
    return [seen for seen in _OBSERVATIONS[decision](traffic) if seen.reading != UNTOLD]


def readings_shown(
    entries: Iterable[Mapping[str, Any]], readings: Readings, contract: Contract
) -> Mapping[int, Sequence[str]]:
    """Return by sequence number the names of the readings that an answer shows, such as `D66=silent`.

    `entries` are some of a sandbox's journal in order, `readings` those that the sandbox has.
    """
    names = chosen(readings)
    shown: defaultdict[int, list[str]] = defaultdict(list)
    traffic = Traffic([read_entry(entry, str(entry["sequence"])) for entry in entries], contract)
    for name in names:
        reading = READINGS[name]
        for seen in observed(reading.decision, traffic):
            sequence = int(seen.call.where)
            if seen.reading == reading.id and name not in shown[sequence]:
                shown[sequence].append(name)
    return shown
