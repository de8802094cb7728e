"""The history of a sandbox as rules of conduct ask about it: which request repeats which, which client read which work.

Made from records for one examination, and then discarded. Must not know any rule.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, cached_property
from itertools import chain, pairwise
from operator import attrgetter
from typing import Protocol, TypeAlias, TypeVar

from image_workflow_emulator.domain.resources import Generation, Operation, UploadSession
from image_workflow_emulator.kernel.timestamps import MINUTE_MS, SECOND_MS
from image_workflow_emulator.service.records.record import LOOKS, Client, Intent, Records, RequestRecord

PATIENCE_MS = 10 * MINUTE_MS
"""What was not done within this much emulator time counts as never done."""
_LEAST_SHARE = 0.95
_SLACK_MS = 50
"""A wait is kept if this share of it, less some milliseconds, has passed: timers are not exact."""
_SURE_TO_KNOW_MS = 200
"""After this much real time, a client is assumed to have seen an answer."""

_sequence_of, _key_of = attrgetter("sequence"), attrgetter("idempotency_key")

_BEATS, _EVEN = 8, 1.25
"""So many requests in a row, with pauses of which the longest is so many times the shortest, are one program's."""

_MAX_AT_ONCE = 100
"""Limit of concurrent requests: beyond it, which answers a client knew is not worked out."""

WaitOf: TypeAlias = Callable[[RequestRecord], int]
"""How many seconds an answer asked to wait; 0 if it did not."""
Key = TypeVar("Key", bound=Hashable)


class Works(Protocol):
    """What has become of the work and the uploads that requests were about."""

    def find_work(self, identifier: str) -> Operation | Generation | None:
        """Return a piece of work as it is now."""

    def find_upload(self, identifier: str) -> UploadSession | None:
        """Return an Upload Session as it is now."""


