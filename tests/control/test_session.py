"""A session: every answer that the page asks for, in one file."""

from typing import Any

import pytest

from image_workflow_emulator.control import session as sessions
from tests.support.emulator_client import FULL
from tests.support.emulator_under_test import EmulatorUnderTest

KEY_IN_TEXT = """\
scenario: revoked
timeline:
  - {at: 10s, set: {credential: iwe_demo_full, state: revoked}}
"""


def session(emulator: EmulatorUnderTest, sandbox: str | None = None) -> Any:
    return emulator.told("GET", "/session", sandbox=sandbox)


def test_it_has_the_running_scenario_with_rules_timeline_and_text(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.told("PUT", "/scenario", {"use": "credits-run-dry"})

    scenario = session(emulator)["answers"]["scenario"]

    assert scenario == emulator.told("GET", "/scenario")
    assert "scenario: credits-run-dry\n" in scenario["text"]


@pytest.mark.parametrize("path", ["clock", "readings", "admission", "coverage"])
def test_its_answers_are_those_of_the_control_plane(
    emulator: EmulatorUnderTest,
    path: str,
) -> None:
    emulator.photograph()

    answers = session(emulator)["answers"]

    assert answers[path] == emulator.told("GET", f"/{path}")


@pytest.mark.parametrize("path", ["work", "assets"])
def test_it_has_the_newest_thousand_of_a_list(
    emulator: EmulatorUnderTest,
    path: str,
) -> None:
    emulator.photograph()

    answers = session(emulator)["answers"]

    assert answers[path] == emulator.told("GET", f"/{path}?limit=1000")


def test_each_request_has_its_explanation(emulator: EmulatorUnderTest) -> None:
    emulator.post("/products", {"name": "Shirt"})

    requests = session(emulator)["answers"]["requests"]

    assert requests["data"] == [emulator.told("GET", "/requests/1")]
    assert requests["last_sequence"] == 1


def test_each_team_has_its_ledger(emulator: EmulatorUnderTest) -> None:
    team = emulator.get("/team").id

    answers = session(emulator)["answers"]

    ledger = emulator.told("GET", f"/teams/{team}/ledger")
    assert answers[f"teams/{team}/ledger"] == ledger


def test_no_key_is_whole_in_it(emulator: EmulatorUnderTest) -> None:
    emulator.told("PUT", "/scenario", content=KEY_IN_TEXT.encode())
    emulator.get("/team")

    text = emulator.ask("GET", "/session").body.decode()

    assert FULL not in text
    assert "credential: iwe_de…" in text


def test_no_key_of_a_world_file_is_whole_in_that_of_another_sandbox(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.make_sandbox("mine")
    emulator.told("PUT", "/scenario", content=KEY_IN_TEXT.encode(), sandbox="mine")

    text = emulator.ask("GET", "/session", sandbox="mine").body.decode()

    assert FULL not in text


def test_it_has_the_pictures_of_assets(emulator: EmulatorUnderTest) -> None:
    (asset,) = emulator.assets(1)

    pictures = session(emulator)["pictures"]

    assert pictures[asset].startswith("data:image/png;base64,")


def test_pictures_beyond_its_limit_are_counted(
    emulator: EmulatorUnderTest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sessions, "MAX_PICTURE_BYTES", 1)
    emulator.assets(2)

    file = session(emulator)

    assert file["pictures"] == {}
    assert file["left_out"]["pictures"] == 2


def test_requests_beyond_its_limit_are_counted(
    emulator: EmulatorUnderTest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sessions, "MAX_ENTRIES", 2)
    for _ in range(3):
        emulator.get("/team")

    file = session(emulator)

    assert len(file["answers"]["requests"]["data"]) == 2
    assert file["left_out"]["requests"] == 1
