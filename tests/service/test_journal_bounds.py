"""The bounds of the journal: what is dropped is counted, and nothing is kept alive that nobody can see."""

import gc
import weakref

from emulator.domain.problems import Problem
from emulator.service.journal import MAXIMUM_BODY_BYTES, MAXIMUM_BYTES, MAXIMUM_ENTRIES, Entry, Journal

AT = 1_767_225_600_000


def _arrive(journal: Journal, path: str = "/v1/team") -> Entry:
    return journal.arrive(AT, f"req_{journal.last_sequence + 1}", "GET", path, None)


def _pass(journal: Journal, size_bytes: int = 0) -> Entry:
    entry = _arrive(journal)
    entry.operation, entry.status, entry.response_body = "getTeam", 200, b"x" * size_bytes
    journal.leave(entry)
    return entry


def test_the_oldest_entries_are_dropped_and_counted() -> None:
    journal = Journal()
    for _ in range(MAXIMUM_ENTRIES + 5):
        _pass(journal)
    assert (MAXIMUM_ENTRIES, 5, 6) == (len(journal.entries), journal.dropped, journal.entries[0].sequence)
    assert MAXIMUM_ENTRIES + 5 == journal.outcomes.total()


def test_entries_are_dropped_when_their_bodies_are_too_many_bytes() -> None:
    journal = Journal()
    fitting = MAXIMUM_BYTES // (MAXIMUM_BODY_BYTES + len("/v1/team"))
    for _ in range(fitting + 3):
        _pass(journal, MAXIMUM_BODY_BYTES)
    assert (fitting, 3) == (len(journal.entries), journal.dropped)
    assert journal.held_bytes <= MAXIMUM_BYTES


def test_long_paths_queries_and_headers_count_as_bytes() -> None:
    journal = Journal()
    journal.leave(_arrive(journal, "/" + "p" * 999))
    entry = _arrive(journal, "/v1")
    entry.idempotency_key, entry.query, entry.content_type = "k" * 500, b"q" * 70, b"c" * 9
    journal.leave(entry)
    assert 1000 + 3 + 500 + 70 + 9 == journal.held_bytes


def test_an_entry_dropped_in_flight_holds_no_bytes_when_it_leaves() -> None:
    journal = Journal()
    slow = _arrive(journal)
    for _ in range(MAXIMUM_ENTRIES):
        _pass(journal)
    before = journal.held_bytes
    slow.response_body = b"late"
    journal.leave(slow)
    assert (before, MAXIMUM_ENTRIES + 1) == (journal.held_bytes, journal.outcomes.total())


def test_an_entry_in_flight_when_the_journal_is_cleared_leaves_no_trace() -> None:
    journal = Journal()
    _pass(journal, 10)
    heard: list[Entry] = []
    journal.watchers.append(heard.append)
    slow = _arrive(journal)
    journal.clear()
    slow.response_body = b"late"
    journal.leave(slow)
    assert (0, [], []) == (journal.held_bytes, list(journal.entries), heard)


class _Frame:
    """Something that was looked at where a problem was raised."""


def _refused(entry: Entry) -> weakref.ref[_Frame]:
    looked_at = _Frame()
    try:
        try:
            raise KeyError(looked_at)
        except KeyError:
            raise Problem("invalid_input", "no") from None
    except Problem as problem:
        entry.problem = problem
    return weakref.ref(looked_at)


def test_a_problem_keeps_nothing_alive_of_where_it_was_raised() -> None:
    journal = Journal()
    entry = _arrive(journal)
    looked_at = _refused(entry)
    journal.leave(entry)
    gc.collect()
    assert looked_at() is None
    assert "invalid_input" == entry.code