class History:
    """The requests to a sandbox in the order of arrival. `has_ended`: nothing more will come."""

    def __init__(self, records: Records, works: Works, now: int, has_ended: bool) -> None:
        self.works = works
        self.has_ended = has_ended
        self._now = now
        self.intent: Callable[[RequestRecord], Intent] = cache(attrgetter("intent"))
        """Returns what identifies a request apart from its key."""
        self.records: Records = sorted(records, key=_sequence_of)
        self.by_operation: Mapping[str | None, Records] = grouped(self.records, attrgetter("operation"))
        """The records of each operation, and under None of what came to no operation."""
        self.with_key = [
            record for record in self.records if record.key_header is not None and record.operation is not None
        ]
        """The records of the requests to operations that had an Idempotency-Key."""
        self.failures = [record for record in self.records if not record.is_success]
        """The records of the requests that did not succeed, as far as their clients know."""
        failing = {record.path for record in self.failures}
        self.by_intent = grouped((record for record in self.records if record.path in failing), self.intent)
        """The records of each request with its repetitions, whatever their keys. Only where something failed."""
        by_key = (grouped(records, _key_of) for records in self.by_intent.values())
        self.requests = [records for groups in by_key for records in groups.values()]
        """The records of each request with its repetitions: with the same key, where it has one. Only where something failed."""
        self._requests_by_sequence = {record.sequence: records for records in self.requests for record in records}
        looks = chain.from_iterable(self.by_operation.get(operation, ()) for operation in LOOKS)
        self.looks = grouped(looks, lambda look: (look.client, str(look.named_work_id)))
        """The looks at each work, by client and id."""
        self.ends = [record for record in self.records if record.shows_end]
        """The records of the answers that showed the end of some work."""
        self.seen_to_end = {record.named_work_id for record in self.ends}
        """The ids of the work whose end some answer showed."""
        self._shut_out_at = {record.client: record.sequence for record in self.records if record.status in (401, 403)}

    # Groups ---------------------------------------------------------------------------------------------------------

    @cached_property
    def by_client(self) -> Mapping[Client, Records]:
        """The records of each client: a credential with a User-Agent."""
        return grouped(self.records, attrgetter("client"))

    def same_request(self, record: RequestRecord) -> Records:
        """Return a request with its repetitions, as in `requests`; nothing, where nothing failed."""
        return self._requests_by_sequence.get(record.sequence, ())

    @cached_property
    def _by_resource(self) -> Mapping[str | None, Records]:
        return grouped(self.records, self.resource_of)

    def about(self, records: Iterable[RequestRecord]) -> Iterator[tuple[str, RequestRecord, Records]]:
        """Iterate over what some records are about: its id, the first of these records, and all records about it."""
        first: dict[str, RequestRecord] = {}
        for record in records:
            identifier = self.resource_of(record)
            if identifier is not None:
                first.setdefault(identifier, record)
        for identifier, record in first.items():
            yield identifier, record, self._by_resource[identifier]

    def resource_of(self, record: RequestRecord) -> str | None:
        """Return the id of the work, or of the Upload Session that there is, that a request is about."""
        upload_id = record.named_upload_id
        if upload_id is None:
            return record.named_work_id
        return upload_id if self.works.find_upload(upload_id) else None

    # Time -----------------------------------------------------------------------------------------------------------

    def is_over(self, instant: int) -> bool:
        """Whether what was not done since an instant counts as never done."""
        return self.has_ended or self._now >= instant + PATIENCE_MS

    # Who knew what --------------------------------------------------------------------------------------------------

    @cached_property
    def _hedged_keys(self) -> Mapping[Client, set[str]]:
        """By client, the keys of the writes that it sent twice before it knew the answer, although they succeeded."""
        hedged: defaultdict[Client, set[str]] = defaultdict(set)
        for records in grouped(self.records, lambda record: (self.intent(record), record.idempotency_key)).values():
            for earlier, later in pairwise(records):
                key = later.idempotency_key
                if key is not None and (later.sequence <= earlier.last_arrival or earlier.is_success):
                    hedged[later.client].add(key)
        return hedged

    def knows(self, later: RequestRecord, earlier: RequestRecord) -> bool:
        """Whether the client had the answer to one request when it sent the other.

        Requests that go out together, on connections that were there before the first answer, do not know of each other;
        nor do those of a client that sends other writes twice. A program that does one thing after another may have several
        connections, as on Node: what it sends knows the answers before, unless it has the same key, which may be hedging.
        """
        if later.sequence <= earlier.last_arrival:
            return False
        if later.connection == earlier.connection or later.connected_ms is None:
            return True
        if pauses_ms(earlier, later)[1] >= _SURE_TO_KNOW_MS:
            return True
        is_same_key = later.idempotency_key is not None and later.idempotency_key == earlier.idempotency_key
        if later.connected_ms >= earlier.left_ms:
            return not (is_same_key and self._hedges_others(later))
        return not is_same_key and later.client in self._one_by_one

    @cached_property
    def _one_by_one(self) -> Set[Client]:
        """The clients that never sent a request, nor opened a connection, before their last request was answered."""
        return {client for client, records in self.by_client.items() if _are_one_by_one(records)}

    def _hedges_others(self, record: RequestRecord) -> bool:
        """Whether its client sends other writes twice."""
        keys = self._hedged_keys.get(record.client, set())
        return len(keys) > (record.idempotency_key in keys)

    def next_knowing(self, records: Records, earlier: RequestRecord, index: int = 0) -> RequestRecord | None:
        """Return the first record of a group, from an index on, whose client knew the answer to an earlier one."""
        if index < len(records):
            following = records[index]
            if following.sequence <= earlier.last_arrival:
                index = bisect_right(records, earlier.last_arrival, index, key=_sequence_of)
            elif following.connection == earlier.connection:
                return following  # as nearly always
        return next((one for one in records[index : index + _MAX_AT_ONCE] if self.knows(one, earlier)), None)

    def by_worker(self, records: Records, wait_of: WaitOf, programs: int) -> Sequence[Records]:
        """Return the records of one client by its workers, each of which has its connection.

        Where each request opened a connection of its own, nobody can tell one program from several: they are one worker's
        only if more than so many `programs` were needed, each of which waits as long as `wait_of` says, in seconds.
        """
        workers = by_connection(records)
        if len(workers) < len(records) or len(records) == 1:
            return workers
        is_one = self._unreturned(records, wait_of) > programs or _is_one_beat(records, wait_of)
        return [records] if is_one else []

    def _unreturned(self, records: Records, wait_of: WaitOf) -> int:
        """Return how many of those that were told to wait did not come back then, if each was a program of its own."""
        waiting: deque[RequestRecord] = deque()
        for record in records:
            if waiting and has_waited(waiting[0], record, wait_of(waiting[0])):
                waiting.popleft()
            if wait_of(record):
                waiting.append(record)
        return sum(self.has_ended or self._now >= one.left_at + wait_of(one) * SECOND_MS for one in waiting)

    @cached_property
    def _on_connection(self) -> Mapping[str | None, Records]:
        return grouped(self.records, attrgetter("connection"))

    def between_on_connection(self, earlier: RequestRecord, later: RequestRecord) -> Records:
        """Return what came between two requests on their connection."""
        records = self._on_connection[later.connection]
        start = bisect_right(records, earlier.sequence, key=_sequence_of)
        return records[start : bisect_left(records, later.sequence, start, key=_sequence_of)]

    # What became of it ----------------------------------------------------------------------------------------------

    def work(self, identifier: str | None) -> Operation | Generation | None:
        """Return a piece of work as it is now."""
        return None if identifier is None else self.works.find_work(identifier)

    def standing_credits(self, identifier: str | None) -> int:
        """Return the Credits that a piece of work has taken and not given back."""
        work = self.work(identifier)
        if work is None:
            return 0
        return work.reserved_credits if work.charged_credits is None else work.charged_credits

    def saw_work_end(self, after: RequestRecord, before: RequestRecord) -> bool:
        """Whether an answer between two requests showed that some work had ended."""
        index = bisect_right(self.ends, after.last_arrival, key=_sequence_of)
        return index < len(self.ends) and self.ends[index].sequence < before.sequence

    def was_shut_out(self, record: RequestRecord) -> bool:
        """Whether a later request of its client was refused for its credential, so that the client has to stop."""
        return self._shut_out_at.get(record.client, 0) > record.sequence

    def ended_in_failure(self, record: RequestRecord) -> bool:
        """Whether the last answer to its client, later than this one, was a failure that may have ended the client."""
        last = self.by_client[record.client][-1]
        return last.sequence > record.sequence and not last.is_success


