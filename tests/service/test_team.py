"""GET /team: who asks, what is left, what may be done (section 2, D20, D29)."""

from typing import Any

import pytest

from tests.support.emulator_client import BROKE, FULL, LAPSED, OTHER, READ_ONLY, EmulatorUnderTest


def test_the_team_of_the_credential_is_shown(emulator: EmulatorUnderTest) -> None:
    team = emulator.get("/team").json
    assert (team["name"], team["credits"]) == ("Demo", 100)
    assert team["credential"] == {
        "object": "api_credential",
        "id": team["credential"]["id"],
        "name": "Full",
        "prefix": FULL[:8],
        "profile": "full",
        "expires_at": "2027-01-01T00:00:00.000Z",
    }
    assert team["capabilities"] == {
        "api_access": True,
        "subscription_active": True,
        "creative_writes_allowed": True,
        "api_concurrency": {"limit": 20, "used": 0},
    }


@pytest.mark.parametrize(
    ("key", "name", "credits_left", "subscription_active", "writes_allowed"),
    [
        (FULL, "Demo", 100, True, True),
        (READ_ONLY, "Demo", 100, True, False),
        (OTHER, "Other", 100, True, True),
        (LAPSED, "Lapsed", 50, False, False),
        (BROKE, "Broke", 0, True, True),
    ],
)
def test_each_credential_sees_its_team_and_what_it_may_do(
    emulator: EmulatorUnderTest, key: str, name: str, credits_left: int, subscription_active: bool, writes_allowed: bool
) -> None:
    """D20."""
    team, full = emulator.get("/team", key).json, emulator.get("/team").json
    capabilities = team["capabilities"]
    assert (name, credits_left, name == "Demo") == (team["name"], team["credits"], team["id"] == full["id"])
    assert (key == FULL) == (team["credential"]["id"] == full["credential"]["id"])
    assert subscription_active == capabilities["subscription_active"]
    assert (True, writes_allowed) == (capabilities["api_access"], capabilities["creative_writes_allowed"])


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
