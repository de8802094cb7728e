"""How a client asks again: whether it waits, backs off, stops and does not give up, and how it polls what takes its time."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from image_workflow_emulator.domain.problems import MENDED_BY_TIME
from image_workflow_emulator.domain.resources import Generation
from image_workflow_emulator.examiner.history import (
    PATIENCE_MS,
    History,
    by_connection,
    has_waited,
    is_wait_measured,
    pauses_ms,
)
from image_workflow_emulator.examiner.rules.rule import KEPT, Verdicts, breach, follows_soon, rows_of
from image_workflow_emulator.kernel.timestamps import HOUR_MS, LATEST_INSTANT, SECOND_MS
from image_workflow_emulator.service.records.record import Client, Records, RequestRecord

_FREED_BY_WORK: Final = ("concurrency_limit_reached", "resource_operation_in_progress")
_MAX_PROGRAMS: Final = 3
_MAX_POLLING: Final = 5
_HARMLESS_LOOKS: Final = 2
_HARMLESS_LISTS: Final = 3
_MAX_WORKS: Final = 50
_LONG_WAIT_SECONDS: Final = 60
_MAX_REPETITIONS: Final = 20
_ROW: Final = 4
_SPREADS: Final = ((6, 1.08), (5, 1.06), (4, 1.02))
"""Numbers of pauses, each with how many times the shortest the longest is at most, if that many or more are equal."""
_GROWN: Final = 1.3
"""A later pause so many times the equal ones shows that they grow."""
_NOTHING_MS: Final = ((3, 4), (4, 20), (6, 40), (8, 60))
"""Numbers of successive pauses, each with the limit in milliseconds up to which all of them count as no pause."""


def retry_before_retry_after(history: History) -> Verdicts:
    """The same request comes again before the Retry-After of its refusal is over.

    A repetition has the client, method, address and body of a request that got 429, 503 or 409 with a Retry-After, and
    its key, if it has one. After a 429 another key makes no difference, provided the first never comes again: of two like
    requests that are both repeated, neither repeats the other. The wait is kept if either clock, the emulator's or the
    host's, moved that far. What has another key, or none, is a repetition only on the same connection: on another it may
    come from another program. Requests that opened a connection each are one program's only if more programs would be
    needed to explain them. Where the budget of concurrent work was exhausted, the end of some work is as good as the wait;
    so is the end of the Operation that a 409 named.
    """
    for records in history.by_intent.values():
        if not any(map(_wait_of, records)):
            continue
        by_worker = history.by_worker(records, _wait_of, _MAX_PROGRAMS)
        workers = {record.sequence: worker for worker in by_worker for record in worker}
        for record in records:
            wait = _wait_of(record)
            again = _repetition(history, record, workers.get(record.sequence, ())) if wait else None
            has_kept = None if again is None else has_waited(record, again, wait)
            if again is None or has_kept is None:
                continue
            if has_kept or (record.code in _FREED_BY_WORK and history.saw_work_end(record, again)):
                yield KEPT
            else:
                asked = f"the Retry-After of {wait} s of the {record.status} {record.code}"
                message = f"{record.title} was sent again before {asked} was over"
                yield breach(message, record, again, severity="error" if record.status == 429 else None)


def _wait_of(record: RequestRecord) -> int:
    """Return how many seconds a refusal asked to wait; 0 if it did not."""
    return (record.retry_after or 0) if record.is_answered(409, 429, 503) else 0


def _repetition(history: History, record: RequestRecord, worker: Records) -> RequestRecord | None:
    same_key = history.same_request(record)
    if record.idempotency_key is not None and len(same_key) > 1:
        return history.next_knowing(same_key, record)
    return history.next_knowing(worker, record) if record.status == 429 or record.idempotency_key is None else None


def no_backoff(history: History) -> Verdicts:
    """A request fails again and again, and is sent again each time after the same pause, or none.

    The failures that count are those that a repetition can cure and that have no Retry-After: a 500, a broken connection,
    half an answer, garbage. From four of them in a row on, the pauses after them are judged, the one before the answer that
    ended the row included; a pause is measured by the clock that moved farther, the emulator's or the host's. Jitter makes
    pauses unequal, and a cap makes late ones equal: so the rule is broken if the pauses are nearly equal from the first on,
    or from the second on after a first one that was slower, and no later one is longer. The fewer pauses there are, the
    more equal they must be: a sound client, whatever its jitter, has such a row less than once in 10,000
    (tests/examiner/test_backoff.py). On a busy machine no pause at all takes some milliseconds: the longer the row, the
    more of them are nothing. A 409 counts as well, but only the pauses that are none: a client that polls the Operation in
    the way may do so at equal intervals, and with a new key (D10). A stalled connection ends the row, since it is not known
    when its client gave up.
    """
    blocked = [records for records in history.by_intent.values() if any(map(_is_blocked, records))]
    known = {record.sequence for records in blocked for record in records}
    others = (records for records in history.requests if records[0].sequence not in known)

    def follows(last: RequestRecord, record: RequestRecord) -> bool:
        return history.knows(record, last) and is_wait_measured(last, record)

    for records in (*blocked, *others):
        rows = rows_of(records, _is_failure, lambda last, one: not (follows(last, one) and _is_failure(one)))
        for row, end in rows if len(records) >= _ROW else ():
            if len(row) >= _ROW:
                message = f"{row[0].title} failed {len(row)} times in a row, and the pauses between did not grow"
                is_even = _is_even([*row, end] if end is not None and follows(row[-1], end) else row)
                yield breach(message, *row) if is_even else KEPT


def _is_blocked(record: RequestRecord) -> bool:
    return record.code == "resource_operation_in_progress"


def _is_failure(record: RequestRecord) -> bool:
    loss = record.lost_how
    if loss is not None:
        return loss not in ("stall", "abandoned")
    return record.code in MENDED_BY_TIME and record.retry_after is None


def _is_even(row: Records) -> bool:
    pauses = [max(pauses_ms(*pair)) for pair in pairwise(row)]
    return has_no_pause(pauses) or (all(record.status != 409 for record in row) and does_not_grow(pauses))


def does_not_grow(pauses: Sequence[float]) -> bool:
    """Whether successive pauses, in milliseconds, are nearly equal, maybe after a first one that was longer."""
    return _are_equal(pauses) or (pauses[0] > pauses[1] and _are_equal(pauses[1:]))


def has_no_pause(pauses: Sequence[float]) -> bool:
    """Whether enough successive pauses, in milliseconds, are nothing."""
    return any(
        max(pauses[start : start + length]) <= limit_ms
        for length, limit_ms in _NOTHING_MS
        for start in range(len(pauses) - length + 1)
    )


def _are_equal(pauses: Sequence[float]) -> bool:
    if not pauses or max(pauses) > min(pauses) * _GROWN:
        return False
    return any(
        len(pauses) >= least and max(pauses[:least]) <= min(pauses[:least]) * spread for least, spread in _SPREADS
    )


def retries_without_end(history: History) -> Verdicts:
    """A request is repeated again and again after the same kind of failure.

    Whoever has tried 20 times, or for an hour, has to tell somebody. The time that Retry-After asked for does not count
    for the hour, nor does any time on an auto clock. What has no key and comes again after ten minutes of emulator time is
    a new attempt, as of a job that runs now and then.
    """
    for records in history.requests:
        rows = rows_of(records, _kind, lambda last, one: _is_new(last, one) or _kind(one) != _kind(last))
        for row, end in rows:
            whole = row if end is None or _is_new(row[-1], end) else [*row, end]
            if len(whole) > 1:
                took_ms = sum(_pause_ms(*pair) for pair in pairwise(whole))
                is_endless = len(whole) - 1 > _MAX_REPETITIONS or took_ms > HOUR_MS
                how = "its answer was lost" if row[0].lost_how else f"{row[0].status} {row[0].code}"
                message = f"{row[0].title} was repeated {len(whole) - 1} times after the same failure: {how}"
                yield breach(message, *whole) if is_endless else KEPT


def _kind(record: RequestRecord) -> str | None:
    """Return the kind of a failure that a repetition may mend; None for any other answer."""
    return record.lost_how or (record.code if record.code in MENDED_BY_TIME else None)


def _is_new(last: RequestRecord, record: RequestRecord) -> bool:
    return record.idempotency_key is None and _pause_ms(last, record) >= PATIENCE_MS


def _pause_ms(earlier: RequestRecord, later: RequestRecord) -> int:
    """Return the pause between two requests by the emulator's clock, but for what was asked for."""
    asked_ms = (earlier.retry_after or 0) * SECOND_MS
    return max(later.at - earlier.left_at - asked_ms, 0) if is_wait_measured(earlier, later) else 0


