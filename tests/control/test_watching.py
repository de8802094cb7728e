"""What a page shows and does beside the journal: work, Assets and their pictures, the first photoshoot, admission."""

import pytest

from tests.support.emulator_client import FULL, OTHER, READ_ONLY, START, EmulatorUnderTest, Json
from tests.support.pictures import picture

PNG = {"Content-Type": "image/png"}


def listed(control: EmulatorUnderTest, path: str) -> list[Json]:
    return list(control.told("GET", path)["data"])


def fetched(control: EmulatorUnderTest, url: str) -> bytes:
    answer = control.ask("GET", url.removeprefix("/_emulator"))
    assert answer.status == 200, answer.body
    return answer.body


def untouched(control: EmulatorUnderTest) -> tuple[int, str]:
    """What watching must not change: the journal, and the Request-Id that the next request takes."""
    return len(control.told("GET", "/requests")["data"]), str(control.sandbox.identifiers.counters)


# Work -----------------------------------------------------------------------------------------------------------------


def test_work_of_all_teams_is_listed_newest_first(control: EmulatorUnderTest) -> None:
    first = control.admitted_upscale()
    control.advance(0.5)
    second = control.admitted_upscale(OTHER)
    work = listed(control, "/work")
    assert [(item["id"], item["team"]["name"]) for item in work] == [(second["id"], "Other"), (first["id"], "Demo")]
    assert listed(control, "/work?limit=1") == work[:1]


def test_work_shows_its_slots_cost_and_the_request_it_was_admitted_with(control: EmulatorUnderTest) -> None:
    work = control.admitted_upscale()
    (shown,) = listed(control, "/work")
    assert (shown["object"], shown["workflow"], shown["status"]) == ("generation", "upscale", "queued")
    assert shown["credits"] == {"reserved": 1, "charged": None}
    assert control.told("GET", f"/requests/{shown['request']}")["response_body"]["id"] == work["id"]
    assert shown["outputs"] == [
        {
            "slot": 1,
            "status": "pending",
            "finishes_at": "2026-01-01T00:00:06.000Z",
            "asset_id": None,
            "url": None,
            "error": None,
        }
    ]
    control.advance(10)
    (done,) = listed(control, "/work")
    (output,) = done["outputs"]
    assert (done["status"], done["credits"]["charged"], output["status"]) == ("completed", 1, "completed")
    assert (
        fetched(control, output["url"]) == control.fetch(control.get(f"/assets/{output['asset_id']}").json["url"]).body
    )


def test_work_that_fails_names_its_errors_and_the_rule_behind_them(control: EmulatorUnderTest) -> None:
    text = "scenario: one\nrules:\n  - match: {work: upscale}\n    then: {outputs: {1: content_rejected}}\n"
    control.told("PUT", "/scenario?file=one.yaml", content=text.encode())
    control.admitted_upscale()
    control.advance(10)
    (shown,) = listed(control, "/work")
    assert shown["outputs"][0]["error"]["code"] == "content_rejected"
    assert (shown["rule"]["file"], shown["rule"]["line"]) == ("one.yaml", 3)


def test_an_operation_shows_the_pictures_of_what_it_made(control: EmulatorUnderTest) -> None:
    pose = control.author("pose")
    (shown,) = listed(control, "/work")
    assert (shown["object"], shown["type"], shown["result_id"]) == ("operation", "pose.create", pose["id"])
    assert [fetched(control, url)[:4] for url in shown["pictures"]] == [b"\x89PNG"]


# Assets and pictures --------------------------------------------------------------------------------------------------


def test_assets_of_all_teams_are_listed_newest_first_with_their_pictures(control: EmulatorUnderTest) -> None:
    (mine,) = control.assets(1)
    control.advance(1)
    (other,) = control.assets(1, OTHER)
    assets = listed(control, "/assets")
    assert [(asset["id"], asset["team"]["name"]) for asset in assets] == [(other, "Other"), (mine, "Demo")]
    before = untouched(control)
    assert fetched(control, assets[0]["url"]) == picture()
    assert untouched(control) == before
    control.delete(f"/assets/{mine}")
    assert control.ask("GET", f"/pictures/{mine}").outcome == (404, "not_found")


def test_pictures_of_another_sandbox_lie_below_it(control: EmulatorUnderTest) -> None:
    control.told("POST", "/sandboxes", {"id": "other"})
    (asset_id,) = control.assets(1, f"{FULL}_other")
    (asset,) = control.told("GET", "/assets", sandbox="other")["data"]
    assert asset["url"] == f"/_emulator/sandboxes/other/pictures/{asset_id}"
    assert fetched(control, asset["url"]) == picture()
    assert control.ask("GET", f"/pictures/{asset_id}").status == 404


