"""Rules about repeated requests: waits, backoff, limits of retries, and the polling of work."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from image_workflow_emulator.domain.problems import MENDED_BY_TIME
from image_workflow_emulator.domain.resources import Generation
from image_workflow_emulator.examiner import facts
from image_workflow_emulator.examiner.facts import (
    HUNG_UP,
    MAX_PROGRAMS,
    Client,
    Records,
)
from image_workflow_emulator.examiner.history import PATIENCE_MS, History, WaitOf
from image_workflow_emulator.examiner.rules.rule import (
    KEPT,
    Verdicts,
    breach,
    follows_soon,
    rows_of,
)
from image_workflow_emulator.kernel.timestamps import HOUR_MS, LATEST_INSTANT, SECOND_MS
from image_workflow_emulator.service.records.record import RequestRecord

_BLOCKED: Final = "resource_operation_in_progress"
_FREED_BY_WORK: Final = ("concurrency_limit_reached", _BLOCKED)
_HARMLESS_POLLS: Final = 2
_HARMLESS_LISTS: Final = 3
_MAX_WORKS: Final = 50
_LONG_WAIT_SECONDS: Final = 60
_MAX_REPETITIONS: Final = 20
_ROW: Final = 4
_MAX_PAUSES: Final = 12
_GROWN: Final = 1.3
"""Pauses grow if the sum of their last third is at least this many times that of the first third."""
_SPREADS: Final = {
    4: 1.02,
    5: 1.06,
    6: 1.12,
    7: 1.15,
    8: 1.18,
    9: 1.27,
    10: 1.35,
    11: 1.4,
    12: 1.4,
}
"""How many times the shortest the others are at most, if pauses are equal, by their number."""
_NOTHING_MS: Final = ((3, 6), (4, 40), (6, 200), (8, 400))
"""Numbers of successive pauses, each with the limit of their sum up to which they count as no pause."""

Pair = tuple[RequestRecord, RequestRecord]
"""An answer that asked to wait, and the request that came next."""


def retry_before_retry_after(history: History) -> Verdicts:
    """The same request comes again before the Retry-After of its refusal is over.

    A repetition has the client, method, address and body of a request that got 429, 503 or 409 with a Retry-After, and
    its key, if it has one. After a 429 another key makes no difference, provided the first never comes again: of two
    like requests that are both repeated, neither repeats the other. The wait is kept if either clock, the emulator's or
    the host's, moved that far. What has another key, or none, is a repetition on the same connection; where each
    request opened a connection of its own, if some refusal was followed by no request in time: its program gave up at
    once, or it is the one that came too early. Where the budget of concurrent work was exhausted, the end of some work
    is as good as the wait; so is the end of the Operation that a 409 named.
    """
    for records in history.by_intent.values():
        for pair in _retries(history, records):
            record = pair[0]
            wait = _wait_of(record)
            if not facts.is_wait_measured(*pair):
                continue
            if facts.has_waited(*pair, wait) or (
                record.code in _FREED_BY_WORK and history.saw_work_end(*pair)
            ):
                yield KEPT
            else:
                asked = (
                    f"the Retry-After of {wait} s of the {record.status} {record.code}"
                )
                message = (
                    f"{facts.title(record)} was sent again before {asked} was over"
                )
                yield breach(
                    message, *pair, severity="error" if record.status == 429 else None
                )


def _wait_of(record: RequestRecord) -> int:
    """Return how many seconds a refusal asked to wait; 0 if it did not."""
    return (
        (facts.retry_after(record) or 0)
        if facts.is_answered(record, 409, 429, 503)
        else 0
    )


def _retries(history: History, records: Records) -> Iterator[Pair]:
    """Iterate over the refusals among like requests that asked to wait, each with its repetition."""
    refused = [record for record in records if _wait_of(record)]
    has_own = {
        one.sequence
        for one in refused
        if one.idempotency_key and len(history.same_request(one)) > 1
    }
    for record in refused:
        again = (
            history.next_knowing(history.same_request(record), record)
            if record.sequence in has_own
            else None
        )
        if again is not None:
            yield record, again
    for record, again in _by_worker(history, records, _wait_of, 0) if refused else ():
        if record.sequence not in has_own and (
            record.status == 429 or record.idempotency_key is None
        ):
            yield record, again


def _by_worker(
    history: History, records: Records, wait_of: WaitOf, harmless: int
) -> Iterator[Pair]:
    """Iterate over the answers that asked to wait, each with the next request of its worker.

    Where workers cannot be told apart, one that comes too early is left out unless more than some are unexplained.
    """
    workers, is_sure = facts.workers_of(records)
    for worker in workers:
        pairs = [
            (record, history.next_knowing(worker, record))
            for record in worker
            if wait_of(record)
        ]
        is_certain = is_sure or history.unexplained(worker, wait_of) > harmless
        yield from (
            (record, again)
            for record, again in pairs
            if again is not None
            and (is_certain or facts.has_waited(record, again, wait_of(record)))
        )


def no_backoff(history: History) -> Verdicts:
    """A request fails again and again, and is sent again each time after pauses that do not grow, or none.

    The failures that count are those that a repetition can cure and that have no Retry-After: a 500, a broken
    connection, half an answer, garbage. From four of them in a row on, the pauses after them are judged, the one before
    the answer that ended the row included; a pause is measured by the clock that moved farther, the emulator's or the
    host's. The rule is broken if their sum is next to nothing, or if those of the last third are no longer than those
    of the first, and all but the longest lie as close together as chance hardly ever brings them: where jitter leaves
    it open, nothing is said. A sound client, whatever its jitter, is accused less than once in 10,000 times
    (tests/examiner/test_false_alarms.py). A 409 counts as well, but only by the sum: a client that polls the Operation
    in the way may do so at equal intervals, and with a new key (D10). A stalled connection ends the row, since it is
    not known when its client gave up.
    """
    blocked = [
        records
        for records in history.by_intent.values()
        if any(one.code == _BLOCKED for one in records)
    ]
    known = {record.sequence for records in blocked for record in records}
    others = (
        records for records in history.requests if records[0].sequence not in known
    )

    def follows(last: RequestRecord, record: RequestRecord) -> bool:
        return history.knows(record, last) and facts.is_wait_measured(last, record)

    for records in (*blocked, *others):
        rows = rows_of(
            records,
            _is_failure,
            lambda last, one: not (follows(last, one) and _is_failure(one)),
        )
        for row, end in rows if len(records) >= _ROW else ():
            if len(row) >= _ROW:
                title = facts.title(row[0])
                message = f"{title} failed {len(row)} times in a row, and the pauses between did not grow"
                whole = (
                    [*row, end] if end is not None and follows(row[-1], end) else row
                )
                pauses = [max(facts.pauses_ms(*pair)) for pair in pairwise(whole)]
                is_blocked = any(record.status == 409 for record in row)
                is_bad = has_no_pause(pauses) or (
                    not is_blocked and does_not_grow(pauses)
                )
                yield breach(message, *row) if is_bad else KEPT


def _is_failure(record: RequestRecord) -> bool:
    loss = facts.lost_how(record)
    if loss is not None:
        return loss not in ("stall", HUNG_UP)
    return record.code in MENDED_BY_TIME and facts.retry_after(record) is None


def does_not_grow(pauses: Sequence[float]) -> bool:
    """Whether successive pauses, in milliseconds, are those of a client that waits equally long each time.

    A busy machine only makes a pause longer: of six and more, the longest quarter does not count.
    """
    pauses = pauses[:_MAX_PAUSES]
    if len(pauses) not in _SPREADS:
        return False
    late = len(pauses) // 4 if len(pauses) > 5 else 0
    longest = sorted(pauses)[-1 - late]
    most = [pause for pause in pauses if pause <= longest]
    third = len(most) // 3
    return (
        sum(most[-third:]) < sum(most[:third]) * _GROWN
        and longest <= min(most) * _SPREADS[len(pauses)]
    )


def has_no_pause(pauses: Sequence[float]) -> bool:
    """Whether successive pauses, in milliseconds, are next to nothing together."""
    return any(
        sum(pauses[start : start + length]) <= limit_ms
        for length, limit_ms in _NOTHING_MS
        for start in range(len(pauses) - length + 1)
    )


def retries_without_end(history: History) -> Verdicts:
    """A request is repeated again and again after the same kind of failure.

    A client that has tried 20 times, or for an hour, has to tell somebody. The time that Retry-After asked for does not
    count for the hour, nor does any time on an auto clock. What has no key and comes again after ten minutes of
    emulator time is a new attempt, as of a job that runs now and then.
    """
    for records in history.requests:
        rows = rows_of(
            records,
            _kind,
            lambda last, one: _is_new(last, one) or _kind(one) != _kind(last),
        )
        for row, end in rows:
            whole = row if end is None or _is_new(row[-1], end) else [*row, end]
            if len(whole) > 1:
                took_ms = sum(_pause_ms(*pair) for pair in pairwise(whole))
                is_endless = len(whole) - 1 > _MAX_REPETITIONS or took_ms > HOUR_MS
                how = (
                    "its answer was lost"
                    if facts.lost_how(row[0])
                    else f"{row[0].status} {row[0].code}"
                )
                message = f"{facts.title(row[0])} was repeated {len(whole) - 1} times after the same failure: {how}"
                yield breach(message, *whole) if is_endless else KEPT


def _kind(record: RequestRecord) -> str | None:
    """Return the kind of a failure that a repetition may mend; None for any other answer."""
    return facts.lost_how(record) or (
        record.code if record.code in MENDED_BY_TIME else None
    )


def _is_new(last: RequestRecord, record: RequestRecord) -> bool:
    return record.idempotency_key is None and _pause_ms(last, record) >= PATIENCE_MS


def _pause_ms(earlier: RequestRecord, later: RequestRecord) -> int:
    """Return the pause between two requests by the emulator's clock, but for what was asked for."""
    asked_ms = (facts.retry_after(earlier) or 0) * SECOND_MS
    return (
        max(later.at - earlier.left_at - asked_ms, 0)
        if facts.is_wait_measured(earlier, later)
        else 0
    )


