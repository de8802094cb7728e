"""`list-polled`: a list is read again and again to wait for work.

Theory of operation. The work was admitted to a client that never reads it by its address, and while it was not finished
the client read the same list of works at least four times without a longer pause, on one connection, or more often on
connections of their own. Reads of later pages are other requests.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from emulator.domain.resources import Generation
from emulator.examiner.history import PATIENCE_MS, History, by_connection
from emulator.examiner.reading import Client, client_of, is_answered, is_success, title_of, work_id_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict
from emulator.kernel.timestamps import LATEST_INSTANT
from emulator.service.record import RequestRecord

_HARMLESS: Final = 3
_MAX_PROGRAMS: Final = 5
_MAX_WORKS: Final = 50
Span = tuple[int, int]
"""From which request on, and up to which instant, some work was known and not finished."""


def _examine(history: History) -> Iterator[Verdict]:
    for operation, is_generation in (("listOperations", False), ("listGenerations", True)):
        reads = [record for record in history.by_operation.get(operation, ()) if is_success(record)]
        for client in {client_of(record) for record in reads}:
            spans = _unread(history, client, is_generation)
            lists: dict[bytes, list[RequestRecord]] = {}
            for read in reads:
                if client_of(read) == client:
                    lists.setdefault(read.query, []).append(read)
            for same in lists.values():
                yield from _judge(same, spans)


def _unread(history: History, client: Client, is_generation: bool) -> Sequence[Span]:
    """Return when the works of a client that nobody reads by their addresses were not finished."""
    looked_at = {work for _, work in history.looks}
    spans = []
    for admitted in history.with_key:
        work = history.work(work_id_of(admitted)) if is_answered(admitted, 202) else None
        is_unread = work is not None and work.id not in looked_at and isinstance(work, Generation) == is_generation
        if work is not None and is_unread and client_of(admitted) == client:
            spans.append((admitted.last_arrival, LATEST_INSTANT if work.finished_at is None else work.finished_at))
    return spans[:_MAX_WORKS]


def _judge(reads: Sequence[RequestRecord], spans: Sequence[Span]) -> Iterator[Verdict]:
    yield KEPT
    waiting = [one for one in reads if any(start < one.sequence and one.at < end for start, end in spans)]
    workers = by_connection(waiting)
    if len(workers) == len(waiting) > _MAX_PROGRAMS:
        workers = [waiting]
    for worker in workers:
        is_steady = all(later.at - earlier.left_at < PATIENCE_MS for earlier, later in pairwise(worker))
        if len(worker) > _HARMLESS and is_steady:
            message = f"{title_of(worker[0])} was read {len(worker)} times while work in it was not finished"
            yield Breach(tuple(record.sequence for record in worker), message)


RULE: Final = ConductRule(
    name="list-polled",
    severity="warning",
    source="Section 6: Progress of asynchronous work is observed by polling GET /operations/{operation_id} and "
    "GET /generations/{generation_id}.",
    remedy="poll each piece of work by its id, as its Retry-After says",
    examine=_examine,
)
