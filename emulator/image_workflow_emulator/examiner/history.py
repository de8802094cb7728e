"""The history of a sandbox, as the rules of conduct need it: repetitions of requests, reads of work, orders.

Made from records for one examination, and then discarded. Must not know any rule.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Mapping
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import Final, Protocol, TypeAlias

from image_workflow_emulator.domain.resources import (
    Generation,
    Operation,
    UploadSession,
)
from image_workflow_emulator.examiner import facts
from image_workflow_emulator.examiner.facts import POLLS, Client, Records
from image_workflow_emulator.kernel.timestamps import MINUTE_MS, SECOND_MS
from image_workflow_emulator.service.records.record import RequestRecord

PATIENCE_MS: Final = 10 * MINUTE_MS
"""What was not done within this much emulator time counts as never done."""
AT_ONCE_MS: Final = 500
"""Requests that follow each other faster, by both clocks, may have been sent at once."""
_MAX_CONCURRENT: Final = 100
"""Limit of concurrent requests: beyond it, which answers a client knew is not worked out."""

_sequence_of, _key_of = attrgetter("sequence"), attrgetter("idempotency_key")
WaitOf: TypeAlias = Callable[[RequestRecord], int]
"""Returns how many seconds an answer asked to wait; 0 if it did not."""


class Works(Protocol):
    """What has become of the work and the uploads that requests were about."""

    def find_work(self, identifier: str) -> Operation | Generation | None:
        """Return a piece of work as it is now."""

    def find_upload(self, identifier: str) -> UploadSession | None:
        """Return an Upload Session as it is now."""


class History:
    """The requests to a sandbox in the order of arrival. `has_ended`: nothing more will come."""

    def __init__(
        self, records: Records, works: Works, now: int, has_ended: bool
    ) -> None:
        self.works = works
        self.has_ended = has_ended
        self._now = now
        self.client, self.intent = cache(facts.client), cache(facts.intent)
        self.records: Records = sorted(records, key=_sequence_of)
        self.by_operation: Mapping[str | None, Records] = facts.grouped(
            self.records, attrgetter("operation")
        )
        """The records of each operation, and under None of what came to no operation."""
        self.with_key = [
            one
            for one in self.records
            if one.key_header is not None and one.operation is not None
        ]
        """The records of the requests to operations that had an Idempotency-Key."""
        failing = {
            record.path for record in self.records if not facts.is_success(record)
        }
        self.by_intent = facts.grouped(
            (record for record in self.records if record.path in failing), self.intent
        )
        """The records of each request with its repetitions, whatever their keys. Only where something failed."""
        by_key = (
            facts.grouped(records, _key_of) for records in self.by_intent.values()
        )
        self.requests = [records for groups in by_key for records in groups.values()]
        """The records of each request with its repetitions: with the same key, where it has one. Only where something
        failed."""
        self._requests_by_sequence = {
            record.sequence: records for records in self.requests for record in records
        }
        polls = chain.from_iterable(
            self.by_operation.get(operation, ()) for operation in POLLS
        )
        self.polls = facts.grouped(
            polls, lambda poll: (self.client(poll), str(facts.work_id(poll)))
        )
        """The reads of each work, by client and id."""
        self.ends = [record for record in self.records if facts.shows_end(record)]
        """The records of the answers that showed the end of some work."""
        self.seen_to_end = {facts.work_id(record) for record in self.ends}
        """The ids of the work whose end some answer showed."""
        self._shut_out_at = {
            self.client(one): one.sequence
            for one in self.records
            if one.status in (401, 403)
        }
        admitted = [
            record for record in self.with_key if facts.is_answered(record, 202)
        ]
        self.admitted = [
            (one, work)
            for one in admitted
            if (work := self.work(facts.work_id(one))) is not None
        ]
        """The records of the answers that showed admitted work, each with that work as it is now."""
        self.by_client: Mapping[Client, Records] = facts.grouped(
            self.records, self.client
        )
        """The records of each client: a credential with a User-Agent."""
        self._on_connection = facts.grouped(self.records, attrgetter("connection"))
        orders = [
            record
            for record in self.with_key
            if record.is_committed and record.status == 202
        ]
        is_concurrent = any(order.last_arrival > order.sequence for order in orders)
        self.orders = facts.grouped(orders if is_concurrent else (), self.intent)
        """The records of the requests that admitted work, by intent; nothing if no other request came before
        an answer.
        """

    def same_request(self, record: RequestRecord) -> Records:
        """Return a request with its repetitions, as in `requests`; nothing, where nothing failed."""
        return self._requests_by_sequence.get(record.sequence, ())

    # Time -----------------------------------------------------------------------------------------------------------

    def is_over(self, instant: int) -> bool:
        """Whether what was not done since an instant counts as never done."""
        return self.has_ended or self._now >= instant + PATIENCE_MS

    def unexplained(self, records: Records, wait_of: WaitOf) -> int:
        """Count the requests that up to `MAX_PROGRAMS` programs do not explain, of which each waits as it is told.

        These are answers after whose wait nobody came back (a program that has come back once may give up), and
        programs beyond that number that wait at one time.
        """
        waiting: deque[tuple[RequestRecord, bool]] = deque()
        most = 0
        for record in records:
            is_return = bool(waiting) and facts.has_waited(
                waiting[0][0], record, wait_of(waiting[0][0])
            )
            if is_return:
                waiting.popleft()
            if wait_of(record):
                waiting.append((record, is_return))
            most = max(most, len(waiting))
        return max(most - facts.MAX_PROGRAMS, 0) + sum(
            not is_return
            and (self.has_ended or self._now >= one.left_at + wait_of(one) * SECOND_MS)
            for one, is_return in waiting
        )

    # Who knew what --------------------------------------------------------------------------------------------------

    def knows(self, later: RequestRecord, earlier: RequestRecord) -> bool:
        """Whether the client had the answer to one request when it sent the other.

        Requests that go out together, on connections that were used before, do not know of each other. Two requests
        with one key may be a client's that sends a write twice to be quick; a third one is a loop.
        """
        if later.sequence <= earlier.last_arrival:
            return False
        if later.connection in (None, earlier.connection):
            return True
        if max(facts.pauses_ms(earlier, later)) >= AT_ONCE_MS:
            return True
        key = later.idempotency_key
        if key is not None and key == earlier.idempotency_key:
            same = self.same_request(later)
            index = bisect_left(same, later.sequence, key=_sequence_of)
            return (
                index > 1
                and max(facts.pauses_ms(same[index - 2], earlier)) < AT_ONCE_MS
            )
        return self._on_connection[later.connection][0] is later

    def next_knowing(
        self, records: Records, earlier: RequestRecord
    ) -> RequestRecord | None:
        """Return the first record of a group whose client knew the answer to an earlier one."""
        index = bisect_right(records, earlier.last_arrival, key=_sequence_of)
        return next(
            (
                one
                for one in records[index : index + _MAX_CONCURRENT]
                if self.knows(one, earlier)
            ),
            None,
        )

    def between(self, earlier: RequestRecord, later: RequestRecord) -> Records:
        """Return what the same worker sent between two requests: on their connection, or else of their client."""
        is_kept = later.connection == earlier.connection
        records = (
            self._on_connection[later.connection]
            if is_kept
            else self.by_client[self.client(later)]
        )
        start = bisect_right(records, earlier.sequence, key=_sequence_of)
        return records[
            start : bisect_left(records, later.sequence, start, key=_sequence_of)
        ]

    # What became of it ----------------------------------------------------------------------------------------------

    def work(self, identifier: str | None) -> Operation | Generation | None:
        """Return a piece of work as it is now."""
        return None if identifier is None else self.works.find_work(identifier)

    def is_paid(self, record: RequestRecord) -> bool:
        """Whether a request admitted work that has taken Credits and not given them back."""
        work = self.work(facts.work_id(record)) if record.is_committed else None
        return (
            work is not None
            and (
                work.reserved_credits
                if work.charged_credits is None
                else work.charged_credits
            )
            > 0
        )

    def saw_work_end(self, after: RequestRecord, before: RequestRecord) -> bool:
        """Whether an answer between two requests showed that some work had ended."""
        index = bisect_right(self.ends, after.last_arrival, key=_sequence_of)
        return index < len(self.ends) and self.ends[index].sequence < before.sequence

    def was_shut_out(self, record: RequestRecord) -> bool:
        """Whether a later request of its client was refused for its credential, so that the client has to stop."""
        return self._shut_out_at.get(self.client(record), 0) > record.sequence

    def ended_in_failure(self, record: RequestRecord) -> bool:
        """Whether the last answer to its client, later than this one, was a failure that may have ended the client."""
        last = self.by_client[self.client(record)][-1]
        return last.sequence > record.sequence and not facts.is_success(last)
