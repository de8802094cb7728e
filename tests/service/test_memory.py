"""What the service keeps in memory: requests within the bounds of the journal, and
nothing of ended sandboxes.
"""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from weakref import ref

import pytest

from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.service.records.journal import (
    MAX_BYTES,
    MAX_REQUESTS,
    Journal,
)
from image_workflow_emulator.service.records.record import (
    MAX_KEPT_BODY_BYTES,
    RequestRecord,
)
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from tests.support.emulator_client import (
    FULL,
    Answer,
    Call,
    completion_call,
    control_call,
)
from tests.support.emulator_under_test import EmulatorUnderTest, settings_of
from tests.support.served import PATIENCE_SECONDS

AT = 1_767_225_600_000


def _arrive(journal: Journal, path: str = "/v1/team") -> RequestRecord:
    request = RequestRecord(
        at=AT,
        request_id=f"req_{journal.last_sequence + 1}",
        method="GET",
        path=path,
    )
    journal.arrive(request)
    return request


def _leave(journal: Journal, request: RequestRecord) -> None:
    journal.leave(request, AT, is_timed=True)


def _pass(journal: Journal, size_bytes: int = 0) -> None:
    request = _arrive(journal)
    request.operation = "getTeam"
    request.status = 200
    request.response_body = b"x" * size_bytes
    _leave(journal, request)


def test_the_oldest_requests_are_dropped() -> None:
    journal = Journal()

    for _ in range(MAX_REQUESTS + 5):
        _pass(journal)

    assert len(journal.requests) == MAX_REQUESTS
    assert journal.dropped == 5
    assert journal.requests[0].sequence == 6


@pytest.mark.parametrize(
    ("max_requests", "dropped"),
    [(MAX_REQUESTS, 3), (2 * MAX_REQUESTS, 0)],
)
def test_requests_are_dropped_when_their_bodies_are_too_many_bytes(
    max_requests: int,
    dropped: int,
) -> None:
    journal = Journal(max_requests=max_requests)
    fitting = MAX_BYTES // (MAX_KEPT_BODY_BYTES + len("/v1/team"))

    for _ in range(fitting + 3):
        _pass(journal, MAX_KEPT_BODY_BYTES)

    assert len(journal.requests) == fitting + 3 - dropped
    assert journal.dropped == dropped


def test_long_paths_queries_and_headers_count_as_bytes() -> None:
    journal = Journal()
    request = _arrive(journal, "/" + "p" * 999)
    request.key_header = b"k" * 500
    request.query = b"q" * 70
    request.content_type_header = b"c" * 9

    _leave(journal, request)

    assert journal.held_bytes == 1000 + 500 + 70 + 9


def _drop(journal: Journal) -> None:
    for _ in range(MAX_REQUESTS):
        _pass(journal)


@pytest.mark.parametrize("lose", [_drop, Journal.clear])
def test_a_request_that_is_dropped_in_flight_holds_no_bytes_when_it_leaves(
    lose: Callable[[Journal], None],
) -> None:
    journal = Journal()
    slow = _arrive(journal)
    lose(journal)
    held_bytes = journal.held_bytes
    requests = list(journal.requests)

    slow.response_body = b"late"
    _leave(journal, slow)

    assert journal.held_bytes == held_bytes
    assert list(journal.requests) == requests


def test_a_problem_keeps_nothing_alive_of_where_it_was_raised() -> None:
    journal = Journal()
    request = _arrive(journal)
    local_value = set[str]()
    reference = ref(local_value)
    try:
        try:
            raise KeyError(local_value)
        except KeyError:
            raise Problem("invalid_input", "no") from None
    except Problem as problem:
        request.problem = problem

    _leave(journal, request)
    del local_value
    gc.collect()

    assert reference() is None
    assert journal.completed()[0].code == "invalid_input"


@contextmanager
def without_collector() -> Iterator[None]:
    """Collect what earlier tests left, and nothing of what comes."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def is_gone_soon(emulator: EmulatorUnderTest, is_gone: Callable[[], bool]) -> bool:
    """Tell whether something goes while some requests are answered: a thread may hold
    its last result for a moment.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_gone() and time.monotonic() < deadline:
        assert emulator.ask("GET", "/health").status == 200
    return is_gone()


def test_an_ended_sandbox_leaves_memory_without_the_garbage_collector(
    emulator: EmulatorUnderTest,
) -> None:
    sandboxes = emulator.application.sandboxes
    sandboxes.watchers.append(lambda _sandbox, _entry: None)
    sandbox = emulator.told("POST", "/sandboxes", {"id": "other"})
    key = sandbox["env"]["IMAGE_WORKFLOW_API_KEY"]
    emulator.photograph(key)
    content = emulator.ask("GET", "/state", sandbox="other").body

    with without_collector():
        emulator.get("/team", key)
        replaced = ref(sandboxes.by_id["other"])
        emulator.told("PUT", "/state", sandbox="other", content=content)
        assert is_gone_soon(emulator, lambda: replaced() is None)

        emulator.get("/team", key)
        deleted = ref(sandboxes.by_id["other"])
        emulator.told("DELETE", "", sandbox="other")
        assert is_gone_soon(emulator, lambda: deleted() is None)


class Unjudged(EmulatorUnderTest):
    """An emulator whose answers may be of any kind: a request may find that its sandbox
    is gone.
    """

    def check(self, call: Call, answer: Answer) -> None:
        pass


def requests_that_wait(emulator: EmulatorUnderTest, key: str) -> list[Call]:
    """Return requests of which the first two wait for image work."""
    ready = emulator.ready_upload(key=key)
    return [
        completion_call(*ready, key=key),
        Call("GET", "/assets", key=key),
        Call("GET", "/team", key=key),
    ]


def sandboxes_in_memory(emulator: EmulatorUnderTest) -> int:
    memory = emulator.application.sandboxes.memory
    sandboxes = [thing for thing in gc.get_objects() if isinstance(thing, Sandbox)]
    return sum(sandbox.memory is memory for sandbox in sandboxes)


def test_sandboxes_that_end_beside_requests_leave_memory_with_the_last_of_them() -> (
    None
):
    with (
        closing(Unjudged(settings_of(rate_limits=False))) as emulator,
        without_collector(),
    ):
        emulator.photograph()
        emulator.advance(60)
        content = emulator.ask("GET", "/state").body
        ends = [
            control_call("PUT", "/state", content=content),
            control_call("DELETE", "", sandbox="other"),
        ]
        for _ in range(3):
            emulator.told("POST", "/sandboxes", {"id": "other"})
            emulator.told("PUT", "/state", content=content)
            in_flight = requests_that_wait(emulator, FULL)
            in_flight += requests_that_wait(emulator, f"{FULL}_other")

            emulator.together(*in_flight, *ends)

            assert is_gone_soon(emulator, lambda: sandboxes_in_memory(emulator) == 1)
