"""Waiting for a request: answered as soon as there is one, in nobody's way, and forgotten with its client."""

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from tests.fuzzing.wire import turns
from tests.support.emulator_client import OTHER, UPLOAD, Answer, Call, EmulatorUnderTest, control_call

LONG = "wait_ms=60000"


def _wait_for(query: str, sandbox: str | None = None) -> Call:
    return control_call("GET", f"/requests?{query}", sandbox=sandbox)


def _sequences(answer: Answer) -> list[int]:
    return [entry["sequence"] for entry in answer.json["data"]]


def _nobody_waits(emulator: EmulatorUnderTest) -> bool:
    return not emulator.sandbox.journal.watchers


async def _until_it_waits(emulator: EmulatorUnderTest) -> None:
    await turns()
    assert emulator.sandbox.journal.watchers


def test_a_wait_is_only_for_what_its_filters_select(emulator: EmulatorUnderTest) -> None:
    calls = [Call("GET", "/poses"), Call("GET", "/team"), Call("GET", "/team", key=OTHER), Call("GET", "/products")]
    waited, *_ = emulator.together(_wait_for(f"operation=getTeam&team=Other&{LONG}"), *calls)
    assert [3] == _sequences(waited)


def test_a_wait_for_what_is_there_ends_at_once(emulator: EmulatorUnderTest) -> None:
    emulator.get("/team")
    assert [1] == _sequences(emulator.send(_wait_for(LONG)))


def test_a_wait_that_is_over_answers_with_what_there_is_and_takes_no_emulator_time(emulator: EmulatorUnderTest) -> None:
    emulator.get("/team")
    before = emulator.now()
    assert [] == _sequences(emulator.send(_wait_for("operation=listPoses&wait_ms=1")))
    assert before == emulator.now()
    assert _nobody_waits(emulator)


def test_the_waits_of_many_end_with_the_request_that_they_are_for(emulator: EmulatorUnderTest) -> None:
    waits = [_wait_for(LONG)] * 20
    *waited, last = emulator.together(*waits, Call("GET", "/team"))
    assert [[1]] * 20 == [_sequences(answer) for answer in waited]
    assert 200 == last.status
    assert _nobody_waits(emulator)


def test_a_request_that_is_held_can_be_waited_for(emulator: EmulatorUnderTest) -> None:
    emulator.rule({"operation": "createUpload"}, {"hold": "10s"})

    async def story() -> Answer | None:
        waiting = asyncio.create_task(emulator._send(_wait_for(f"status=none&operation=createUpload&{LONG}")))
        held = asyncio.create_task(emulator._send(Call("POST", "/uploads", UPLOAD)))
        waited = await waiting
        await emulator._send(control_call("POST", "/clock/advance", {"seconds": 10}))
        await held
        return waited

    waited = emulator.run(story())
    assert waited is not None
    (entry,) = waited.json["data"]
    assert [1, None, UPLOAD] == [entry[name] for name in ("sequence", "status", "request_body")]


def test_a_wait_goes_on_over_a_reset(emulator: EmulatorUnderTest) -> None:
    waited, *_ = emulator.together(_wait_for(LONG), control_call("POST", "/reset"), Call("GET", "/team"))
    assert [1] == _sequences(waited)


def test_a_wait_in_a_sandbox_that_is_deleted_ends(emulator: EmulatorUnderTest) -> None:
    emulator.told("POST", "/sandboxes", {"id": "aside"})
    waited, _ = emulator.together(_wait_for(LONG, sandbox="aside"), control_call("DELETE", "/sandboxes/aside"))
    assert (404, "not_found") == waited.outcome


def test_a_wait_ends_with_the_emulator(emulator: EmulatorUnderTest) -> None:
    async def story() -> Answer | None:
        waiting = asyncio.create_task(emulator._send(_wait_for(LONG)))
        await _until_it_waits(emulator)
        emulator.application.stop()
        return await waiting

    waited = emulator.run(story())
    assert waited is not None
    assert (200, []) == (waited.status, waited.json["data"])


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_wait_is_forgotten_when_its_client_goes_away(emulator: EmulatorUnderTest, method: str) -> None:
    sent: list[MutableMapping[str, Any]] = []

    async def story() -> None:
        messages: asyncio.Queue[MutableMapping[str, Any]] = asyncio.Queue()
        messages.put_nowait({"type": "http.request", "body": b"", "more_body": False})

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        scope = emulator.scope_of(control_call(method, f"/requests?{LONG}"))
        waiting = asyncio.ensure_future(emulator.application(scope, messages.get, send))
        await _until_it_waits(emulator)
        messages.put_nowait({"type": "http.disconnect"})
        await waiting

    emulator.run(story())
    assert [] == sent
    assert _nobody_waits(emulator)
