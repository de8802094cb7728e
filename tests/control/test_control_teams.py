"""Teams and credentials over the control plane.

What is changed here is what the service goes by from then on.
"""

from typing import Any
from urllib.parse import quote

import pytest

from tests.support.emulator_client import EXPIRED, FULL, READ_ONLY, REVOKED
from tests.support.emulator_under_test import EmulatorUnderTest

# Reading -----------------------------------------------------------------------------


def test_teams_are_listed_in_the_order_of_their_making(
    emulator: EmulatorUnderTest,
) -> None:
    teams = emulator.told("GET", "/teams")["data"]

    assert [
        (team["name"], team["credits"], team["subscription"]) for team in teams
    ] == [
        ("Demo", 100, "active"),
        ("Other", 100, "active"),
        ("Lapsed", 50, "inactive"),
        ("Broke", 0, "active"),
    ]


def test_a_team_has_the_id_and_the_limits_that_the_service_goes_by(
    emulator: EmulatorUnderTest,
) -> None:
    team = emulator.team("Demo")

    assert team["id"] == emulator.get("/team").id
    assert team["concurrency_limit"] == 20
    assert team["requests_per_minute"] == 120


def test_a_team_shows_what_its_work_takes(emulator: EmulatorUnderTest) -> None:
    emulator.admitted_upscale()

    team = emulator.team("Demo")

    assert team["concurrency_used"] == 1
    assert team["reserved"] == 1
    assert team["credits"] == 99


def test_a_team_has_its_credentials(emulator: EmulatorUnderTest) -> None:
    credentials = emulator.team("Demo")["credentials"]

    assert [(one["key"], one["profile"], one["state"]) for one in credentials] == [
        (FULL, "full", "active"),
        (READ_ONLY, "read_only", "active"),
        (EXPIRED, "full", "active"),
        (REVOKED, "full", "revoked"),
    ]


def test_a_credential_is_shown_as_the_service_shows_it(
    emulator: EmulatorUnderTest,
) -> None:
    credential = emulator.team("Demo")["credentials"][0]

    own = emulator.get("/team").json["credential"]
    assert credential == {
        "id": own["id"],
        "key": FULL,
        "name": own["name"],
        "profile": own["profile"],
        "state": "active",
        "expires_at": own["expires_at"],
    }


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
    emulator: EmulatorUnderTest,
    method: str,
    path: str,
    body: Any,
) -> None:
    answer = emulator.ask(method, path, body)

    assert answer.status == 404
    assert answer.code == "not_found"
    assert '"Nobody"' in answer.json["detail"]


def test_a_credential_of_another_sandbox_is_404(emulator: EmulatorUnderTest) -> None:
    emulator.make_sandbox("other", seed=99)
    credential_id = emulator.team()["credentials"][0]["id"]

    answer = emulator.ask(
        "PATCH",
        f"/credentials/{credential_id}",
        {"state": "revoked"},
        sandbox="other",
    )

    assert answer.status == 404
    assert answer.code == "not_found"


# New Teams ---------------------------------------------------------------------------


def test_a_new_team_has_the_defaults_of_a_world_file(
    emulator: EmulatorUnderTest,
) -> None:
    team = emulator.told("POST", "/teams", {"name": "Studio Nord"})

    assert team == emulator.team("Studio Nord")
    assert team["credits"] == 100
    assert team["subscription"] == "active"
    assert team["concurrency_limit"] == 20


def test_a_new_team_has_a_full_and_a_read_only_credential(
    emulator: EmulatorUnderTest,
) -> None:
    team = emulator.told("POST", "/teams", {"name": "Studio Nord"})

    full, read_only = (one["key"] for one in team["credentials"])
    own = emulator.get("/team", read_only).json

    assert full == "iwe_studio-nord_full"
    assert read_only == "iwe_studio-nord_read"
    assert own["name"] == "Studio Nord"
    assert own["credential"]["profile"] == "read_only"


