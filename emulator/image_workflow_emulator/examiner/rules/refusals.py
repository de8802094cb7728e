"""Rules about refusals that will not change: what a client does after one."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from operator import attrgetter
from typing import Final, NamedTuple

from image_workflow_emulator.examiner import facts
from image_workflow_emulator.examiner.history import History
from image_workflow_emulator.examiner.identity import title_of
from image_workflow_emulator.examiner.programs import MAX_PROGRAMS, Workers, workers_of
from image_workflow_emulator.examiner.request import Request, Requests
from image_workflow_emulator.examiner.rules.rule import (
    KEPT,
    Breach,
    ConductRule,
    Verdicts,
    breach,
)
from image_workflow_emulator.examiner.sequences import (
    grouped,
    is_refused_alike,
    rows_of,
)

_HARMLESS: Final = 1
"""How many repetitions of one worker may be a mistake."""
_MAX_BETWEEN: Final = 50
"""Limit of the requests between two that are looked at."""
_HOPELESS: Final = (400, 401, 402, 403, 404, 410, 422)
_OF_ALL_WRITES: Final = (401, 402, 403)


def _harmless_repetitions(workers: Workers) -> int:
    return _HARMLESS if workers.is_sure else MAX_PROGRAMS - 1


# The same request again ---------------------------------------------------------------


def retry_of_the_hopeless(history: History) -> Verdicts:
    """A request is repeated after an answer that cannot change.

    400, 401, 403, 404, 410, 422 and upload_bytes_conflict say that the request will be
    refused until something else is done first; so does 402, as long as the Team's
    Credits are what they were. One repetition may be a mistake; the second is a loop. A
    repetition counts only where it is sure to be one: it has the key of a refused
    request, or the address of its upload; or nothing but such refusals (and reads,
    between writes) comes in between on its connection. Where each request opened a
    connection of its own, as many programs may have asked once each as `MAX_PROGRAMS`.
    A pause of ten minutes of emulator time is a new attempt.
    """
    for requests in history.by_intent.values():
        for row in rows_of(requests, _is_hopeless, _ends_hopeless_row):
            loop = _loop_in(history, row.requests)
            for _ in range(len(row.requests) - loop.needless):
                yield KEPT
            if loop.needless:
                yield _repeated(loop)


RETRY_OF_THE_HOPELESS: Final = ConductRule(
    name="retry-of-the-hopeless",
    examine=retry_of_the_hopeless,
    source=(
        "Section 7, recovery: supply a valid credential; add Credits; "
        "treat as unavailable; correct the fields."
    ),
    remedy=(
        "do what the code asks for first, or tell who can; "
        "do not send the same request again"
    ),
)


class _Repetition(NamedTuple):
    """A refused request, and the same request again."""

    refused: Request
    again: Request


class _Loop(NamedTuple):
    """A request with all of its repetitions, and how many of them are too many."""

    requests: Requests
    needless: int


_NO_LOOP: Final = _Loop((), 0)


def _repeated(loop: _Loop) -> Breach:
    first = loop.requests[0]
    return breach(
        f"{title_of(first)} was repeated though "
        f"{first.status} {first.code} cannot change by itself",
        *loop.requests,
        times=loop.needless,
    )


def _is_hopeless(request: Request) -> bool:
    if request.code == "upload_bytes_conflict":
        return facts.is_answered(request, 409)
    return facts.is_answered(request, *_HOPELESS)


def _ends_hopeless_row(last: Request, request: Request) -> bool:
    return not (_is_hopeless(request) and is_refused_alike(last, request))


def _loop_in(history: History, row: Requests) -> _Loop:
    """Return the loop in a row of refusals, if there is one."""
    workers = workers_of(row)
    named = list(_named_repetitions(history, row))
    repetitions = list(_direct_repetitions(history, workers))
    if workers.is_sure:
        repetitions += named
    attempts = _successive(history, repetitions)
    harmless = _harmless_repetitions(workers)
    if len(attempts) > harmless:
        return _Loop(_requests_of(repetitions), len(attempts) - harmless)
    if len(named) > _HARMLESS:
        return _Loop(_requests_of(named), len(named) - _HARMLESS)
    return _NO_LOOP


def _direct_repetitions(history: History, workers: Workers) -> Iterator[_Repetition]:
    """Iterate over the repetitions that follow a refusal directly, at its worker."""
    for worker in workers.requests:
        for refused, again in pairwise(worker):
            if _follows_directly(history, refused, again):
                yield _Repetition(refused, again)


def _follows_directly(
    history: History,
    refused: Request,
    again: Request,
) -> bool:
    if not history.knows(again, refused):
        return False
    between = history.between(refused, again)[:_MAX_BETWEEN]
    if refused.method == "GET":
        return all(map(_is_hopeless, between))
    return all(
        _is_hopeless(request) or _is_successful_read(request) for request in between
    )


def _is_successful_read(request: Request) -> bool:
    return request.method == "GET" and facts.is_success(request)


def _named_repetitions(history: History, row: Requests) -> Iterator[_Repetition]:
    """Iterate over the repetitions that have the key or the upload of a refusal."""
    named = [
        request
        for request in row
        if request.idempotency_key is not None or request.byte_surface == "upload"
    ]
    for attempts in grouped(named, attrgetter("idempotency_key", "path")).values():
        for refused, again in pairwise(attempts):
            if history.knows(again, refused):
                yield _Repetition(refused, again)


def _successive(history: History, repetitions: Iterable[_Repetition]) -> Requests:
    """Return the repetitions in order; those that were sent at once are one attempt."""
    by_sequence = {
        repetition.again.sequence: repetition.again for repetition in repetitions
    }
    attempts: list[Request] = []
    for sequence in sorted(by_sequence):
        request = by_sequence[sequence]
        if not attempts or history.knows(request, attempts[-1]):
            attempts.append(request)
    return attempts


def _requests_of(repetitions: Iterable[_Repetition]) -> Requests:
    by_sequence: dict[int, Request] = {}
    for repetition in repetitions:
        by_sequence[repetition.refused.sequence] = repetition.refused
        by_sequence[repetition.again.sequence] = repetition.again
    return [by_sequence[sequence] for sequence in sorted(by_sequence)]


# Other writes -------------------------------------------------------------------------


def goes_on_after_refusal(history: History) -> Verdicts:
    """A batch goes on with other writes after a refusal that will meet all of them.

    401, 402 and 403 say something of the credential or its Team, not of the one write.
    A second write that is refused in the same way may have been under way; from the
    third on, nobody reads the answers. It counts if it came on a connection that had
    brought such a refusal: other programs did not see it. Where each request opened a
    connection of its own, more than `MAX_PROGRAMS` are needed. A write that succeeds,
    other Credits, and ten minutes of emulator time end the row.
    """
    for requests in history.by_client.values():
        writes = filter(facts.is_write, requests)
        for row in rows_of(writes, _is_refused, _ends_refused_row):
            yield KEPT
            others = _others_sent_on(history, row.requests)
            if others:
                first = row.requests[0]
                yield breach(
                    f"{title_of(first)} was refused with {first.status} {first.code}, "
                    f"and {len(others)} other writes were sent on",
                    first,
                    *others,
                )


GOES_ON_AFTER_REFUSAL: Final = ConductRule(
    name="goes-on-after-refusal",
    examine=goes_on_after_refusal,
    source=(
        "Section 7, recovery: supply a valid credential; add Credits, submit a new "
        "logical request; use a full credential for writes; restore the Subscription."
    ),
    remedy=(
        "stop the batch at the first 401, 402 or 403, "
        "and go on when what it asks for was done"
    ),
)


def _is_refused(request: Request) -> bool:
    return facts.is_answered(request, *_OF_ALL_WRITES)


def _ends_refused_row(last: Request, request: Request) -> bool:
    if facts.is_success(request):
        return True
    return _is_refused(request) and not is_refused_alike(last, request)


def _others_sent_on(history: History, row: Requests) -> Requests:
    """Return the other writes of a row whose program had seen the first refusal.

    Nothing if they are so few that they may have been under way.
    """
    workers = workers_of(row)
    repetitions = _repetitions_in(history, row)
    others: list[Request] = []
    for worker in workers.requests:
        first = worker[0]
        for request in worker[1:]:
            is_other = request.sequence not in repetitions
            if is_other and history.knows(request, first):
                others.append(request)
    if len(others) > _harmless_repetitions(workers):
        return others
    return ()


def _repetitions_in(history: History, row: Requests) -> set[int]:
    """Return the numbers of the requests whose intent has come before in a row."""
    repetitions: set[int] = set()
    for same in grouped(row, history.intent).values():
        repetitions.update(request.sequence for request in same[1:])
    return repetitions
