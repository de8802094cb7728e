"""The rule about a refusal that says how long to wait: what comes before is early."""

from collections.abc import Iterator
from typing import Final

from image_workflow_emulator.examiner import facts
from image_workflow_emulator.examiner.history import History, requests_after
from image_workflow_emulator.examiner.identity import title_of
from image_workflow_emulator.examiner.programs import Pair, pairs_by_worker
from image_workflow_emulator.examiner.request import Request, Requests
from image_workflow_emulator.examiner.rules.rule import (
    KEPT,
    Breach,
    ConductRule,
    Verdicts,
    breach,
)
from image_workflow_emulator.examiner.sequences import (
    has_waited,
    is_wait_measured,
    pause_ms,
)

_IN_TRANSIT_MS: Final = 100
"""How soon after a refusal a write on another connection may not have known of it."""
_FREED_BY_WORK: Final = ("concurrency_limit_reached", "resource_operation_in_progress")
"""The codes of refusals that the end of some work mends."""


def retry_before_retry_after(history: History) -> Verdicts:
    """The same request comes again before the Retry-After of its refusal is over.

    A repetition has the client, method, address and body of a request that got 429, 503
    or 409 with a Retry-After, and its key, if it has one. With its key it counts on any
    connection, unless it may have been sent before the refusal was received: less than
    `_IN_TRANSIT_MS` after it, on another connection. After a 429 another key makes no
    difference, provided the first never comes again: of two like requests that are both
    repeated, neither repeats the other. The wait is kept if either clock, the
    emulator's or the host's, moved that far. What has another key, or none, is a
    repetition on the same connection; where each request opened a connection of its
    own, if some refusal was followed by no request in time: its program gave up at
    once, or it is the one that came too early. Where the budget of concurrent work was
    exhausted, the end of some work is as good as the wait; so is the end of the
    Operation that a 409 named.
    """
    for requests in history.by_intent.values():
        for pair in _repeated_refusals(history, requests):
            if not is_wait_measured(*pair):
                continue
            if _is_in_time(history, pair):
                yield KEPT
            else:
                yield _too_early(pair)


RETRY_BEFORE_RETRY_AFTER: Final = ConductRule(
    name="retry-before-retry-after",
    examine=retry_before_retry_after,
    is_timed=True,
    is_about_retries=True,
    source=(
        "Section 8: Clients must honor Retry-After on 429 "
        "and use exponential backoff with jitter."
    ),
    remedy=(
        "wait as long as Retry-After says, then send the same request, "
        "a write with the same Idempotency-Key"
    ),
)


def _wait_of(request: Request) -> int:
    """Return how many seconds a refusal asked to wait; 0 if it did not."""
    if not facts.is_answered(request, 409, 429, 503):
        return 0
    return facts.retry_after(request) or 0


def _is_in_time(history: History, pair: Pair) -> bool:
    if has_waited(*pair, _wait_of(pair.earlier)):
        return True
    return pair.earlier.code in _FREED_BY_WORK and history.saw_work_end(*pair)


def _too_early(pair: Pair) -> Breach:
    refusal = pair.earlier
    is_limit = refusal.status == 429
    return breach(
        f"{title_of(refusal)} was sent again before the Retry-After "
        f"of {_wait_of(refusal)} s of the {refusal.status} {refusal.code} was over",
        *pair,
        severity="error" if is_limit else None,
    )


def _repeated_refusals(history: History, requests: Requests) -> Iterator[Pair]:
    """Iterate over the refusals of one intent that asked to wait, and what followed."""
    refusals = [request for request in requests if _wait_of(request)]
    if not refusals:
        return
    repeated = [
        refusal for refusal in refusals if _comes_with_its_key(history, refusal)
    ]
    yield from _repeated_with_their_key(history, repeated)
    with_their_key = {refusal.sequence for refusal in repeated}
    for pair in pairs_by_worker(history, requests, _wait_of, harmless=0):
        refusal = pair.earlier
        is_of_all_keys = refusal.status == 429 or refusal.idempotency_key is None
        if is_of_all_keys and refusal.sequence not in with_their_key:
            yield pair


def _repeated_with_their_key(history: History, refusals: Requests) -> Iterator[Pair]:
    for refusal in refusals:
        again = _next_with_its_key(history, refusal)
        if again is not None:
            yield Pair(refusal, again)


def _comes_with_its_key(history: History, refusal: Request) -> bool:
    return bool(refusal.idempotency_key) and len(history.attempts_of(refusal)) > 1


def _next_with_its_key(history: History, refusal: Request) -> Request | None:
    """Return the next request with the same key that was sent after the refusal."""
    for request in requests_after(history.attempts_of(refusal), refusal):
        if history.knows(request, refusal):
            return request
        if pause_ms(refusal, request) >= _IN_TRANSIT_MS:
            return request
    return None
