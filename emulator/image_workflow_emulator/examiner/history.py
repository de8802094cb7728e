"""The history of a sandbox, as the rules of conduct need it.

It groups the requests, and says what a client knew when it sent one. It is made for one
examination, and then discarded. Must not know any rule.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from itertools import filterfalse
from operator import attrgetter
from typing import Final, NamedTuple

from image_workflow_emulator.examiner import facts
from image_workflow_emulator.examiner.facts import POLLS
from image_workflow_emulator.examiner.identity import (
    Client,
    Intent,
    client_of,
    intent_of,
)
from image_workflow_emulator.examiner.request import (
    Outcomes,
    Request,
    Requests,
    Upload,
    Work,
)
from image_workflow_emulator.examiner.sequences import PATIENCE_MS, grouped, pause_ms
from image_workflow_emulator.kernel.timestamps import SECOND_MS

AT_ONCE_MS: Final = 500
"""Requests that follow each other faster may have been sent at once."""
_MAX_CONCURRENT: Final = 100
"""Limit of the concurrent requests that are looked at."""
_REFUSED_CREDENTIAL: Final = (401, 403)

_sequence_of = attrgetter("sequence")
_connection_of = attrgetter("connection")
_key_of = attrgetter("idempotency_key")
_operation_of = attrgetter("operation")


class Admission(NamedTuple):
    """The request whose answer showed admitted work, and that work as it is now."""

    request: Request
    work: Work


class History:
    """The requests to a sandbox in the order of arrival."""

    def __init__(
        self,
        requests: Requests,
        outcomes: Outcomes,
        now: int,
        *,
        has_ended: bool = False,
        was_interrupted: bool = False,
    ) -> None:
        """Sort the requests, of which no more will come if `has_ended`.

        A client that `was_interrupted` had no chance to finish, so nothing of what it
        did not do counts.
        """
        self.requests: Requests = sorted(requests, key=_sequence_of)
        self._outcomes = outcomes
        self._now = now
        self.has_ended = has_ended and not was_interrupted
        self._was_interrupted = was_interrupted
        self.client: Callable[[Request], Client] = cache(client_of)
        self.intent: Callable[[Request], Intent] = cache(intent_of)

    # Groups ---------------------------------------------------------------------------

    @cached_property
    def by_operation(self) -> Mapping[str | None, Requests]:
        """The requests to each operation; under None those to no operation."""
        return grouped(self.requests, _operation_of)

    def to_operation(self, operation: str) -> Requests:
        """Return the requests to an operation."""
        return self.by_operation.get(operation, ())

    def to_bytes(self) -> Requests:
        """Return the requests for bytes: uploads and downloads."""
        to_no_operation = self.by_operation.get(None, ())
        return [
            request for request in to_no_operation if request.byte_surface is not None
        ]

    @cached_property
    def by_client(self) -> Mapping[Client, Requests]:
        """The requests of each client."""
        return grouped(self.requests, self.client)

    @cached_property
    def _by_connection(self) -> Mapping[str | None, Requests]:
        return grouped(self.requests, _connection_of)

    @cached_property
    def with_key(self) -> Requests:
        """The requests to operations that had an Idempotency-Key."""
        return [
            request
            for request in self.requests
            if request.operation is not None and request.idempotency_key is not None
        ]

    @cached_property
    def by_intent(self) -> Mapping[Intent, Requests]:
        """The requests of each intent, whatever their keys.

        Only of paths at which some request failed.
        """
        failures = filterfalse(facts.is_success, self.requests)
        failing_paths = {request.path for request in failures}
        requests = [
            request for request in self.requests if request.path in failing_paths
        ]
        return grouped(requests, self.intent)

    @cached_property
    def attempts(self) -> list[Requests]:
        """Each request with its repetitions: those with its key, if it has one.

        Only of paths at which some request failed.
        """
        attempts: list[Requests] = []
        for requests in self.by_intent.values():
            attempts += grouped(requests, _key_of).values()
        return attempts

    @cached_property
    def _attempts_by_sequence(self) -> Mapping[int, Requests]:
        by_sequence: dict[int, Requests] = {}
        for attempts in self.attempts:
            for request in attempts:
                by_sequence[request.sequence] = attempts
        return by_sequence

    def attempts_of(self, request: Request) -> Requests:
        """Return a request with its repetitions; nothing where nothing failed."""
        return self._attempts_by_sequence.get(request.sequence, ())

    # Work -----------------------------------------------------------------------------

    @cached_property
    def polls(self) -> Mapping[tuple[Client, str], Requests]:
        """The reads of each work, by client and id."""
        reads: list[Request] = []
        for operation in POLLS:
            reads += self.to_operation(operation)

        def client_and_work(read: Request) -> tuple[Client, str]:
            return self.client(read), str(facts.work_id(read))

        return grouped(reads, client_and_work)

    @cached_property
    def ends(self) -> Requests:
        """The requests whose answers showed the end of some work."""
        return [request for request in self.requests if facts.shows_end(request)]

    @cached_property
    def seen_to_end(self) -> frozenset[str | None]:
        """The ids of the work whose end some answer showed."""
        return frozenset(facts.work_id(request) for request in self.ends)

    @cached_property
    def admissions(self) -> list[Admission]:
        """The requests whose answers showed admitted work, with that work."""
        admissions: list[Admission] = []
        for request in self.with_key:
            if not facts.is_answered(request, 202):
                continue
            work = self.work_of(request)
            if work is not None:
                admissions.append(Admission(request, work))
        return admissions

    @cached_property
    def orders(self) -> Mapping[Intent, Requests]:
        """The requests that admitted work, by intent.

        Nothing, if no other request ever came before the answer to one of them.
        """
        orders = [
            request
            for request in self.with_key
            if request.is_committed and request.status == 202
        ]
        is_concurrent = any(order.last_arrival > order.sequence for order in orders)
        if not is_concurrent:
            return {}
        return grouped(orders, self.intent)

    def work_of(self, request: Request) -> Work | None:
        """Return the work that a request reads or admits, as it is now."""
        identifier = facts.work_id(request)
        if identifier is None:
            return None
        return self._outcomes.find_work(identifier)

    def upload_of(self, request: Request) -> Upload | None:
        """Return the Upload Session that a request is about, as it is now."""
        identifier = facts.upload_id(request)
        if identifier is None:
            return None
        return self._outcomes.find_upload(identifier)

    def is_paid(self, request: Request) -> bool:
        """Whether a request admitted work that keeps Credits."""
        if not request.is_committed:
            return False
        work = self.work_of(request)
        return work is not None and credits_of(work) != 0

    # Time -----------------------------------------------------------------------------

    def is_over(self, instant: int) -> bool:
        """Whether what was not done since an instant counts as never done."""
        if self._was_interrupted:
            return False
        return self.has_ended or self._now >= instant + PATIENCE_MS

    def is_wait_over(self, request: Request, seconds: int) -> bool:
        """Whether a client that waited so long after an answer would have come back."""
        wait_ends_at = request.left_at + seconds * SECOND_MS
        return self.has_ended or self._now >= wait_ends_at

    # Who knew what --------------------------------------------------------------------

    def knows(self, later: Request, earlier: Request) -> bool:
        """Whether the client had the answer to one request when it sent the other.

        Requests that go out together, on connections that were used before, do not know
        of each other. Two requests with one key may be a client's that sends a write
        twice to be quick; a third one is a loop.
        """
        if later.sequence <= earlier.last_arrival:
            return False
        if later.connection in (None, earlier.connection):
            return True
        if pause_ms(earlier, later) >= AT_ONCE_MS:
            return True
        key = later.idempotency_key
        if key is not None and key == earlier.idempotency_key:
            return self._is_third_at_once(later, earlier)
        first_of_connection = self._by_connection[later.connection][0]
        return first_of_connection is later

    def _is_third_at_once(self, later: Request, earlier: Request) -> bool:
        attempts = self.attempts_of(later)
        index = bisect_left(attempts, later.sequence, key=_sequence_of)
        if index < 2:
            return False
        last_but_one = attempts[index - 2]
        return pause_ms(last_but_one, earlier) < AT_ONCE_MS

    def next_knowing(self, requests: Requests, earlier: Request) -> Request | None:
        """Return the first request of a group that knew the answer to another one."""
        for request in requests_after(requests, earlier):
            if self.knows(request, earlier):
                return request
        return None

    def between(self, earlier: Request, later: Request) -> Requests:
        """Return what the same worker sent between two requests.

        That is on their connection; if they have two, all that their client sent.
        """
        if later.connection == earlier.connection:
            requests = self._by_connection[later.connection]
        else:
            requests = self.by_client[self.client(later)]
        start = bisect_right(requests, earlier.sequence, key=_sequence_of)
        end = bisect_left(requests, later.sequence, start, key=_sequence_of)
        return requests[start:end]

    def saw_work_end(self, after: Request, before: Request) -> bool:
        """Whether an answer between two requests showed that some work had ended."""
        index = bisect_right(self.ends, after.last_arrival, key=_sequence_of)
        if index == len(self.ends):
            return False
        next_end = self.ends[index]
        return next_end.sequence < before.sequence

    # What excuses a client ------------------------------------------------------------

    @cached_property
    def _shut_out_at(self) -> Mapping[Client, int]:
        """By client: the number of the last request whose credential was refused."""
        shut_out_at: dict[Client, int] = {}
        for request in self.requests:
            if request.status in _REFUSED_CREDENTIAL:
                shut_out_at[self.client(request)] = request.sequence
        return shut_out_at

    def was_shut_out(self, request: Request) -> bool:
        """Whether a client was refused for its credential later, and had to stop."""
        return self._shut_out_at.get(self.client(request), 0) > request.sequence

    def ended_in_failure(self, request: Request) -> bool:
        """Whether the last answer to a client was a later failure, which may end it."""
        last = self.by_client[self.client(request)][-1]
        return last.sequence > request.sequence and not facts.is_success(last)


def credits_of(work: Work) -> int | None:
    """Return the Credits that work keeps; None if they are unknown."""
    if work.charged_credits is None:
        return work.reserved_credits
    return work.charged_credits


def requests_after(requests: Requests, earlier: Request) -> Requests:
    """Return the next requests of a group after the answer to an earlier one.

    They are at most as many as may be in flight at once.
    """
    start = bisect_right(requests, earlier.last_arrival, key=_sequence_of)
    return requests[start : start + _MAX_CONCURRENT]
