"""The bounds of the journal: what is dropped is counted, and nothing is kept alive that nobody can see."""

import gc
from collections.abc import Callable
from weakref import ref

import pytest

from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.service.records.journal import MAX_BYTES, MAX_REQUESTS, Journal
from image_workflow_emulator.service.records.record import MAX_KEPT_BODY_BYTES, RequestRecord

AT = 1_767_225_600_000


def _arrive(journal: Journal, path: str = "/v1/team") -> RequestRecord:
    request = RequestRecord(at=AT, request_id=f"req_{journal.last_sequence + 1}", method="GET", path=path)
    journal.arrive(request)
    return request


def _leave(journal: Journal, request: RequestRecord) -> None:
    journal.leave(request, AT, is_timed=True)


def _pass(journal: Journal, size_bytes: int = 0) -> None:
    request = _arrive(journal)
    request.operation, request.status, request.response_body = "getTeam", 200, b"x" * size_bytes
    _leave(journal, request)


def test_the_oldest_requests_are_dropped() -> None:
    journal = Journal()
    for _ in range(MAX_REQUESTS + 5):
        _pass(journal)
    assert (MAX_REQUESTS, 5, 6) == (len(journal.requests), journal.dropped, journal.requests[0].sequence)


@pytest.mark.parametrize(("max_requests", "dropped"), [(MAX_REQUESTS, 3), (2 * MAX_REQUESTS, 0)])
def test_requests_are_dropped_when_their_bodies_are_too_many_bytes(max_requests: int, dropped: int) -> None:
    journal = Journal(max_requests=max_requests)
    fitting = MAX_BYTES // (MAX_KEPT_BODY_BYTES + len("/v1/team"))
    for _ in range(fitting + 3):
        _pass(journal, MAX_KEPT_BODY_BYTES)
    assert (fitting + 3 - dropped, dropped) == (len(journal.requests), journal.dropped)


def test_long_paths_queries_and_headers_count_as_bytes() -> None:
    journal = Journal()
    _leave(journal, _arrive(journal, "/" + "p" * 999))
    request = _arrive(journal, "/v1")
    request.key_header, request.query, request.content_type_header = b"k" * 500, b"q" * 70, b"c" * 9
    _leave(journal, request)
    assert 1000 + 3 + 500 + 70 + 9 == journal.held_bytes


def _drop(journal: Journal) -> None:
    for _ in range(MAX_REQUESTS):
        _pass(journal)


@pytest.mark.parametrize("lose", [_drop, Journal.clear])
def test_a_request_that_is_dropped_in_flight_holds_no_bytes_when_it_leaves(lose: Callable[[Journal], None]) -> None:
    journal = Journal()
    slow = _arrive(journal)
    lose(journal)
    before = journal.held_bytes, len(journal.requests)
    slow.response_body = b"late"
    _leave(journal, slow)
    assert before == (journal.held_bytes, len(journal.requests))


def test_a_problem_keeps_nothing_alive_of_where_it_was_raised() -> None:
    journal, looked_at = Journal(), set[str]()
    request, seen = _arrive(journal), ref(looked_at)
    try:
        try:
            raise KeyError(looked_at)
        except KeyError:
            raise Problem("invalid_input", "no") from None
    except Problem as problem:
        request.problem = problem
    _leave(journal, request)
    del looked_at
    gc.collect()
    assert (None, "invalid_input") == (seen(), journal.completed()[0].code)