def gave_up_on_retryable(history: History) -> Verdicts:
    """A request that got 429 or 503 is never sent again.

    The answer says that the same request will succeed later. A client may stop that has sent it again at least once, that
    was asked to wait for more than a minute, whose credential was refused meanwhile, or that sent the same request with
    another key or query. Whether the request never comes again is known ten minutes of emulator time after its
    Retry-After, or at the end of the run.
    """
    last_reads = {(one.client, one.path): one.sequence for one in history.records if one.method == "GET"}
    for records in history.by_intent.values():
        refused = [record.is_answered(429, 503) for record in records]
        yield from [KEPT] * sum(refused[:-1])
        record = records[-1]
        wait_seconds = record.retry_after or 0
        if refused[-1] and history.is_over(record.left_at + wait_seconds * SECOND_MS):
            is_excused = (
                refused[-2:] == [True, True]
                or any(one.is_success for one in history.same_request(record) if record.idempotency_key)
                or wait_seconds > _LONG_WAIT_SECONDS
                or history.was_shut_out(record)
                or (record.method == "GET" and last_reads[record.client, record.path] > record.sequence)
            )
            message = f"{record.title} was refused with {record.status} {record.code} and never sent again"
            yield KEPT if is_excused else breach(message, record)


# Work that is waited for ------------------------------------------------------------------------------------------------


