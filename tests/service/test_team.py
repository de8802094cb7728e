"""GET /team: who asks, what is left, what may be done (section 2, D20, D29)."""

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
