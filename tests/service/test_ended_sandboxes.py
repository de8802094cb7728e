"""What sandboxes held that were reset or deleted."""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from weakref import ref

from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from tests.support.emulator_client import (
    FULL,
    Answer,
    Call,
    EmulatorUnderTest,
    completion_call,
    control_call,
    settings_of,
)
from tests.support.served import PATIENCE_SECONDS


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
    """Tell whether something goes while some requests are answered: a thread may hold its last result for a moment."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_gone() and time.monotonic() < deadline:
        assert emulator.ask("GET", "/health").status == 200
    return is_gone()


def test_an_ended_sandbox_leaves_memory_without_the_garbage_collector(emulator: EmulatorUnderTest) -> None:
    sandboxes = emulator.application.sandboxes
    sandboxes.watchers.append(lambda _sandbox, _entry: None)
    key = emulator.told("POST", "/sandboxes", {"id": "other"})["env"]["IMAGE_WORKFLOW_API_KEY"]
    emulator.photograph(key)
    content = emulator.ask("GET", "/state", sandbox="other").body
    with without_collector():
        for method, path, sent in (("PUT", "/state", content), ("DELETE", "", None)):
            emulator.get("/team", key)
            ended = ref(sandboxes.by_id["other"])
            assert emulator.ask(method, path, sandbox="other", content=sent).status < 300
            assert is_gone_soon(emulator, lambda ended=ended: ended() is None)  # type: ignore[misc]


class Unjudged(EmulatorUnderTest):
    """An emulator whose answers may be of any kind: a request may find that its sandbox is gone."""

    def check(self, call: Call, answer: Answer) -> None:
        pass


def test_sandboxes_that_end_beside_requests_in_flight_leave_memory_with_the_last_of_them() -> None:
    with closing(Unjudged(settings_of(rate_limits=False))) as emulator, without_collector():
        emulator.photograph()
        emulator.advance(60)
        content, memory = emulator.ask("GET", "/state").body, emulator.application.sandboxes.memory
        for _ in range(3):
            emulator.told("POST", "/sandboxes", {"id": "other"})
            emulator.told("PUT", "/state", content=content)
            in_flight = []
            for key in (FULL, f"{FULL}_other"):
                in_flight.append(completion_call(*emulator.ready_upload(key=key), key=key))
                in_flight += [Call("GET", path, key=key) for path in ("/assets", "/team")]  # and pictures are drawn
            ends = control_call("PUT", "/state", content=content), control_call("DELETE", "", sandbox="other")
            emulator.together(*in_flight, *ends)
            assert is_gone_soon(
                emulator, lambda: sum(one.memory is memory for one in gc.get_objects() if isinstance(one, Sandbox)) == 1
            )
