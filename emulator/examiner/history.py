"""The history of a sandbox as rules of conduct ask about it: which request repeats which, which client read which work.

Made from notes for one examination, and then discarded. Must not know any rule.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from typing import TypeAlias, TypeVar

from emulator.domain.lifecycles import TERMINAL
from emulator.domain.resources import Generation, Operation
from emulator.examiner.noting import LOOKS, digest_of
from emulator.kernel.timestamps import MINUTE_MS, SECOND_MS
from emulator.kernel.wording import excerpt
from emulator.service.record import Note
from emulator.service.store import Store

PATIENCE_MS = 10 * MINUTE_MS
"""What was not done within this much emulator time counts as never done."""
_LEAST_SHARE = 0.95
_SLACK_MS = 50
"""A wait is kept if this share of it, less some milliseconds, has passed: timers are not exact."""
_SURE_TO_KNOW_MS = 200
"""After this much real time, a client is assumed to have seen an answer."""

_sequence_of = attrgetter("sequence")

_MOST_AT_ONCE = 100
"""Limit of concurrent requests: beyond it, which answers a client knew is not worked out."""

Key = TypeVar("Key", bound=Hashable)
Client: TypeAlias = tuple[str | None, str | None]
Intent: TypeAlias = tuple[Client, str, str, str, str]
"""Client, method, path, query, and a digest of the body."""


class History:
    """The notes of a sandbox in the order of arrival. `has_ended`: nothing more will come."""

    def __init__(self, notes: Iterable[Note], store: Store, now: int, has_ended: bool) -> None:
        self.notes = sorted(notes, key=lambda note: note.sequence)
        self.now = now
        self.has_ended = has_ended
        self._store = store

    # Groups ---------------------------------------------------------------------------------------------------------

    @cached_property
    def by_operation(self) -> Mapping[str | None, Sequence[Note]]:
        """The notes of each operation, and under None of what came to no operation."""
        return _grouped(self.notes, attrgetter("operation"))

    @cached_property
    def with_key(self) -> Sequence[Note]:
        """The notes of the requests to operations that had an Idempotency-Key."""
        return [note for note in self.notes if note.key is not None and note.operation is not None]

    @cached_property
    def failures(self) -> Sequence[Note]:
        """The notes of the requests that did not succeed, as far as their clients know."""
        notes = self.notes  # as in is_success, without a call for each
        return [note for note in notes if note.loss is not None or note.status is None or note.status >= 400]

    @cached_property
    def by_client(self) -> Mapping[Client, Sequence[Note]]:
        """The notes of each client: a credential with a User-Agent."""
        return _grouped(self.notes, client_of)

    @cached_property
    def _failing(self) -> Sequence[Note]:
        """The notes of the addresses where something failed."""
        paths = {note.path for note in self.failures}
        return [note for note in self.notes if note.path in paths] if paths else []

    @cached_property
    def by_intent(self) -> Mapping[Intent, Sequence[Note]]:
        """The notes of each request with its repetitions, whatever their keys. Only where something failed."""
        return _grouped(self._failing, intent_of)

    @cached_property
    def requests(self) -> Sequence[Sequence[Note]]:
        """The notes of each request with its repetitions: with the same key, where it has one. Only where something failed."""
        by_key = (_grouped(notes, attrgetter("key")) for notes in self.by_intent.values())
        return [notes for groups in by_key for notes in groups.values()]

    @cached_property
    def _requests_by_sequence(self) -> Mapping[int, Sequence[Note]]:
        return {note.sequence: notes for notes in self.requests for note in notes}

    def same_request(self, note: Note) -> Sequence[Note]:
        """Return a request with its repetitions, as in `requests`; nothing, where nothing failed."""
        return self._requests_by_sequence.get(note.sequence, ())

    @cached_property
    def looks(self) -> Mapping[tuple[str | None, str | None, str], Sequence[Note]]:
        """The looks at each work, by credential, User-Agent and id."""
        looks: defaultdict[tuple[str | None, str | None, str], list[Note]] = defaultdict(list)
        for operation in LOOKS:
            for note in self.by_operation.get(operation, ()):
                if note.subject:
                    looks[note.credential, note.user_agent, note.subject].append(note)
        return looks

    @cached_property
    def by_subject(self) -> Mapping[str, Sequence[Note]]:
        """The notes of each piece of work and each Upload Session."""
        subjects: defaultdict[str, list[Note]] = defaultdict(list)
        for note in self.notes:
            if note.subject is not None:
                subjects[note.subject].append(note)
        return subjects

    def about(self, notes: Iterable[Note]) -> Iterator[tuple[Note, Sequence[Note]]]:
        """Iterate over the subjects of some notes: the first of these notes about each, and all notes about it."""
        first: dict[str, Note] = {}
        for note in notes:
            if note.subject is not None:
                first.setdefault(note.subject, note)
        for subject, note in first.items():
            yield note, self.by_subject[subject]

    # Time -----------------------------------------------------------------------------------------------------------

    def is_over(self, instant: int) -> bool:
        """Whether what was not done since an instant counts as never done."""
        return self.has_ended or self.now >= instant + PATIENCE_MS

    # Who knew what --------------------------------------------------------------------------------------------------

    @cached_property
    def _hedged_keys(self) -> Mapping[Client, set[str]]:
        """By client, the keys of the writes that it sent twice before it knew the answer, although they succeeded."""
        hedged: defaultdict[Client, set[str]] = defaultdict(set)
        for notes in _grouped(self.notes, _request_of).values():
            for earlier, later in pairwise(notes):
                if later.key is not None and (later.sequence <= earlier.left_before or is_success(earlier)):
                    hedged[client_of(later)].add(later.key)
        return hedged

    def knows(self, later: Note, earlier: Note) -> bool:
        """Whether the client had the answer to one request when it sent the other.

        Requests that go out together, on connections that were there before the first answer, do not know of each other;
        nor do those of a client that sends other writes twice.
        """
        if later.sequence <= earlier.left_before:
            return False
        if later.connection == earlier.connection or later.connected_ms is None:
            return True
        if later.host_ms is None or earlier.host_left_ms is None:
            return True
        _, pause_ms = pauses_ms(earlier, later)
        if pause_ms >= _SURE_TO_KNOW_MS:
            return True
        is_hedged = later.key is not None and later.key == earlier.key and self._hedges_others(later)
        return not is_hedged and later.connected_ms >= earlier.host_left_ms

    def _hedges_others(self, note: Note) -> bool:
        """Whether its client sends other writes twice."""
        keys = self._hedged_keys.get(client_of(note), set())
        return len(keys) > (note.key in keys)

    def next_knowing(self, notes: Sequence[Note], earlier: Note, index: int = 0) -> Note | None:
        """Return the first note of a group, from an index on, whose client knew the answer to an earlier one."""
        if index < len(notes):
            following = notes[index]
            if following.sequence <= earlier.left_before:
                index = bisect_right(notes, earlier.left_before, index, key=_sequence_of)
            elif following.connection == earlier.connection:
                return following  # as nearly always
        for position in range(index, min(index + _MOST_AT_ONCE, len(notes))):
            if self.knows(notes[position], earlier):
                return notes[position]
        return None

    def by_worker(self, notes: Sequence[Note]) -> Sequence[Sequence[Note]]:
        """Return the notes of one client by its workers: programs that run side by side, each on its own connection.

        A client that uses one connection after another, as without keep-alive, is one worker.
        """
        if len({note.connection for note in notes}) == 1:
            return [notes]
        by_connection = _grouped(notes, attrgetter("connection"))
        switches = sum(earlier.connection != later.connection for earlier, later in pairwise(notes))
        are_side_by_side = switches >= len(by_connection)
        return list(by_connection.values()) if are_side_by_side else [notes]

    @cached_property
    def _times_sent(self) -> Counter[tuple[str | None, str | None]]:
        return Counter((note.credential, note.key) for note in self.notes)

    def was_sent_again(self, note: Note) -> bool:
        """Whether the key of a note came again, maybe from another program with the same credential."""
        return self._times_sent[note.credential, note.key] > 1

    # What became of it ----------------------------------------------------------------------------------------------

    def work(self, identifier: str | None) -> Operation | Generation | None:
        """Return a piece of work as it is now."""
        if identifier is None:
            return None
        return self._store.generations.items.get(identifier) or self._store.operations.items.get(identifier)

    def standing_credits(self, identifier: str | None) -> int:
        """Return the Credits that a piece of work has taken and not given back."""
        work = self.work(identifier)
        if work is None:
            return 0
        return work.reserved_credits if work.charged_credits is None else work.charged_credits

    @cached_property
    def ends(self) -> Sequence[Note]:
        """The notes of the answers that showed the end of some work."""
        return [note for note in self.notes if shows_end(note)]

    @cached_property
    def seen_to_end(self) -> Set[str | None]:
        """The ids of the work whose end some answer showed."""
        return {note.subject for note in self.ends}

    @cached_property
    def _ends_seen(self) -> Sequence[int]:
        return [note.sequence for note in self.ends]

    def saw_work_end(self, after: Note, before: Note) -> bool:
        """Whether an answer between two requests showed that some work had ended."""
        index = bisect_right(self._ends_seen, after.left_before)
        return index < len(self._ends_seen) and self._ends_seen[index] < before.sequence

    @cached_property
    def _shut_out_at(self) -> Mapping[Client, int]:
        return {client_of(note): note.sequence for note in self.notes if note.status in (401, 403)}

    def has_other_key(self, note: Note) -> bool:
        """Whether the same intent came later under another key."""
        later = self.next_knowing(self.by_intent.get(intent_of(note), ()), note)
        return later is not None and later.key not in (None, note.key)

    @cached_property
    def _last_reads(self) -> Mapping[Hashable, int]:
        return {(client_of(note), note.path): note.sequence for note in self.notes if note.method == "GET"}

    def asked_again(self, note: Note) -> bool:
        """Whether its client read the same address later, maybe with another query."""
        return self._last_reads[client_of(note), note.path] > note.sequence

    def was_shut_out(self, note: Note) -> bool:
        """Whether a later request of its client was refused for its credential, so that the client has to stop."""
        return self._shut_out_at.get(client_of(note), 0) > note.sequence

    def ended_in_failure(self, note: Note) -> bool:
        """Whether the last answer to its client, later than this one, was a failure that may have ended the client."""
        last = self.by_client[client_of(note)][-1]
        return last.sequence > note.sequence and not is_success(last)


def client_of(note: Note) -> Client:
    """Return who sent a request: a credential with a User-Agent."""
    return note.credential, note.user_agent


def intent_of(note: Note) -> Intent:
    """Return what identifies a request apart from its key."""
    return client_of(note), note.method, note.path, note.query, digest_of(note)


def have_same_intent(one: Note, other: Note) -> bool:
    """Whether two requests are the same apart from their keys. Where their paths differ, no body is digested."""
    return one.path == other.path and intent_of(one) == intent_of(other)


def _request_of(note: Note) -> Hashable:
    """Return what two requests have in common that are the same, key and all."""
    return *intent_of(note), note.key


def subject_of(note: Note) -> str:
    """Name the request and its client, for findings about them."""
    return f"{note.credential}|{note.user_agent}|{note.method}|{note.path}|{note.query}|{digest_of(note)}"


def title_of(note: Note) -> str:
    """Name a request in a message."""
    return note.operation or (f"the {note.surface}" if note.surface else f"{excerpt(note.method)} {excerpt(note.path)}")


def is_success(note: Note) -> bool:
    """Whether the request succeeded, as far as the client knows."""
    return note.loss is None and note.status is not None and note.status < 400


def is_answered(note: Note, *statuses: int) -> bool:
    """Whether the client got an answer of one of these statuses."""
    return note.loss is None and note.status in statuses


def shows_end(note: Note) -> bool:
    """Whether the answer showed that some work is finished."""
    return note.work_status in TERMINAL and is_answered(note, 200, 202)


def is_unknown(note: Note) -> bool:
    """Whether the client cannot know if its write was carried out: the answer was lost, or says nothing of it."""
    return note.loss not in (None, "abandoned") or note.status == 500


def is_wait_measured(earlier: Note, later: Note) -> bool:
    """Whether the wait between two requests can be measured: not on an auto clock, and not across processes."""
    return earlier.is_timed and later.is_timed and earlier.host_left_ms is not None and later.host_ms is not None


def has_waited(earlier: Note, later: Note, seconds: int) -> bool | None:
    """Whether the emulator's or the host's clock moved so far between two requests; None where that is not measured."""
    if not is_wait_measured(earlier, later):
        return None
    return max(pauses_ms(earlier, later)) >= seconds * SECOND_MS * _LEAST_SHARE - _SLACK_MS


def pauses_ms(earlier: Note, later: Note) -> tuple[float, float]:
    """Return the pause between an answer and the next request, by the emulator's and by the host's clock."""
    assert later.host_ms is not None
    assert earlier.host_left_ms is not None
    return later.at - earlier.left_at, later.host_ms - earlier.host_left_ms


def _grouped(notes: Iterable[Note], key: Callable[[Note], Key]) -> Mapping[Key, Sequence[Note]]:
    groups: defaultdict[Key, list[Note]] = defaultdict(list)
    for note in notes:
        groups[key(note)].append(note)
    return groups
