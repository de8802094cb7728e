"""Rules about admitted work: read to its end, as often as it asks, and no longer."""

from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Final

from image_workflow_emulator.examiner import facts
from image_workflow_emulator.examiner.history import Admission, History
from image_workflow_emulator.examiner.programs import pairs_by_worker, workers_of
from image_workflow_emulator.examiner.request import Request, Requests
from image_workflow_emulator.examiner.rules.rule import (
    KEPT,
    ConductRule,
    Verdicts,
    breach,
)
from image_workflow_emulator.examiner.sequences import (
    follows_soon,
    grouped,
    has_waited,
    is_wait_measured,
)

_HARMLESS_POLLS: Final = 2
"""How many reads after the one that showed the end do no harm."""
_HARMLESS_EARLY: Final = 1
"""How many early reads several programs may explain."""


# Too early ----------------------------------------------------------------------------


def poll_before_retry_after(history: History) -> Verdicts:
    """Unfinished work is read again before the Retry-After of the last read is over.

    Compared are successive reads of one Operation or Generation by each worker of a
    client. The answer that shows unfinished work says how long to wait; the next read
    has waited if either clock moved that far. Where each read opened a connection of
    its own, several programs may read the same work: what several that wait as they are
    told cannot explain is too early. A read whose answer was lost is ignored.
    """
    for (_, work), polls in history.polls.items():
        early: list[Request] = []
        for pair in pairs_by_worker(history, polls, _wait_of, _HARMLESS_EARLY):
            if not is_wait_measured(*pair):
                continue
            if has_waited(*pair, _wait_of(pair.earlier)):
                yield KEPT
            else:
                early += pair
        if early:  # a client that never waits gives thousands
            message = (
                f"{work} was read again before the Retry-After "
                f"of {_wait_of(early[0])} s was over"
            )
            yield breach(message, *early, times=len(early) // 2)


POLL_BEFORE_RETRY_AFTER: Final = ConductRule(
    name="poll-before-retry-after",
    examine=poll_before_retry_after,
    is_timed=True,
    source=(
        "Section 6: Progress is observed by polling until status is completed or "
        "failed, honoring Retry-After when present."
    ),
    remedy="wait as long as the Retry-After of the last read says before the next",
)


def _wait_of(poll: Request) -> int:
    """Return how many seconds a read of unfinished work asked to wait, or 0."""
    if facts.shows_end(poll) or not facts.is_answered(poll, 200):
        return 0
    return facts.retry_after(poll) or 0


# Too often ----------------------------------------------------------------------------


def poll_after_terminal(history: History) -> Verdicts:
    """Work is read again and again after its end was read.

    The first read that shows completed or failed is the end. Two more do no harm (a
    helper that reads the result again, a check before it is shown); the third is a loop
    that does not stop. Reads on other connections may be other people's who open the
    result, and are counted for each connection; where each read opened a connection of
    its own, `MAX_PROGRAMS` people may. A read after ten minutes of emulator time starts
    anew. Reads that were refused, or whose answers were lost, are not counted.
    """
    for (_, work), polls in history.polls.items():
        ends = [poll for poll in polls if facts.shows_end(poll)]
        workers = workers_of(ends)
        harmless = workers.harmless(_HARMLESS_POLLS)
        for worker in workers.requests:
            needless = _needless_reads(worker, harmless)
            for _ in range(len(worker) - 1 - len(needless)):
                yield KEPT
            if needless:
                first = worker[0]
                yield breach(
                    f"{work} was read on after request {first.sequence} "
                    f"had shown that it is {facts.work_status(first)}",
                    *needless,
                    times=len(needless),
                )


POLL_AFTER_TERMINAL: Final = ConductRule(
    name="poll-after-terminal",
    examine=poll_after_terminal,
    severity="note",
    source="Section 3: Completed and failed are terminal.",
    remedy=(
        "stop polling once status is completed or failed, "
        "and keep what the last read showed"
    ),
)


def _needless_reads(ends: Requests, harmless: int) -> Requests:
    """Return the reads of finished work beyond those that do no harm."""
    needless: list[Request] = []
    successive = 0
    for last, poll in pairwise(ends):
        if follows_soon(last, poll):
            successive += 1
        else:
            successive = 0
        if successive > harmless:
            needless.append(poll)
    return needless


# Never --------------------------------------------------------------------------------


def abandoned_work(history: History) -> Verdicts:
    """Work is admitted, and its end is never read.

    Its admission was answered, so the client knows its id. The end is read if an answer
    to any client shows it, by itself or in a list. That it will not be read is known
    ten minutes of emulator time after the end of the work, or at the end of the run.
    Work that has not finished counts only if it was never read at all: a client that
    has polled may stop. An admission that was answered after its client had sent it
    again was not heard. A last read that failed is an excuse. A client that was shut
    out, or that ended with a failure, is excused.
    """
    listed_at = _last_listed_at(history)
    polls_of = grouped(chain.from_iterable(history.polls.values()), facts.work_id)
    for admission in _first_admissions(history):
        work = admission.work
        if work.id in history.seen_to_end:
            yield KEPT
            continue
        polls = polls_of.get(work.id, ())
        if not _is_left(history, admission, polls, listed_at):
            continue
        if not _is_excused(history, admission.request, polls):
            message = f"{work.id} was admitted, and its end was never read"
            yield breach(message, admission.request)


ABANDONED_WORK: Final = ConductRule(
    name="abandoned-work",
    examine=abandoned_work,
    source=(
        "Section 6: Progress of asynchronous work is observed by polling until status "
        "is completed or failed."
    ),
    remedy="poll admitted work until it is completed or failed, as Retry-After says",
)


def _last_listed_at(history: History) -> int:
    """Return the instant of the last list of works that was answered, or 0."""
    lists = [
        *history.to_operation("listOperations"),
        *history.to_operation("listGenerations"),
    ]
    answered_at = (read.left_at for read in lists if facts.is_success(read))
    return max(answered_at, default=0)


def _first_admissions(history: History) -> Iterator[Admission]:
    """Iterate over the first answer that showed each work: replays show it again."""
    admitted: set[str] = set()
    for admission in history.admissions:
        if admission.work.id not in admitted:
            admitted.add(admission.work.id)
            yield admission


def _is_left(
    history: History,
    admission: Admission,
    polls: Requests,
    listed_at: int,
) -> bool:
    """Whether nobody will read the end of some work."""
    finished_at = admission.work.finished_at
    if finished_at is None:
        return history.has_ended and not polls
    return history.is_over(finished_at) and listed_at < finished_at


def _is_excused(
    history: History,
    admitted: Request,
    polls: Requests,
) -> bool:
    if polls and not facts.is_success(polls[-1]):
        return True
    return (
        _was_asked_again(history, admitted)
        or history.was_shut_out(admitted)
        or history.ended_in_failure(admitted)
    )


def _was_asked_again(history: History, admitted: Request) -> bool:
    """Whether the same request had come again when its admission was answered.

    Its client had hung up.
    """
    for request in history.attempts_of(admitted):
        if admitted.sequence < request.sequence <= admitted.last_arrival:
            return True
    return False