def gave_up_on_retryable(history: History) -> Verdicts:
    """A request that got 429 or 503 is never sent again.

    The answer says that the same request will succeed later. A client may stop that has sent it again at least once,
    that was asked to wait for more than a minute, whose credential was refused meanwhile, or that sent the same request
    with another key or query. Whether the request never comes again is known ten minutes of emulator time after its
    Retry-After, or at the end of the run.
    """
    last_reads = {
        (history.client(one), one.path): one.sequence
        for one in history.records
        if one.method == "GET"
    }
    for records in history.by_intent.values():
        refused = [facts.is_answered(record, 429, 503) for record in records]
        yield from [KEPT] * sum(refused[:-1])
        record = records[-1]
        wait_seconds = facts.retry_after(record) or 0
        if refused[-1] and history.is_over(record.left_at + wait_seconds * SECOND_MS):
            is_excused = (
                refused[-2:] == [True, True]
                or any(
                    facts.is_success(one)
                    for one in history.same_request(record)
                    if record.idempotency_key
                )
                or wait_seconds > _LONG_WAIT_SECONDS
                or history.was_shut_out(record)
                or (
                    record.method == "GET"
                    and last_reads[history.client(record), record.path]
                    > record.sequence
                )
            )
            message = f"{facts.title(record)} was refused with {record.status} {record.code} and never sent again"
            yield KEPT if is_excused else breach(message, record)


