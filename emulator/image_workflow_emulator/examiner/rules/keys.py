"""Rules about one Idempotency-Key: that it comes again when it must, and only then."""

from collections import Counter
from typing import Final, NamedTuple

from image_workflow_emulator.examiner import facts
from image_workflow_emulator.examiner.facts import HUNG_UP
from image_workflow_emulator.examiner.history import History
from image_workflow_emulator.examiner.identity import title_of
from image_workflow_emulator.examiner.request import Request
from image_workflow_emulator.examiner.rules.rule import (
    KEPT,
    Breach,
    ConductRule,
    Verdicts,
    breach,
)
from image_workflow_emulator.kernel.timestamps import HOUR_MS

_RETENTION_MS: Final = 24 * HOUR_MS


class _CredentialKey(NamedTuple):
    """An Idempotency-Key, which belongs to a credential."""

    credential: str | None
    key: str | None


def key_not_sent_again(history: History) -> Verdicts:
    """A write whose effect is unknown is never repeated.

    A lost answer and a 500 leave open whether the write was carried out; its
    Idempotency-Key exists to find out. One repetition is enough, by another program
    with the same credential too. The same intent under another key is reported as
    `write-retried-with-new-key`. Whether the key never comes again is known ten minutes
    of emulator time later, or at the end. A client that hung up may have been stopped
    for good: of a write that was carried out all the same, it is a note.
    """
    if not history.attempts:  # nothing failed
        return
    times_sent = Counter(_key_of(history, request) for request in history.requests)
    for attempts in history.attempts:
        request = attempts[0]
        if request.idempotency_key is None or not facts.is_write(request):
            continue
        if not _is_effect_unknown(request):
            continue
        if times_sent[_key_of(history, request)] > 1:
            yield KEPT
        elif _is_left(history, request):
            yield _never_repeated(request)


KEY_NOT_SENT_AGAIN: Final = ConductRule(
    name="key-not-sent-again",
    examine=key_not_sent_again,
    source=(
        "Section 4: Same key and same intent: the original admission status, headers "
        "and body are replayed exactly and work is not restarted."
    ),
    remedy=(
        "send the same request with the same Idempotency-Key until its answer is known"
    ),
)


def _key_of(history: History, request: Request) -> _CredentialKey:
    credential = history.client(request).credential
    return _CredentialKey(credential, request.idempotency_key)


def _is_effect_unknown(request: Request) -> bool:
    loss = facts.loss_of(request)
    if loss == HUNG_UP:
        return request.is_committed
    return loss is not None or request.status == 500


def _is_left(history: History, request: Request) -> bool:
    """Whether a request will not come again, and its client is not excused."""
    if not history.is_over(request.left_at):
        return False
    return not (history.was_shut_out(request) or _has_other_key(history, request))


def _has_other_key(history: History, request: Request) -> bool:
    """Whether the same intent came later under another key."""
    known_after = request.last_arrival
    if facts.loss_of(request) == HUNG_UP:
        known_after = request.sequence
    for other in history.by_intent[history.intent(request)]:
        if other.sequence > known_after:
            return other.idempotency_key not in (None, request.idempotency_key)
    return False


def _never_repeated(request: Request) -> Breach:
    title = title_of(request)
    if facts.loss_of(request) == HUNG_UP:
        return breach(
            f"{title} was carried out, but its client hung up before the answer, "
            "and its key was never sent again",
            request,
            severity="note",
        )
    return breach(
        f"the answer to {title} left open if it was carried out, "
        "and its key was never sent again",
        request,
    )


def key_reused(history: History) -> Verdicts:
    """A key comes with another intent than the one that it is bound to.

    The service says so itself: 422 idempotency_key_reused. One that a scenario asked
    for does not count.
    """
    for request in history.with_key:
        if request.code == "idempotency_key_reused" and not request.is_injected:
            yield breach(
                f"{title_of(request)} came with an Idempotency-Key "
                "that belongs to another intent",
                request,
            )
        else:
            yield KEPT


KEY_REUSED: Final = ConductRule(
    name="key-reused",
    examine=key_reused,
    source="Section 4: Same key with different intent: 422 idempotency_key_reused.",
    remedy="make a new Idempotency-Key for each intent, such as a random UUID",
)


class _KeyedWrite(NamedTuple):
    """What the service binds to a key."""

    key: _CredentialKey
    method: str
    path: str


def key_after_retention(history: History) -> Verdicts:
    """A key comes again after its 24 hours, and is carried out again.

    A key is kept for 24 hours at least. What comes with it later is a new write: a job
    that is started anew the next day is carried out twice.
    """
    last_commits: dict[_KeyedWrite, Request] = {}
    for request in history.with_key:
        write = _KeyedWrite(_key_of(history, request), request.method, request.path)
        earlier = last_commits.get(write)
        if earlier is not None:
            yield _after_retention(earlier, request)
        if request.is_committed:
            last_commits[write] = request


def _after_retention(earlier: Request, later: Request) -> Breach | None:
    is_over = later.at - earlier.at >= _RETENTION_MS
    if not (later.is_committed and is_over):
        return KEPT
    return breach(
        f"{title_of(later)} came again with the same key after more than 24 hours, "
        "and was carried out again",
        earlier,
        later,
    )


KEY_AFTER_RETENTION: Final = ConductRule(
    name="key-after-retention",
    examine=key_after_retention,
    source="Section 4: Idempotency records are kept at least 24 hours.",
    remedy=(
        "finish repeating a write within 24 hours; "
        "after that, check first whether it was carried out"
    ),
)
