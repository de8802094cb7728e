"""How answers are written: headers, media types, timestamps (D31, D42, D66, D70, D72, D73)."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from image_workflow_emulator.drift.json_values import texts
from image_workflow_emulator.drift.observations.observation import (
    Fits,
    Observation,
    Observations,
    fits_value,
    plain_if,
)
from image_workflow_emulator.drift.traffic import RecordedWork, Snapshot, Traffic
from image_workflow_emulator.examiner.facts import POLLS
from image_workflow_emulator.kernel.timestamps import SECOND_MS

_TIMESTAMP: Final = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(Z|[+-]\d\d:?\d\d|)"
)
_TIMESTAMP_ENDINGS: Final = {
    "plain": "Z",
    "offset": "+00:00",
}
"""By reading."""
_JSON_TYPES: Final = ("application/json", "application/problem+json")
_ERROR_MEMBERS: Final = ("code", "message", "retryable")


def error_members(traffic: Traffic) -> Observations:
    """D31: whether all members of an error have values."""
    for work in traffic.works.values():
        for snapshot in work.snapshots:
            for holder in (snapshot.resource, *snapshot.outputs):
                error = holder.get("error")
                if error is None or holder.get("status") != "failed":
                    continue
                values = [error.get(name) for name in _ERROR_MEMBERS]
                is_whole = None not in values
                yield Observation(plain_if(is_whole, "nulls"), snapshot.call)


def poll_hint(traffic: Traffic) -> Observations:
    """D42: whether a poll of unfinished work says when it changes, and whether it is true.

    A hint that is kept proves nothing of a service that gives others: half of one second
    is one second too.
    """
    for work in traffic.works.values():
        for poll in _unfinished_polls(work):
            call = poll.snapshot.call
            hint = call.response_headers.get("retry-after")
            if hint is None:
                yield Observation(["no-hint"], call)
            elif poll.is_waited_for(hint):
                fits = ["rough"]
                if poll.has_changed:
                    fits.append("plain")
                yield Observation(fits, call)


class _Poll(NamedTuple):
    """A poll of work, and the next one; the last poll is followed by itself."""

    snapshot: Snapshot
    following: Snapshot

    @property
    def has_changed(self) -> bool:
        """Whether the work changed until the next poll."""
        before = self.snapshot.resource
        after = self.following.resource
        names = ("updated_at", "status")
        return any(after.get(name) != before.get(name) for name in names)

    def is_waited_for(self, hint: str) -> bool:
        """Whether the next poll came after the time that a hint names."""
        call = self.snapshot.call
        if call.is_coarse or not hint.isdecimal():
            return False
        hint_ms = int(hint[:9]) * SECOND_MS
        return 0 < hint_ms <= self.following.call.at - call.at


def _unfinished_polls(work: RecordedWork) -> Iterator[_Poll]:
    """Iterate over the polls of work until one shows its end."""
    polls = [snapshot for snapshot in work.snapshots if snapshot.call.name in POLLS]
    for snapshot, following in pairwise([*polls, *polls[-1:]]):
        if snapshot.is_terminal:
            return
        yield _Poll(snapshot, following)


def pause_hint(traffic: Traffic) -> Observations:
    """D66: whether a 503 has a Retry-After."""
    for call in traffic.of():
        if call.status == 503 and call.code == "service_unavailable":
            has_hint = "retry-after" in call.response_headers
            yield Observation(plain_if(has_hint, "silent"), call)


def location(traffic: Traffic) -> Observations:
    """D70: whether a Location is absolute."""
    for call in traffic.of():
        target = call.response_headers.get("location")
        if target is None or call.operation is None:
            continue
        if call.status in (201, 202):
            is_absolute = "://" in target
            yield Observation(plain_if(is_absolute, "relative"), call)


def media_types(traffic: Traffic) -> Observations:
    """D72: whether a media type has a parameter."""
    for call in traffic.of():
        content_type = call.response_headers.get("content-type", "").lower()
        media_type, _, parameters = content_type.partition(";")
        if call.operation is not None and media_type.strip() in _JSON_TYPES:
            description = f"Content-Type: {content_type}"
            yield Observation(_fits_parameters(parameters), call, description)


def _fits_parameters(parameters: str) -> Fits:
    if "charset" in parameters:
        return ["charset"]
    if parameters.strip():
        return []
    return ["plain"]


def timestamps(traffic: Traffic) -> Observations:
    """D73: how a timestamp ends."""
    for call in traffic.whole():
        matches = map(_TIMESTAMP.fullmatch, texts(call.answer))
        endings = {match[1] for match in matches if match}
        for ending in sorted(endings):
            fits = fits_value(ending, _TIMESTAMP_ENDINGS)
            yield Observation(fits, call, f"a timestamp ends in {ending!r}")
