"""How a client waits for work: whether it polls as it is told, stops at the end, and reads the work rather than lists."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from emulator.domain.resources import Generation
from emulator.examiner.history import History, by_connection, has_waited
from emulator.examiner.rules.base import KEPT, Verdicts, breach, follows_soon
from emulator.kernel.timestamps import LATEST_INSTANT
from emulator.service.record import Client, RequestRecord

_MAX_PROGRAMS: Final = 5
_HARMLESS_LOOKS: Final = 2
_HARMLESS_LISTS: Final = 3
_MAX_WORKS: Final = 50


def poll_before_retry_after(history: History) -> Verdicts:
    """Unfinished work is read again before the Retry-After of the last read is over.

    Compared are successive reads of one Operation or Generation by each worker of a client. The answer that shows
    unfinished work says how long to wait; the next read has waited if either clock moved that far. Reads that opened a
    connection each are one worker's only if that many programs would be needed to explain them. A read whose answer was
    lost is ignored.
    """
    for (_, work), looks in history.looks.items():
        for worker in history.by_worker(looks, _wait_of, _MAX_PROGRAMS):
            early: list[tuple[RequestRecord, RequestRecord]] = []
            for index, look in enumerate(worker, start=1):
                wait_seconds = _wait_of(look)
                again = history.next_knowing(worker, look, index) if wait_seconds else None
                has_kept = None if again is None else has_waited(look, again, wait_seconds)
                if has_kept:
                    yield KEPT
                elif again is not None and has_kept is not None:
                    early.append((look, again))
            if early:  # a client that never waits gives thousands
                message = f"{work} was read again before the Retry-After of {_wait_of(early[0][0])} s was over"
                yield breach(message, *(record for pair in early for record in pair), times=len(early))


def _wait_of(look: RequestRecord) -> int:
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
            if len(workers) == len(waiting) > _MAX_PROGRAMS:
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
