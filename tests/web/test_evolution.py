"""Evolution: what v1 may add is there (D68), and every answer still fits the contract."""

from typing import Any

import pytest

from tests.support.emulator_client import FULL, EmulatorUnderTest, Json, MakeEmulator
from tests.support.every_operation import CALLS, SUCCESSES, prepare

evolved = pytest.mark.emulator(evolution=True)


def objects(value: Any) -> list[Json]:
    """Every object of an answer, but for those that repeat or prescribe what a client sends."""
    if isinstance(value, list):
        return [found for item in value for found in objects(item)]
    if not isinstance(value, dict):
        return []
    prescribed = ("request", "headers", "body", "dimensions", "evolved")
    return [value, *(found for name, inner in value.items() if name not in prescribed for found in objects(inner))]


@evolved
@pytest.mark.parametrize("operation", CALLS)
def test_every_object_of_every_operation_has_an_unknown_field(emulator: EmulatorUnderTest, operation: str) -> None:
    answer = emulator.send(CALLS[operation](prepare(emulator)))
    assert answer.status == SUCCESSES[operation], answer.body
    assert all("evolved" in found for found in objects(answer.json if answer.body else []))
    assert "service-region" in answer.headers


def test_ids_and_cursors_are_longer_and_the_usual_list_has_a_second_page(make_emulator: MakeEmulator) -> None:
    plain, evolved = make_emulator(), make_emulator(evolution=True)
    (page, long_page) = (emulator.get("/poses?limit=1").json for emulator in (plain, evolved))
    assert len(page["data"][0]["id"]) + 16 == len(long_page["data"][0]["id"])
    assert len(page["page"]["next_cursor"]) + 16 == len(long_page["page"]["next_cursor"])
    first = evolved.get("/poses").json
    second = evolved.get(f"/poses?after={first['page']['next_cursor']}").json
    assert (25, 7) == (len(first["data"]), len(second["data"]))


@evolved
def test_a_state_file_keeps_it_and_a_sandbox_may_go_without(emulator: EmulatorUnderTest) -> None:
    state = emulator.ask("GET", "/state").body
    emulator.told("PUT", "/state", content=state)
    assert "evolved" in emulator.get("/team").json
    made = emulator.told("POST", "/sandboxes", {"id": "plain", "evolution": False})
    assert "evolved" not in emulator.get("/team", f"{FULL}_{made['id']}").json
    assert "evolved" in emulator.get("/team").json
