"""What requests may say, and what becomes of an Idempotency-Key (D02, D04, D10, D12, D14)."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from image_workflow_emulator.domain.idempotency import RETENTIONS_MS
from image_workflow_emulator.domain.intents import MAX_NAME, MAX_TEXT, fingerprint
from image_workflow_emulator.domain.problems import MENDED_BY_TIME, key_binding_codes
from image_workflow_emulator.drift.json_values import texts
from image_workflow_emulator.drift.observations.observation import (
    Fits,
    Observation,
    Observations,
    fits_outcome,
    fits_value,
    meaning_of,
    plain_if,
)
from image_workflow_emulator.drift.traffic import RecordedCall, Traffic

_BINDINGS: Final = ("plain", "binds-refusals", "releases")
_UNDECIDED: Final = MENDED_BY_TIME - {"resource_operation_in_progress"} | {
    "idempotency_key_reused"
}
"""Problems that say nothing of what becomes of a key."""


def page_limit(traffic: Traffic) -> Observations:
    """D02: whether a `limit` above the largest page is refused, or cut."""
    for call in traffic.whole():
        parameter = call.operation and call.operation.query.get("limit")
        limit = call.query.get("limit", "")
        if not parameter or not limit.isdecimal():
            continue
        if int(limit[:9]) > parameter.maximum:
            fits = fits_outcome(call, "clamps", "plain", code="invalid_request")
            yield Observation(fits, call)


def text_length(traffic: Traffic) -> Observations:
    """D04: whether long texts are accepted."""
    for call in traffic.whole():
        name = call.body.get("name", "")
        longest_text = max(map(len, texts(call.body)), default=0)
        if len(name) > MAX_NAME or longest_text > MAX_TEXT:
            fits = fits_outcome(call, "plain", "short")
            yield Observation(fits, call)


def key_binding(traffic: Traffic) -> Observations:
    """D10: what a definite refusal does to its key, as the key's next use shows, with the
    same body or a corrected one.
    """
    for repetition in _repetitions(traffic):
        first = repetition.first
        second = repetition.second
        has_same_code = second.code == first.code
        is_refused_anew = has_same_code and _mark(second) != _mark(first)
        if repetition.is_key_remembered or second.is_success or is_refused_anew:
            is_bound = {
                reading: first.code in key_binding_codes(reading)
                for reading in _BINDINGS
            }
            fits = fits_value(repetition.is_key_remembered, is_bound)
            yield Observation(fits or None, second)


def key_retention(traffic: Traffic) -> Observations:
    """D12: whether a key is still remembered after more than a day."""
    for repetition in _repetitions(traffic):
        is_past_day = repetition.age_ms >= RETENTIONS_MS["plain"]
        is_within_week = repetition.age_ms < RETENTIONS_MS["week"]
        if repetition.first.is_success and is_past_day and is_within_week:
            yield Observation(_fits_retention(repetition), repetition.second)


def intent(traffic: Traffic) -> Observations:
    """D14: whether a body with the same meaning that is written differently is the same
    request.
    """
    for repetition in _repetitions(traffic):
        is_recent = repetition.age_ms < RETENTIONS_MS["plain"]
        if not repetition.first.is_success or not is_recent:
            continue
        if repetition.is_rewritten and repetition.is_key_remembered:
            second = repetition.second
            yield Observation(plain_if(second.is_success, "as-sent"), second)


def _fits_retention(repetition: "_Repetition") -> Fits:
    if repetition.is_key_remembered:
        return ["week"]
    if repetition.second.is_success:
        return ["plain"]
    return None


class _Repetition(NamedTuple):
    """A call that uses a key again at the same address, and the first call that had it."""

    first: RecordedCall
    second: RecordedCall

    @property
    def age_ms(self) -> int:
        """The time between the two calls."""
        return self.second.at - self.first.at

    @property
    def is_key_remembered(self) -> bool:
        """Whether the service knew the key: it refused another body, or sent its first
        answer again.
        """
        if self.second.code == "idempotency_key_reused":
            return True
        mark = _mark(self.first)
        return mark is not None and mark == _mark(self.second)

    @property
    def is_rewritten(self) -> bool:
        """Whether the bodies differ, and mean the same."""
        if self.first.body == self.second.body:
            return False
        first = meaning_of(self.first)
        second = meaning_of(self.second)
        if first is None or second is None:
            return False
        return fingerprint(first) == fingerprint(second)


def _mark(call: RecordedCall) -> str | None:
    """Return what an answer and its replay have in common: the Request-Id, or the id of
    what was made if there is none.
    """
    return call.response_headers.get("request-id") or call.answer.get("id")


def _repetitions(traffic: Traffic) -> Iterator[_Repetition]:
    first_calls: dict[object, RecordedCall] = {}
    for call in traffic.whole():
        if not call.key or not call.operation:
            continue
        authorization = call.request_headers.get("authorization")
        scope = authorization, call.method, call.url, call.key
        if scope in first_calls:
            yield _Repetition(first_calls[scope], call)
        elif call.code not in _UNDECIDED:
            first_calls[scope] = call
