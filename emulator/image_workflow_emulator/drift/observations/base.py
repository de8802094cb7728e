"""What an observation yields, and what several of them ask of a recording."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from msgspec import Struct

from image_workflow_emulator.domain.intents import intent_of
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.readings import NO_READINGS, Readings
from image_workflow_emulator.drift.exchanges import leaves
from image_workflow_emulator.drift.traffic import RecordedCall, Traffic

NEITHER: Final = "neither"
"""Seen where no reading of the decision explains what the service did."""
UNTOLD: Final = ""
"""The call fits every reading: no evidence."""


class Seen(Struct, frozen=True):
    """One piece of evidence: the reading that it speaks for (`plain`, an id, `neither`, or none), and the call that shows it."""

    reading: str
    call: RecordedCall
    what: str = ""
    """What was observed, in words, where no reading explains it."""
    aspect: str = ""
    """Which side of the decision it is about, where its readings differ in several: evidence for one says nothing of others."""


Observe: TypeAlias = Callable[[Traffic], Iterator[Seen]]


def reading_of(value: object, expected: Mapping[str, object]) -> str:
    """Return the reading under which a value was expected, or `neither`; nothing where several readings expect it."""
    fitting = [reading for reading, one in expected.items() if one == value]
    return UNTOLD if len(fitting) > 1 else fitting[0] if fitting else NEITHER


def by_outcome(call: RecordedCall, if_taken: str, if_refused: str, code: str = "invalid_input") -> str:
    """Return one of two readings: under the one the call succeeds, under the other it is refused with a code."""
    return if_taken if call.is_success else if_refused if call.code == code else UNTOLD


def texts(value: Any) -> list[str]:
    """Return every text in some JSON, keys aside."""
    return [leaf for _, leaf in leaves(value) if isinstance(leaf, str)]


def meaning(call: RecordedCall, readings: Readings = NO_READINGS) -> Any:
    """Return what the body of a call means under some readings: defaults apply; None if it breaks a rule."""
    if call.operation is None or call.operation.body is None or not call.body:
        return None
    try:
        return intent_of(call.operation.body, dict(call.body), readings)
    except Problem:
        return None
