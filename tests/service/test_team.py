"""GET /team: who asks, what is left, what may be done (section 2, D20, D29)."""

import pytest

from tests.support.emulator_client import BROKE, FULL, LAPSED, OTHER, READ_ONLY, EmulatorUnderTest, ingredient_body


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
    emulator: EmulatorUnderTest,
    key: str,
    name: str,
    credits_left: int,
    subscription_active: bool,
    writes_allowed: bool,
) -> None:
    """D20."""
    team = emulator.get("/team", key).json
    capabilities = team["capabilities"]
    assert (name, credits_left) == (team["name"], team["credits"])
    assert (subscription_active, writes_allowed) == (
        capabilities["subscription_active"],
        capabilities["creative_writes_allowed"],
    )
    assert capabilities["api_access"] is True


def test_credentials_of_one_team_differ_and_share_the_team(emulator: EmulatorUnderTest) -> None:
    full, read = emulator.get("/team", FULL).json, emulator.get("/team", READ_ONLY).json
    assert full["id"] == read["id"]
    assert full["credential"]["id"] != read["credential"]["id"]


def test_the_credits_are_what_is_left_after_all_that_is_set_aside(emulator: EmulatorUnderTest) -> None:
    """D29."""
    emulator.photograph(image_count=3, resolution="4k")
    assert emulator.credits(READ_ONLY) == 94


def test_the_concurrency_shows_unfinished_work_of_all_kinds(emulator: EmulatorUnderTest) -> None:
    """D40."""
    assets = emulator.assets(3)
    generation = emulator.photograph(asset_ids=assets, output_mode="photoshoot").json
    emulator.post("/poses", ingredient_body("pose", assets))
    used = [emulator.get("/team").json["capabilities"]["api_concurrency"]["used"]]
    emulator.wait_for(generation)
    used.append(emulator.get("/team").json["capabilities"]["api_concurrency"]["used"])
    assert used == [2, 0]
