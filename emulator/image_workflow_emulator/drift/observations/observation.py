"""What one recorded call shows of one decision, and questions that many decisions ask.

The values that observations compare with are those of the domain, never written again.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from image_workflow_emulator.domain.intents import intent_of
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.readings import NO_READINGS, Readings
from image_workflow_emulator.drift.traffic import RecordedCall, Traffic

PHOTOGRAPHY = "createProductPhotographyGeneration"
Fits: TypeAlias = Collection[str] | None
"""The ids of the readings that explain a call, `plain` included. Empty if none does. None
if all do: then the call is no evidence.
"""


class Observation(NamedTuple):
    """What a call shows of a decision."""

    fits: Fits
    call: RecordedCall
    description: str = ""
    """What was observed, in words, in case no reading explains it."""


Observations: TypeAlias = Iterator[Observation]
Observe: TypeAlias = Callable[[Traffic], Observations]
"""Yields an observation for each call that may tell the readings of a decision apart."""


def fits_value(value: object, expected: Mapping[str, object]) -> Fits:
    """Return the readings under which a value is expected; None if all expect it."""
    fitting = [reading for reading, other in expected.items() if other == value]
    if len(fitting) == len(expected):
        return None
    return fitting


def plain_if(is_plain: bool, other: str) -> Fits:
    """Return the plain reading if a condition holds, and another if not."""
    if is_plain:
        return ["plain"]
    return [other]


def fits_outcome(
    call: RecordedCall,
    success: str,
    refusal: str,
    code: str = "invalid_input",
) -> Fits:
    """Return one of two readings: `success` if the call succeeded, `refusal` if it was
    refused with a code. Any other outcome is no evidence.
    """
    if call.is_success:
        return [success]
    if call.code == code:
        return [refusal]
    return None


def meaning_of(
    call: RecordedCall,
    readings: Readings = NO_READINGS,
) -> dict[str, Any] | None:
    """Return what the body of a call means under some readings, with defaults applied.

    None if there is no body, or it breaks a rule.
    """
    if call.operation is None or call.operation.body is None:
        return None
    if not call.body:
        return None
    try:
        return intent_of(call.operation.body, dict(call.body), readings)
    except Problem:
        return None