def test_a_file_becomes_an_asset_of_the_first_team_or_of_the_one_named(control: EmulatorUnderTest) -> None:
    before = untouched(control)[0]
    made = control.ask("POST", "/assets", content=picture(), headers=PNG)
    assert made.status == 201
    assert control.get(f"/assets/{made.json['id']}", READ_ONLY).json["width"] == made.json["width"]
    control.told("POST", "/assets?team=Other", content=picture(), headers=PNG)
    assert [asset["team"]["name"] for asset in listed(control, "/assets")] == ["Other", "Demo"]
    assert untouched(control)[0] == before + 1  # the look at the Asset over /v1


@pytest.mark.parametrize(
    ("content", "headers", "query", "expected"),
    [
        (b"no image", PNG, "", (422, "invalid_input")),
        (picture(), {"Content-Type": "text/plain"}, "", (400, "invalid_request")),
        (picture(), {}, "", (400, "invalid_request")),
        (picture(), PNG, "?team=Nobody", (404, "not_found")),
    ],
)
def test_a_file_that_cannot_become_an_asset_is_refused(
    control: EmulatorUnderTest, content: bytes, headers: dict[str, str], query: str, expected: tuple[int, str]
) -> None:
    assert control.refusal("POST", f"/assets{query}", content=content, headers=headers)[:2] == expected
    assert listed(control, "/assets") == []


# The first photoshoot -------------------------------------------------------------------------------------------------


def test_the_first_photoshoot_takes_the_newest_asset(control: EmulatorUnderTest) -> None:
    control.assets(1)
    (newest,) = control.assets(1)
    before = untouched(control)[0]
    shoot = control.ask("POST", "/first-photoshoot")
    assert (shoot.status, shoot.json["body"]["asset_ids"], len(shoot.json["outputs"])) == (201, [newest], 4)
    control.told("POST", "/clock/advance", {"until_idle": True})
    assert control.team()["credits"] == 98
    assert len([asset for asset in listed(control, "/assets") if asset["source"] == "generation"]) == 4
    assert untouched(control)[0] == before


def test_the_first_photoshoot_makes_do_with_a_sample(control: EmulatorUnderTest) -> None:
    control.told("POST", "/first-photoshoot")
    (sample,) = listed(control, "/assets")
    assert fetched(control, sample["url"])[:4] == b"\x89PNG"


def test_the_first_photoshoot_names_the_rule_that_decided_what_becomes_of_it(control: EmulatorUnderTest) -> None:
    control.told("PUT", "/scenario", {"use": "some-outputs-fail"})
    control.told("POST", "/first-photoshoot")
    (work,) = listed(control, "/work")
    assert (work["rule"]["name"], work["rule"]["file"]) == ("slots 2 and 4 fail", "some-outputs-fail.yaml")
    control.told("POST", "/reset")
    control.ask("DELETE", "/scenario")
    control.told("POST", "/first-photoshoot")
    assert [work["rule"] for work in listed(control, "/work")] == [None]


def test_the_first_photoshoot_is_refused_as_any_work_is(control: EmulatorUnderTest) -> None:
    assert control.refusal("POST", "/first-photoshoot?team=Broke")[:2] == (402, "insufficient_credits")
    assert control.refusal("POST", "/first-photoshoot?team=Lapsed")[:2] == (403, "subscription_required")
    control.told("PUT", "/admission", {"state": "paused"})
    assert control.refusal("POST", "/first-photoshoot")[:2] == (503, "service_unavailable")
    for credential in control.team()["credentials"]:
        control.told("PATCH", f"/credentials/{credential['id']}", {"state": "revoked"})
    assert "no full and active credential" in control.refusal("POST", "/first-photoshoot")[2]


# Admission ------------------------------------------------------------------------------------------------------------


def test_admission_is_paused_and_opened(control: EmulatorUnderTest) -> None:
    assert control.told("GET", "/admission") == {"state": "open", "retry_after": None}
    assert control.told("PUT", "/admission", {"state": "paused", "retry_after": 9}) == {
        "state": "paused",
        "retry_after": 9,
    }
    refused = control.post("/uploads", {"content_type": "image/png", "size_bytes": 5})
    assert (refused.status, refused.retry_after) == (503, 9)
    assert control.get("/team").status == 200
    assert control.told("PUT", "/admission", {"state": "open"})["state"] == "open"
    assert control.open_upload(5)["object"] == "upload"
    assert control.clock_now() == START


@pytest.mark.parametrize(
    "body", [{}, {"state": "shut"}, {"state": "paused", "retry_after": 0}, {"state": "open", "retry_after": 5}]
)
def test_an_unfit_state_of_admission_is_refused(control: EmulatorUnderTest, body: Json) -> None:
    assert control.refusal("PUT", "/admission", body)[:2] == (400, "invalid_request")
