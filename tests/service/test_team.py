"""GET /team, beside what the model says of it (section 2, D20, D29)."""

from typing import Any

import pytest

from tests.support.emulator_client import FULL, EmulatorUnderTest


def test_a_credential_shows_the_beginning_of_its_key_and_is_good_for_a_year(emulator: EmulatorUnderTest) -> None:
    credential = emulator.get("/team").json["credential"]
    assert (FULL[:8], "2027-01-01T00:00:00.000Z") == (credential["prefix"], credential["expires_at"])


@pytest.mark.parametrize(
    ("kind", "change", "part", "shown"),
    [
        ("teams", {"credits": 7}, None, {"credits": 7}),
        ("teams", {"concurrency_limit": 3}, "capabilities", {"api_concurrency": {"limit": 3, "used": 0}}),
        ("credentials", {"expires_at": "2030-01-01T00:00:00.000Z"}, "credential", None),
    ],
)
def test_a_change_of_the_team_or_the_credential_is_shown_at_once(
    emulator: EmulatorUnderTest, kind: str, change: dict[str, Any], part: str | None, shown: dict[str, Any] | None
) -> None:
    before = emulator.get("/team").json
    changed_id = before["id"] if kind == "teams" else before["credential"]["id"]
    emulator.told("PATCH", f"/{kind}/{changed_id}", change)
    new = change if shown is None else shown
    assert emulator.get("/team").json == {**before, **(new if part is None else {part: {**before[part], **new}})}


def test_credits_are_shown_anew_when_other_work_has_taken_the_place_of_finished_work(
    emulator: EmulatorUnderTest,
) -> None:
    def shown() -> tuple[int, int]:
        team = emulator.get("/team").json
        return team["credits"], team["capabilities"]["api_concurrency"]["used"]

    first = emulator.upscale().json
    credits_left, used = shown()
    emulator.wait_for(first)
    second = emulator.upscale().json
    assert shown() == (credits_left - second["credits"]["reserved"], used)