def poll_before_retry_after(history: History) -> Verdicts:
    """Unfinished work is read again before the Retry-After of the last read is over.

    Compared are successive reads of one Operation or Generation by each worker of a client. The answer that shows
    unfinished work says how long to wait; the next read has waited if either clock moved that far. Reads that opened a
    connection each are one worker's only if that many programs would be needed to explain them. A read whose answer was
    lost is ignored.
    """
    for (_, work), looks in history.looks.items():
        for worker in history.by_worker(looks, _poll_wait, _MAX_POLLING):
            kept, early = list[RequestRecord](), list[RequestRecord]()
            for index, look in enumerate(worker, start=1):
                again = history.next_knowing(worker, look, index) if _poll_wait(look) else None
                if again is not None and is_wait_measured(look, again):
                    (kept if has_waited(look, again, _poll_wait(look)) else early).extend((look, again))
            yield from [KEPT] * (len(kept) // 2)
            if early:  # a client that never waits gives thousands
                message = f"{work} was read again before the Retry-After of {_poll_wait(early[0])} s was over"
                yield breach(message, *early, times=len(early) // 2)


def _poll_wait(look: RequestRecord) -> int:
    """Return how many seconds a look at unfinished work asked to wait; 0 if it did not."""
    return 0 if look.shows_end or not look.is_answered(200) else look.retry_after or 0


def poll_after_terminal(history: History) -> Verdicts:
    """Work is read again and again after its end was read.

    The first read that shows completed or failed is the end. Two more do no harm (a helper that reads the result again, a
    check before it is shown); the third is a loop that does not stop. Reads on other connections may be other people's who
    open the result, and are counted for each connection. A read after ten minutes of emulator time starts anew. Reads that
    were refused, or whose answers were lost, are not counted.
    """
    for (_, work), looks in history.looks.items():
        for ends in by_connection(look for look in looks if look.shows_end):
            number, needless = 0, list[RequestRecord]()
            for last, look in pairwise(ends):
                number = number + 1 if follows_soon(last, look) else 0
                if number <= _HARMLESS_LOOKS:
                    yield KEPT
                else:
                    needless.append(look)
            if needless:
                end = f"request {ends[0].sequence} had shown that it is {ends[0].shown_status}"
                yield breach(f"{work} was read on after {end}", *needless, times=len(needless))


def list_polled(history: History) -> Verdicts:
    """A list is read again and again to wait for work.

    The work was admitted to a client that never reads it by its address, and while it was not finished the client read
    the same list of works at least four times without a longer pause, on one connection, or more often on connections of
    their own. Reads of later pages are other requests.
    """
    for operation, is_generation in (("listOperations", False), ("listGenerations", True)):
        lists: dict[tuple[Client, bytes], list[RequestRecord]] = {}
        for read in history.by_operation.get(operation, ()):
            if read.is_success:
                lists.setdefault((read.client, read.query), []).append(read)
        for (client, _), reads in lists.items():
            yield KEPT
            spans = _unread(history, client, is_generation)
            waiting = [one for one in reads if any(start < one.sequence and one.at < end for start, end in spans)]
            workers = by_connection(waiting)
            if len(workers) == len(waiting) > _MAX_POLLING:
                workers = [waiting]
            for worker in workers:
                if len(worker) > _HARMLESS_LISTS and all(follows_soon(*pair) for pair in pairwise(worker)):
                    message = f"{worker[0].title} was read {len(worker)} times while work in it was not finished"
                    yield breach(message, *worker)


def _unread(history: History, client: Client, is_generation: bool) -> Sequence[tuple[int, int]]:
    """Return of the works of a client that nobody reads by address: after which request, and up to when, they were unfinished."""
    looked_at = {work for _, work in history.looks}
    spans = []
    for admitted in history.with_key:
        work = history.work(admitted.named_work_id) if admitted.is_answered(202) else None
        is_unread = work is not None and work.id not in looked_at and isinstance(work, Generation) == is_generation
        if work is not None and is_unread and admitted.client == client:
            spans.append((admitted.last_arrival, LATEST_INSTANT if work.finished_at is None else work.finished_at))
    return spans[:_MAX_WORKS]
