"""What a page shows and does beside the journal: work, Assets and their pictures, the first photoshoot, admission."""

import pytest

from tests.support.emulator_client import (
    FULL,
    OTHER,
    READ_ONLY,
    START,
    UPLOAD,
    EmulatorUnderTest,
    Json,
)
from tests.support.pictures import picture

PNG = {"Content-Type": "image/png"}


def listed(emulator: EmulatorUnderTest, path: str) -> list[Json]:
    return list(emulator.told("GET", path)["data"])


def fetched(emulator: EmulatorUnderTest, url: str) -> bytes:
    answer = emulator.ask("GET", url.removeprefix("/_emulator"))
    assert answer.status == 200, answer.body
    return answer.body


def untouched(emulator: EmulatorUnderTest) -> tuple[int, str]:
    """What watching must not change: the journal, and the Request-Id that the next request takes."""
    return len(emulator.told("GET", "/requests")["data"]), str(
        emulator.sandbox.identifiers.counters
    )


def test_work_of_all_teams_is_listed_newest_first(emulator: EmulatorUnderTest) -> None:
    first = emulator.admitted_upscale()
    emulator.advance(0.5)
    second = emulator.admitted_upscale(OTHER)
    work = listed(emulator, "/work")
    assert [(item["id"], item["team"]["name"]) for item in work] == [
        (second["id"], "Other"),
        (first["id"], "Demo"),
    ]
    assert listed(emulator, "/work?limit=1") == work[:1]


def test_work_shows_its_slots_cost_and_the_request_it_was_admitted_with(
    emulator: EmulatorUnderTest,
) -> None:
    work = emulator.admitted_upscale()
    (shown,) = listed(emulator, "/work")
    assert (shown["object"], shown["workflow"], shown["status"]) == (
        "generation",
        "upscale",
        "queued",
    )
    assert shown["credits"] == {"reserved": 1, "charged": None}
    assert (
        emulator.told("GET", f"/requests/{shown['request']}")["response_body"]["id"]
        == work["id"]
    )
    nothing = {"asset_id": None, "url": None, "error": None}
    pending = {
        "slot": 1,
        "status": "pending",
        "finishes_at": "2026-01-01T00:00:06.000Z",
        **nothing,
    }
    assert shown["outputs"] == [pending]
    emulator.advance(10)
    (done,) = listed(emulator, "/work")
    (output,) = done["outputs"]
    assert (done["status"], done["credits"]["charged"], output["status"]) == (
        "completed",
        1,
        "completed",
    )
    address = emulator.get(f"/assets/{output['asset_id']}").json["url"]
    assert fetched(emulator, output["url"]) == emulator.fetch(address).body


def test_work_that_fails_names_its_error_and_the_rule_behind_it(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule({"work": "upscale"}, {"outputs": {1: "content_rejected"}})
    emulator.admitted_upscale()
    emulator.advance(10)
    (shown,) = listed(emulator, "/work")
    assert (shown["outputs"][0]["error"]["code"], shown["rule"]["name"]) == (
        "content_rejected",
        "the rule",
    )


def test_an_operation_shows_the_pictures_of_what_it_made(
    emulator: EmulatorUnderTest,
) -> None:
    pose = emulator.author("pose")
    (shown,) = listed(emulator, "/work")
    assert (shown["object"], shown["type"], shown["result_id"]) == (
        "operation",
        "pose.create",
        pose["id"],
    )
    assert [fetched(emulator, url)[:4] for url in shown["pictures"]] == [b"\x89PNG"]


@pytest.mark.parametrize("sandbox", [None, "other"])
def test_assets_of_all_teams_are_listed_newest_first(
    emulator: EmulatorUnderTest, sandbox: str | None
) -> None:
    emulator.make_sandbox("other")
    own, other = (key + (f"_{sandbox}" if sandbox else "") for key in (FULL, OTHER))
    (first,), (second,) = emulator.assets(1, own), emulator.assets(1, other)
    assets = emulator.told("GET", "/assets", sandbox=sandbox)["data"]
    assert [(one["id"], one["team"]["name"]) for one in assets] == [
        (second, "Other"),
        (first, "Demo"),
    ]
    link = emulator.get(f"/assets/{second}", other).json["url"]
    before = untouched(emulator)
    shown = fetched(emulator, assets[0]["url"])
    assert untouched(emulator) == before
    assert shown == emulator.fetch(link).body
    emulator.delete(f"/assets/{second}", other)
    assert emulator.ask("GET", assets[0]["url"].removeprefix("/_emulator")).outcome == (
        404,
        "not_found",
    )


def test_a_file_becomes_an_asset_of_the_first_team_or_of_the_one_named(
    emulator: EmulatorUnderTest,
) -> None:
    before = untouched(emulator)[0]
    made = emulator.ask("POST", "/assets", content=picture(), headers=PNG)
    assert made.status == 201
    assert (
        emulator.get(f"/assets/{made.json['id']}", READ_ONLY).json["width"]
        == made.json["width"]
    )
    emulator.told("POST", "/assets?team=Other", content=picture(), headers=PNG)
    assert [asset["team"]["name"] for asset in listed(emulator, "/assets")] == [
        "Other",
        "Demo",
    ]
    assert untouched(emulator)[0] == before + 1  # the read of the Asset over /v1


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
    emulator: EmulatorUnderTest,
    content: bytes,
    headers: dict[str, str],
    query: str,
    expected: tuple[int, str],
) -> None:
    assert (
        emulator.refusal("POST", f"/assets{query}", content=content, headers=headers)[
            :2
        ]
        == expected
    )
    assert listed(emulator, "/assets") == []


def test_admission_is_paused_and_opened(emulator: EmulatorUnderTest) -> None:
    assert emulator.told("GET", "/admission") == {"state": "open", "retry_after": None}
    paused = {"state": "paused", "retry_after": 9}
    assert emulator.told("PUT", "/admission", paused) == paused
    refused = emulator.post("/uploads", UPLOAD)
    assert (refused.status, refused.retry_after) == (503, 9)
    assert emulator.get("/team").status == 200
    assert emulator.told("PUT", "/admission", {"state": "open"})["state"] == "open"
    assert emulator.open_upload(5)["object"] == "upload"
    assert emulator.clock_now() == START
