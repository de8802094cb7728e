"""Rules about how long a request is repeated: neither for ever, nor not at all."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from image_workflow_emulator.domain.problems import MENDED_BY_TIME
from image_workflow_emulator.examiner import facts
from image_workflow_emulator.examiner.history import History
from image_workflow_emulator.examiner.identity import Client, title_of
from image_workflow_emulator.examiner.request import Request, Requests
from image_workflow_emulator.examiner.rules.rule import (
    KEPT,
    ConductRule,
    Verdicts,
    breach,
)
from image_workflow_emulator.examiner.sequences import (
    PATIENCE_MS,
    is_wait_measured,
    rows_of,
)
from image_workflow_emulator.kernel.timestamps import HOUR_MS, SECOND_MS

_MAX_REPETITIONS: Final = 20
_MAX_SPAN_MS: Final = HOUR_MS
_LONG_WAIT_SECONDS: Final = 60
"""A client that should wait longer may give up."""


# Too long -----------------------------------------------------------------------------


def retries_without_end(history: History) -> Verdicts:
    """A request is repeated again and again after the same kind of failure.

    A client that has tried 20 times, or for an hour, has to tell somebody. The time
    that Retry-After asked for does not count for the hour, nor does any time on an auto
    clock. What has no key and comes again after ten minutes of emulator time is a new
    attempt, as of a job that runs now and then.
    """
    for attempts in history.attempts:
        for row in rows_of(attempts, _kind_of, _is_of_another_row):
            requests = list(row.requests)
            if row.end is not None and not _is_new(requests[-1], row.end):
                requests.append(row.end)
            if len(requests) == 1:
                continue
            if _is_endless(requests):
                yield breach(_how_repeated(requests), *requests)
            else:
                yield KEPT


RETRIES_WITHOUT_END: Final = ConductRule(
    name="retries-without-end",
    examine=retries_without_end,
    is_about_retries=True,
    source=(
        "Section 7: internal_error, retry transient failures; "
        "service_unavailable and rate_limited, honor Retry-After."
    ),
    remedy=(
        "limit the number of attempts and their time, keep the Idempotency-Key, "
        "and tell somebody when they are used up"
    ),
)


def _kind_of(request: Request) -> str | None:
    """Return the kind of a failure that a repetition may mend; None for the others."""
    loss = facts.loss_of(request)
    if loss is not None:
        return loss
    if request.code in MENDED_BY_TIME:
        return request.code
    return None


def _is_of_another_row(last: Request, request: Request) -> bool:
    return _is_new(last, request) or _kind_of(request) != _kind_of(last)


def _is_new(last: Request, request: Request) -> bool:
    is_keyless = request.idempotency_key is None
    return is_keyless and _own_pause_ms(last, request) >= PATIENCE_MS


def _own_pause_ms(earlier: Request, later: Request) -> int:
    """Return the emulator time between two requests beyond what was asked for."""
    if not is_wait_measured(earlier, later):
        return 0
    asked_ms = (facts.retry_after(earlier) or 0) * SECOND_MS
    return max(later.at - earlier.left_at - asked_ms, 0)


def _is_endless(requests: Requests) -> bool:
    if len(requests) - 1 > _MAX_REPETITIONS:
        return True
    return sum(_own_pause_ms(*pair) for pair in pairwise(requests)) > _MAX_SPAN_MS


def _how_repeated(requests: Requests) -> str:
    first = requests[0]
    failure = f"{first.status} {first.code}"
    if facts.loss_of(first) is not None:
        failure = "its answer was lost"
    times = len(requests) - 1
    title = title_of(first)
    return f"{title} was repeated {times} times after the same failure: {failure}"


# Not at all ---------------------------------------------------------------------------


class _Address(NamedTuple):
    """What a client reads, whatever the query."""

    client: Client
    path: str


def gave_up_on_retryable(history: History) -> Verdicts:
    """A request that got 429 or 503 is never sent again.

    The answer says that the same request will succeed later. A client may stop that has
    sent it again at least once, that was asked to wait for more than a minute, whose
    credential was refused meanwhile, or that sent the same request with another key or
    query. Whether the request never comes again is known ten minutes of emulator time
    after its Retry-After, or at the end of the run.
    """
    last_reads = _last_reads(history)
    for requests in history.by_intent.values():
        for request in requests[:-1]:
            if _is_retryable(request):
                yield KEPT
        last = requests[-1]
        wait_ms = (facts.retry_after(last) or 0) * SECOND_MS
        if not (_is_retryable(last) and history.is_over(last.left_at + wait_ms)):
            continue
        if _may_give_up(history, requests, last_reads):
            yield KEPT
        else:
            yield breach(
                f"{title_of(last)} was refused with {last.status} {last.code} "
                "and never sent again",
                last,
            )


GAVE_UP_ON_RETRYABLE: Final = ConductRule(
    name="gave-up-on-retryable",
    examine=gave_up_on_retryable,
    is_about_retries=True,
    source=(
        "Section 7: service_unavailable, honor Retry-After; "
        "rate_limited, honor Retry-After, retry with backoff."
    ),
    remedy=(
        "wait as long as Retry-After says and send the request again, "
        "a write with the same Idempotency-Key"
    ),
)


def _is_retryable(request: Request) -> bool:
    return facts.is_answered(request, 429, 503)


def _last_reads(history: History) -> Mapping[_Address, int]:
    """Return the number of the last read of each address by each client."""
    last_reads: dict[_Address, int] = {}
    for request in history.requests:
        if request.method == "GET":
            address = _Address(history.client(request), request.path)
            last_reads[address] = request.sequence
    return last_reads


def _may_give_up(
    history: History,
    requests: Requests,
    last_reads: Mapping[_Address, int],
) -> bool:
    """Whether a client is excused that did not repeat the last request of an intent."""
    last = requests[-1]
    has_repeated = len(requests) > 1 and _is_retryable(requests[-2])
    if has_repeated or history.was_shut_out(last):
        return True
    if (facts.retry_after(last) or 0) > _LONG_WAIT_SECONDS:
        return True
    if last.method == "GET":
        address = _Address(history.client(last), last.path)
        if last_reads[address] > last.sequence:
            return True
    return _has_succeeded(history, last)


def _has_succeeded(history: History, request: Request) -> bool:
    """Whether another attempt with the same key has succeeded."""
    if not request.idempotency_key:
        return False
    return any(map(facts.is_success, history.attempts_of(request)))
