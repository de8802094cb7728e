"""The instants of recorded calls by the clock of the service that answered them."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from image_workflow_emulator.drift.json_values import instant_of
from image_workflow_emulator.drift.traffic import RecordedCall
from image_workflow_emulator.kernel.timestamps import DAY_MS, SECOND_MS

_PAST: Final = ("created_at", "updated_at", "finished_at")
_LATENCY_MS: Final = 10 * SECOND_MS
"""How much later than its request an answer may be without a jump of the clock."""


def by_the_clock_of_the_service(
    calls: Sequence[RecordedCall],
) -> Sequence[RecordedCall]:
    """Return calls at the instants of the service's clock.

    It may jump: an emulator's clock skips waits, while a recording has the host's time.
    """
    skew_ms = _first_skew_ms(calls)
    adjusted = []
    now = DAY_MS
    for call in calls:
        latest = _latest_instant(call)
        if latest is not None and latest - call.at > skew_ms + _LATENCY_MS:
            skew_ms = latest - call.at
        now = max(now, call.at + skew_ms)
        adjusted.append(replace(call, at=now))
    return adjusted


def _first_skew_ms(calls: Sequence[RecordedCall]) -> int:
    """Return how far the service's clock is ahead of the recording's, by the first
    resource that a call created.
    """
    for call in calls:
        is_write = call.operation is not None and call.operation.is_write
        if is_write and call.is_timed and call.is_success:
            created_at = instant_of(call.answer.get("created_at"))
            if created_at is not None:
                return created_at - call.at
    return 0


def _latest_instant(call: RecordedCall) -> int | None:
    """Return the latest instant that an answer names as past."""
    instants = []
    for resource in call.resources:
        for member in _PAST:
            instant = instant_of(resource.get(member))
            if instant is not None:
                instants.append(instant)
    return max(instants, default=None)
