"""Rules about lists: their cursors, and what they are not for."""

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Final, NamedTuple

from image_workflow_emulator.examiner import facts
from image_workflow_emulator.examiner.facts import ADMIT_GENERATIONS
from image_workflow_emulator.examiner.history import History
from image_workflow_emulator.examiner.identity import (
    Client,
    query_parameters,
)
from image_workflow_emulator.examiner.programs import workers_of
from image_workflow_emulator.examiner.request import Request, Requests
from image_workflow_emulator.examiner.rules.rule import (
    KEPT,
    ConductRule,
    Verdicts,
    breach,
)
from image_workflow_emulator.examiner.sequences import follows_soon, grouped
from image_workflow_emulator.kernel.timestamps import LATEST_INSTANT

_PAGING: Final = ("limit", "after")
_HARMLESS_LISTS: Final = 3
"""How many reads of a list by one worker do no harm while work is unfinished."""
_MAX_WORKS: Final = 50
"""Limit of the works of a client that are looked at."""


# Cursors ------------------------------------------------------------------------------


class _Cursor(NamedTuple):
    """A cursor, which belongs to a list."""

    operation: str
    text: str


def cursor_with_other_filters(history: History) -> Verdicts:
    """A cursor is sent with other filters than those of the list that gave it.

    The service says that the cursor is invalid; the rule is broken if the same
    collection gave the cursor before, with other filters. A cursor that was never given
    is a mistake of another kind.
    """
    pages: dict[_Cursor, Request] = {}
    for request in history.requests:
        operation = request.operation
        if operation is None or not operation.startswith("list"):
            continue
        next_cursor = facts.next_cursor(request)
        if next_cursor is not None:
            pages[_Cursor(operation, next_cursor)] = request
        page_before = pages.get(_Cursor(operation, _cursor_of(request)))
        if page_before is None:
            continue
        if _is_invalid(request) and _filters(request) != _filters(page_before):
            yield breach(
                f"{operation} was sent with a cursor that it gave for other filters",
                request,
            )
        else:
            yield KEPT


CURSOR_WITH_OTHER_FILTERS: Final = ConductRule(
    name="cursor-with-other-filters",
    examine=cursor_with_other_filters,
    source=(
        "Section 4: An invalid or filter-mismatched cursor yields 400 invalid_cursor."
    ),
    remedy=(
        "send a cursor with the filters of the list that gave it; "
        "begin anew, without one, where they change"
    ),
)


def _cursor_of(request: Request) -> str:
    """Return the cursor that a request was sent with; empty if it had none."""
    if b"after=" not in request.query:
        return ""
    return dict(query_parameters(request)).get("after", "")


def _is_invalid(request: Request) -> bool:
    return request.code == "invalid_cursor" and not request.is_injected


def _filters(request: Request) -> list[tuple[str, str]]:
    parameters = query_parameters(request)
    return sorted(pair for pair in parameters if pair[0] not in _PAGING)


# Polling ------------------------------------------------------------------------------


def list_polled(history: History) -> Verdicts:
    """A list is read again and again to wait for work.

    The work was admitted to a client that never reads it by its address, and while it
    was not finished the client read the same list of works at least four times without
    a longer pause, on one connection, or more than `MAX_PROGRAMS` times on connections
    of their own. Reads of later pages are other requests.
    """
    yield from _polled(history, "listOperations", lists_generations=False)
    yield from _polled(history, "listGenerations", lists_generations=True)


LIST_POLLED: Final = ConductRule(
    name="list-polled",
    examine=list_polled,
    source=(
        "Section 6: Progress of asynchronous work is observed by polling "
        "GET /operations/{operation_id} and GET /generations/{generation_id}."
    ),
    remedy="poll each piece of work by its id, as its Retry-After says",
)


class _Span(NamedTuple):
    """While some work that its client never reads by its address was unfinished."""

    after: int
    """The number of the last request before its admission was answered."""
    until: int
    """The instant of its end."""

    def contains(self, request: Request) -> bool:
        """Whether a request was sent in it."""
        return self.after < request.sequence and request.at < self.until


def _polled(
    history: History,
    operation: str,
    *,
    lists_generations: bool,
) -> Verdicts:
    lists = filter(facts.is_success, history.to_operation(operation))
    same_lists = grouped(lists, lambda read: (history.client(read), read.query))
    for (client, _), reads in same_lists.items():
        yield KEPT
        unread = _unread_works(history, client, lists_generations=lists_generations)
        spans = list(islice(unread, _MAX_WORKS))
        waiting = [read for read in reads if any(span.contains(read) for span in spans)]
        workers = workers_of(waiting)
        for worker in workers.requests:
            is_often = len(worker) > workers.harmless(_HARMLESS_LISTS)
            if is_often and _has_no_long_pause(worker):
                yield breach(
                    f"{operation} was read {len(worker)} times "
                    "while work in it was not finished",
                    *worker,
                )


def _has_no_long_pause(requests: Requests) -> bool:
    return all(follows_soon(*pair) for pair in pairwise(requests))


def _unread_works(
    history: History,
    client: Client,
    *,
    lists_generations: bool,
) -> Iterator[_Span]:
    """Iterate over the works of a client that nobody reads by their address."""
    read_works = {work_id for _, work_id in history.polls}
    for request, work in history.admissions:
        is_generation = request.operation in ADMIT_GENERATIONS
        if is_generation != lists_generations or work.id in read_works:
            continue
        if history.client(request) == client:
            until = work.finished_at
            if until is None:
                until = LATEST_INSTANT
            yield _Span(request.last_arrival, until)