def test_a_new_team_is_as_it_is_described(emulator: EmulatorUnderTest) -> None:
    described = {
        "credits": 5,
        "subscription": "inactive",
        "concurrency_limit": 1,
        "requests_per_minute": 9,
    }

    team = emulator.told("POST", "/teams", {"name": "Small", **described})

    assert described.items() <= team.items()
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
    emulator: EmulatorUnderTest,
    name: str,
    key: str,
) -> None:
    team = emulator.told("POST", "/teams", {"name": name})

    path = f"/teams/{quote(name, safe='')}"
    assert team["credentials"][0]["key"] == key
    assert emulator.get("/team", key).json["name"] == name
    assert emulator.told("PATCH", path, {"credits": 1})["name"] == name


@pytest.mark.parametrize("member", ["name", "id"])
def test_a_name_that_is_the_name_or_the_id_of_a_team_is_refused(
    emulator: EmulatorUnderTest,
    member: str,
) -> None:
    demo = emulator.team()
    name = demo[member]

    answer = emulator.ask("POST", "/teams", {"name": name})

    complaint = f'/name: found "{name}"; expected the name of no other Team'
    assert answer.status == 409
    assert answer.code == "invalid_request"
    assert answer.json["detail"].startswith(complaint)


# Changes -----------------------------------------------------------------------------


def test_credits_that_are_set_are_those_that_the_service_shows(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.admitted_upscale()

    team = emulator.told("PATCH", "/teams/Demo", {"credits": 7})

    assert team["credits"] == 7
    assert emulator.credits() == 7


# Credentials -------------------------------------------------------------------------


def test_a_credential_is_as_it_is_described(emulator: EmulatorUnderTest) -> None:
    described = {"profile": "full", "expires_at": "2026-01-01T00:01:00.000Z"}

    credential = emulator.told("POST", "/teams/Demo/credentials", described)

    own = emulator.get("/team", credential["key"]).json["credential"]
    assert described.items() <= credential.items()
    assert credential["state"] == "active"
    assert credential in emulator.team()["credentials"]
    assert own["expires_at"] == described["expires_at"]


@pytest.mark.parametrize("sandbox", [None, "aside"])
def test_each_credential_of_a_team_has_a_key_of_its_own(
    emulator: EmulatorUnderTest,
    sandbox: str | None,
) -> None:
    emulator.make_sandbox("aside")

    keys = [
        emulator.told(
            "POST",
            "/teams/Demo/credentials",
            {"profile": "full"},
            sandbox=sandbox,
        )["key"]
        for _ in range(2)
    ]

    suffix = "" if sandbox is None else "_aside"
    assert keys == [f"iwe_demo_full_2{suffix}", f"iwe_demo_full_3{suffix}"]


def test_a_credential_expires_at_its_instant(emulator: EmulatorUnderTest) -> None:
    described = {"profile": "full", "expires_at": "2026-01-01T00:01:00.000Z"}
    key = emulator.told("POST", "/teams/Demo/credentials", described)["key"]

    emulator.advance(59.999)
    status_before = emulator.get("/team", key).status
    emulator.advance(0.001)

    after = emulator.get("/team", key)
    assert status_before == 200
    assert after.status == 401
    assert after.code == "credential_expired"


def test_an_expired_credential_is_accepted_with_a_later_expiry(
    emulator: EmulatorUnderTest,
) -> None:
    later = "2027-01-01T00:00:00.000Z"

    emulator.told("PATCH", f"/credentials/{EXPIRED}", {"expires_at": later})

    own = emulator.get("/team", EXPIRED).json["credential"]
    assert own["expires_at"] == later


def test_an_active_credential_with_a_past_expiry_is_expired(
    emulator: EmulatorUnderTest,
) -> None:
    change = {"expires_at": "2025-01-01T00:00:00.000Z", "state": "active"}

    emulator.told("PATCH", f"/credentials/{FULL}", change)

    answer = emulator.get("/team")
    assert answer.status == 401
    assert answer.code == "credential_expired"


def test_a_credential_is_revoked_and_restored_by_its_id(
    emulator: EmulatorUnderTest,
) -> None:
    path = f"/credentials/{emulator.team()['credentials'][0]['id']}"

    emulator.told("PATCH", path, {"state": "revoked"})
    revoked = emulator.get("/team")
    emulator.told("PATCH", path, {"state": "active"})

    assert revoked.status == 401
    assert revoked.code == "credential_revoked"
    assert emulator.get("/team").status == 200
