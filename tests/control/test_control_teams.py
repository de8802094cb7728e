"""Teams and credentials over the control plane: what is changed here is what the service goes by from then on."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.support.emulator_client import (
    EXPIRED,
    FULL,
    READ_ONLY,
    REVOKED,
    EmulatorUnderTest,
)


def test_teams_are_listed_with_all_that_is_theirs(emulator: EmulatorUnderTest) -> None:
    teams = emulator.told("GET", "/teams")["data"]
    expected = [
        ("Demo", 100, "active"),
        ("Other", 100, "active"),
        ("Lapsed", 50, "inactive"),
        ("Broke", 0, "active"),
    ]
    assert [
        (team["name"], team["credits"], team["subscription"]) for team in teams
    ] == expected
    demo = teams[0]
    limits = {"concurrency_limit", "concurrency_used", "requests_per_minute"}
    credit = {"credits", "reserved", "credit_changes"}
    assert demo.keys() == {
        "id",
        "name",
        "subscription",
        "credentials",
        *credit,
        *limits,
    }
    assert (demo["id"], demo["concurrency_limit"], demo["requests_per_minute"]) == (
        emulator.get("/team").id,
        20,
        120,
    )
    shown = [(one["key"], one["profile"], one["state"]) for one in demo["credentials"]]
    active = [
        (FULL, "full", "active"),
        (READ_ONLY, "read_only", "active"),
        (EXPIRED, "full", "active"),
    ]
    assert shown == [*active, (REVOKED, "full", "revoked")]
    credential = emulator.get("/team").json["credential"]
    shared = {
        name: credential[name] for name in ("id", "name", "profile", "expires_at")
    }
    assert demo["credentials"][0] == {**shared, "key": FULL, "state": "active"}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "/teams/Nobody", {"credits": 1}),
        ("POST", "/teams/Nobody/credentials", {"profile": "full"}),
        ("PATCH", "/credentials/Nobody", {"state": "revoked"}),
        ("GET", "/scenario?team=Nobody", None),
        ("GET", "/requests?team=Nobody", None),
    ],
)
def test_an_unknown_team_or_credential_is_404(
    emulator: EmulatorUnderTest, method: str, path: str, body: Any
) -> None:
    status, code, detail = emulator.refusal(method, path, body)
    assert (status, code) == (404, "not_found")
    assert '"Nobody"' in detail
    emulator.told("POST", "/sandboxes", {"id": "other", "seed": 99})
    foreign = f"/credentials/{emulator.team()['credentials'][0]['id']}"
    assert emulator.ask(
        "PATCH", foreign, {"state": "revoked"}, sandbox="other"
    ).outcome == (404, "not_found")


def test_a_new_team_is_as_it_is_described_with_a_full_and_a_read_only_credential(
    emulator: EmulatorUnderTest,
) -> None:
    team = emulator.told("POST", "/teams", {"name": "Studio Nord"})
    assert (team["credits"], team["subscription"], team["concurrency_limit"]) == (
        100,
        "active",
        20,
    )
    keys = {one["profile"]: one["key"] for one in team["credentials"]}
    assert keys == {"full": "iwe_studio-nord_full", "read_only": "iwe_studio-nord_read"}
    assert emulator.get("/team", keys["full"]).json["name"] == "Studio Nord"
    assert (
        emulator.get("/team", keys["read_only"]).json["credential"]["profile"]
        == "read_only"
    )
    assert emulator.team("Studio Nord") == team
    described = {
        "credits": 5,
        "subscription": "inactive",
        "concurrency_limit": 1,
        "requests_per_minute": 9,
    }
    team = emulator.told("POST", "/teams", {"name": "Small", **described})
    assert {name: team[name] for name in described} == described
    assert emulator.credits("iwe_small_full") == 5


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("demo", "iwe_demo_full_2"),
        ("Ünïcode & Söhne", "iwe_n-code-s-hne_full"),
        ("日本", "iwe_team_full"),
        ("x" * 200, f"iwe_{'x' * 40}_full"),
        ("a/b", "iwe_a-b_full"),
        ("100 %", "iwe_100_full"),
    ],
)
def test_a_new_team_has_keys_by_its_name_and_is_found_by_it(
    emulator: EmulatorUnderTest, name: str, key: str
) -> None:
    team = emulator.told("POST", "/teams", {"name": name})
    assert team["credentials"][0]["key"] == key
    assert emulator.get("/team", key).json["name"] == name
    assert (
        emulator.told("PATCH", f"/teams/{quote(name, safe='')}", {"credits": 1})["name"]
        == name
    )


def test_a_name_that_a_team_has_is_refused(emulator: EmulatorUnderTest) -> None:
    for name in ("Demo", emulator.team()["id"]):
        status, code, detail = emulator.refusal("POST", "/teams", {"name": name})
        assert (status, code) == (409, "invalid_request")
        assert detail.startswith(
            f'/name: found "{name}"; expected the name of no other Team'
        )
    assert emulator.told("PATCH", "/teams/Demo", {"credits": 1})["credits"] == 1


def test_a_credential_can_be_added_with_an_expiry_and_given_another(
    emulator: EmulatorUnderTest,
) -> None:
    described = {"profile": "full", "expires_at": "2026-01-01T00:01:00.000Z"}
    credential = emulator.told("POST", "/teams/Demo/credentials", described)
    assert {"state": "active", **described}.items() <= credential.items()
    assert credential in emulator.team()["credentials"]
    key = credential["key"]
    emulator.advance(59.999)
    assert (
        emulator.get("/team", key).json["credential"]["expires_at"]
        == described["expires_at"]
    )
    emulator.advance(0.001)
    assert emulator.get("/team", key).outcome == (401, "credential_expired")
    path = f"/credentials/{EXPIRED}"
    emulator.told("PATCH", path, {"expires_at": "2027-01-01T00:00:00.000Z"})
    assert (
        emulator.get("/team", EXPIRED).json["credential"]["expires_at"]
        == "2027-01-01T00:00:00.000Z"
    )
    emulator.told(
        "PATCH", path, {"expires_at": "2025-01-01T00:00:00.000Z", "state": "active"}
    )
    assert emulator.get("/team", EXPIRED).outcome == (401, "credential_expired")


def test_what_set_the_credits_of_a_team_is_listed_with_its_time(
    emulator: EmulatorUnderTest,
) -> None:
    change = {"at": "30s", "set": {"team": "Demo", "credits": 1}}
    emulator.told(
        "PUT", "/scenario", {"scenario": "poorer", "rules": [], "timeline": [change]}
    )
    emulator.told("PATCH", "/teams/Demo", {"credits": 40})
    emulator.told("POST", "/clock/advance", {"seconds": 90})
    listed = emulator.told("GET", "/teams")["data"][0]["credit_changes"]
    assert [(one["at"][11:19], one["change"]) for one in listed] == [
        ("00:00:00", -60),
        ("00:00:30", -39),
    ]