# Work that is waited for ----------------------------------------------------------------------------------------------


def poll_before_retry_after(history: History) -> Verdicts:
    """Unfinished work is read again before the Retry-After of the last read is over.

    Compared are successive reads of one Operation or Generation by each worker of a client. The answer that shows
    unfinished work says how long to wait; the next read has waited if either clock moved that far. Where each read
    opened a connection of its own, several programs may read the same work: what several that wait as they are told
    cannot explain is too early. A read whose answer was lost is ignored.
    """
    for (_, work), polls in history.polls.items():
        pairs = [
            pair
            for pair in _by_worker(history, polls, _poll_wait, 1)
            if facts.is_wait_measured(*pair)
        ]
        early = [
            pair for pair in pairs if not facts.has_waited(*pair, _poll_wait(pair[0]))
        ]
        yield from [KEPT] * (len(pairs) - len(early))
        if early:  # a client that never waits gives thousands
            message = f"{work} was read again before the Retry-After of {_poll_wait(early[0][0])} s was over"
            yield breach(
                message,
                *(record for pair in early for record in pair),
                times=len(early),
            )


def _poll_wait(poll: RequestRecord) -> int:
    """Return how many seconds a read of unfinished work asked to wait; 0 if it did not."""
    return (
        0
        if facts.shows_end(poll) or not facts.is_answered(poll, 200)
        else facts.retry_after(poll) or 0
    )