def by_connection(records: Iterable[RequestRecord]) -> Sequence[Records]:
    """Return records by the connections that they came on."""
    return list(grouped(records, attrgetter("connection")).values())


def _are_one_by_one(records: Records) -> bool:
    firsts = {worker[0].sequence for worker in by_connection(records)}
    return all(
        later.sequence > earlier.last_arrival
        and (later.sequence not in firsts or (later.connected_ms or 0) >= earlier.left_ms)
        for earlier, later in pairwise(records)
    )


def _is_one_beat(records: Records, wait_of: WaitOf) -> bool:
    """Whether requests follow each other as evenly as one program's, far faster than they were told to."""
    steps = [(max(pauses_ms(earlier, later)), wait_of(earlier) * SECOND_MS) for earlier, later in pairwise(records)]
    for start in range(len(steps) - _BEATS + 2):
        beats = steps[start : start + _BEATS - 1]
        pauses = [pause for pause, _ in beats]
        if max(pauses) <= min(pauses) * _EVEN and all(pause * 3 <= told for pause, told in beats):
            return True
    return False


def is_wait_measured(earlier: RequestRecord, later: RequestRecord) -> bool:
    """Whether the wait between two requests can be measured: not on an auto clock."""
    return earlier.is_timed and later.is_timed


def has_waited(earlier: RequestRecord, later: RequestRecord, seconds: int) -> bool | None:
    """Whether the emulator's or the host's clock moved so far between two requests; None where that is not measured."""
    if not is_wait_measured(earlier, later):
        return None
    return max(pauses_ms(earlier, later)) >= seconds * SECOND_MS * _LEAST_SHARE - _SLACK_MS


def pauses_ms(earlier: RequestRecord, later: RequestRecord) -> tuple[float, float]:
    """Return the pause between an answer and the next request, by the emulator's and by the host's clock."""
    return later.at - earlier.left_at, later.arrived_ms - earlier.left_ms


def grouped(records: Iterable[RequestRecord], key: Callable[[RequestRecord], Key]) -> Mapping[Key, Records]:
    """Return records by what each has of a key, in the order in which it first came."""
    groups: defaultdict[Key, list[RequestRecord]] = defaultdict(list)
    for record in records:
        groups[key(record)].append(record)
    return groups
