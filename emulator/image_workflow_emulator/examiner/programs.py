"""How many programs stand behind one client, and which of its requests are whose.

Programs that share a credential and a User-Agent are told apart by their connections.
Where each request opened a connection of its own, up to `MAX_PROGRAMS` may have sent
them: what so many, each doing as it is told, explain is held against nobody.
"""

from collections import deque
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias

from image_workflow_emulator.examiner.history import History
from image_workflow_emulator.examiner.request import Request, Requests
from image_workflow_emulator.examiner.sequences import grouped, has_waited

MAX_PROGRAMS: Final = 5
"""How many programs may share a credential, a User-Agent and an intent."""

WaitOf: TypeAlias = Callable[[Request], int]
"""Returns how many seconds an answer asked to wait; 0 if it did not."""


class Workers(NamedTuple):
    """The requests of a client by worker, each of which has its own connection."""

    requests: list[Requests]
    is_sure: bool
    """False if all are one group, since each request had a connection of its own."""

    def harmless(self, number: int) -> int:
        """Return how many requests do no harm: a number, or one of each program."""
        return number if self.is_sure else MAX_PROGRAMS


def workers_of(requests: Requests) -> Workers:
    """Group the requests of a client by its workers."""
    by_connection = grouped(requests, attrgetter("connection"))
    is_sure = len(by_connection) < len(requests) or len(requests) == 1
    if is_sure:
        return Workers(list(by_connection.values()), is_sure=True)
    return Workers([requests], is_sure=False)


class Pair(NamedTuple):
    """An answer that asked to wait, and the next request of the same worker."""

    earlier: Request
    later: Request


def pairs_by_worker(
    history: History,
    requests: Requests,
    wait_of: WaitOf,
    harmless: int,
) -> Iterator[Pair]:
    """Iterate over the answers that asked to wait, each with the request after it.

    Where workers cannot be told apart, one that comes too early is left out, unless
    more than the harmless ones are unexplained.
    """
    workers = workers_of(requests)
    for worker in workers.requests:
        is_certain = (
            workers.is_sure or _unexplained(history, worker, wait_of) > harmless
        )
        for request in worker:
            if not wait_of(request):
                continue
            later = history.next_knowing(worker, request)
            if later is None:
                continue
            if is_certain or has_waited(request, later, wait_of(request)):
                yield Pair(request, later)


class _Waiting(NamedTuple):
    """An answer after which some program waits."""

    answer: Request
    has_come_back: bool
    """Whether the program had waited before, and may give up."""


def _unexplained(
    history: History,
    requests: Requests,
    wait_of: WaitOf,
) -> int:
    """Count the requests that programs which wait as they are told do not explain.

    These are answers after whose wait nobody came back, and programs beyond
    `MAX_PROGRAMS` that wait at one time.
    """
    waiting: deque[_Waiting] = deque()
    most_programs = 0
    for request in requests:
        has_come_back = _comes_back(waiting, request, wait_of)
        if has_come_back:
            waiting.popleft()
        if wait_of(request):
            waiting.append(_Waiting(request, has_come_back))
        most_programs = max(most_programs, len(waiting))
    surplus = max(most_programs - MAX_PROGRAMS, 0)
    gone = sum(_is_gone(history, program, wait_of) for program in waiting)
    return surplus + gone


def _comes_back(
    waiting: deque[_Waiting],
    request: Request,
    wait_of: WaitOf,
) -> bool:
    """Whether a request may be that of the program which has waited longest."""
    if not waiting:
        return False
    answer = waiting[0].answer
    return has_waited(answer, request, wait_of(answer))


def _is_gone(
    history: History,
    program: _Waiting,
    wait_of: WaitOf,
) -> bool:
    """Whether a program asked once, and did not come back after its wait."""
    if program.has_come_back:
        return False
    return history.is_wait_over(program.answer, wait_of(program.answer))