def poll_after_terminal(history: History) -> Verdicts:
    """Work is read again and again after its end was read.

    The first read that shows completed or failed is the end. Two more do no harm (a helper that reads the result again,
    a check before it is shown); the third is a loop that does not stop. Reads on other connections may be other
    people's who open the result, and are counted for each connection; where each read opened a connection of its own,
    `MAX_PROGRAMS` people may. A read after ten minutes of emulator time starts anew. Reads that were refused, or whose
    answers were lost, are not counted.
    """
    for (_, work), polls in history.polls.items():
        ends = [poll for poll in polls if facts.shows_end(poll)]
        workers, is_sure = facts.workers_of(ends)
        harmless = _HARMLESS_POLLS if is_sure else MAX_PROGRAMS
        for worker in workers:
            number, needless = 0, list[RequestRecord]()
            for last, poll in pairwise(worker):
                number = number + 1 if follows_soon(last, poll) else 0
                if number <= harmless:
                    yield KEPT
                else:
                    needless.append(poll)
            if needless:
                end = f"request {worker[0].sequence} had shown that it is {facts.shown_status(worker[0])}"
                yield breach(
                    f"{work} was read on after {end}", *needless, times=len(needless)
                )


def list_polled(history: History) -> Verdicts:
    """A list is read again and again to wait for work.

    The work was admitted to a client that never reads it by its address, and while it was not finished the client read
    the same list of works at least four times without a longer pause, on one connection, or more than `MAX_PROGRAMS`
    times on connections of their own. Reads of later pages are other requests.
    """
    for operation, is_generation in (
        ("listOperations", False),
        ("listGenerations", True),
    ):
        lists = filter(facts.is_success, history.by_operation.get(operation, ()))
        for (client, _), reads in facts.grouped(
            lists, lambda read: (history.client(read), read.query)
        ).items():
            yield KEPT
            spans = _unread(history, client, is_generation)
            workers, is_sure = facts.workers_of(
                [
                    one
                    for one in reads
                    if any(
                        start < one.sequence and one.at < end for start, end in spans
                    )
                ]
            )
            harmless = _HARMLESS_LISTS if is_sure else MAX_PROGRAMS
            for worker in workers:
                if len(worker) > harmless and all(
                    follows_soon(*pair) for pair in pairwise(worker)
                ):
                    message = f"{facts.title(worker[0])} was read {len(worker)} times while work in it was not finished"
                    yield breach(message, *worker)


def _unread(
    history: History, client: Client, is_generation: bool
) -> Sequence[tuple[int, int]]:
    """Return of the works of a client that nobody reads by address: after which request, and up to when, they were
    unfinished.
    """
    read = {work for _, work in history.polls}
    spans = []
    for admitted, work in history.admitted:
        is_unread = (
            work.id not in read and isinstance(work, Generation) == is_generation
        )
        if is_unread and history.client(admitted) == client:
            spans.append(
                (
                    admitted.last_arrival,
                    LATEST_INSTANT if work.finished_at is None else work.finished_at,
                )
            )
    return spans[:_MAX_WORKS]
