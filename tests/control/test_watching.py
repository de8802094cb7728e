"""What the page shows and does beside the journal.

Work, Assets and their pictures, the first photoshoot, and the admission of writes.
"""

import pytest

from tests.support.emulator_client import FULL, OTHER, READ_ONLY, START, UPLOAD, Json
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.pictures import picture

PNG = {"Content-Type": "image/png"}


def listed(emulator: EmulatorUnderTest, path: str) -> list[Json]:
    """The resources of a list of the control plane."""
    answer = emulator.told("GET", path)
    return list(answer["data"])


def fetched(emulator: EmulatorUnderTest, url: str) -> bytes:
    """The picture that the page shows."""
    path = url.removeprefix("/_emulator")
    answer = emulator.ask("GET", path)
    assert answer.status == 200, answer.body
    return answer.body


def journaled(emulator: EmulatorUnderTest) -> int:
    """How many requests the journal has."""
    return len(listed(emulator, "/requests"))


# Work --------------------------------------------------------------------------------


def test_work_of_all_teams_is_listed_newest_first(emulator: EmulatorUnderTest) -> None:
    first = emulator.admitted_upscale()
    emulator.advance(0.5)
    second = emulator.admitted_upscale(OTHER)

    of_other, of_demo = listed(emulator, "/work")

    assert of_other["id"] == second["id"]
    assert of_other["team"]["name"] == "Other"
    assert of_demo["id"] == first["id"]
    assert of_demo["team"]["name"] == "Demo"


def test_a_list_of_work_has_as_much_as_it_is_asked_for(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.admitted_upscale()
    newest = emulator.admitted_upscale()

    (work,) = listed(emulator, "/work?limit=1")

    assert work["id"] == newest["id"]


def test_queued_work_shows_its_slots_and_its_cost(emulator: EmulatorUnderTest) -> None:
    emulator.admitted_upscale()

    (work,) = listed(emulator, "/work")

    assert work["object"] == "generation"
    assert work["workflow"] == "upscale"
    assert work["status"] == "queued"
    assert work["credits"] == {"reserved": 1, "charged": None}
    assert work["outputs"] == [
        {
            "slot": 1,
            "status": "pending",
            "finishes_at": "2026-01-01T00:00:06.000Z",
            "asset_id": None,
            "url": None,
            "error": None,
        }
    ]


def test_work_names_the_request_that_it_was_admitted_with(
    emulator: EmulatorUnderTest,
) -> None:
    admitted = emulator.admitted_upscale()

    (work,) = listed(emulator, "/work")

    entry = emulator.told("GET", f"/requests/{work['request']}")
    assert entry["response_body"]["id"] == admitted["id"]


def test_completed_work_shows_its_pictures_and_what_was_charged(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.admitted_upscale()
    emulator.advance(10)

    (work,) = listed(emulator, "/work")

    (output,) = work["outputs"]
    asset = emulator.get(f"/assets/{output['asset_id']}").json
    shown_picture = fetched(emulator, output["url"])
    downloaded = emulator.fetch(asset["url"])
    assert work["status"] == "completed"
    assert work["credits"]["charged"] == 1
    assert output["status"] == "completed"
    assert shown_picture == downloaded.body


def test_work_that_fails_names_its_error_and_the_rule_behind_it(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule({"work": "upscale"}, {"outputs": {1: "content_rejected"}})
    emulator.admitted_upscale()
    emulator.advance(10)

    (work,) = listed(emulator, "/work")

    (output,) = work["outputs"]
    assert output["error"]["code"] == "content_rejected"
    assert work["rule"]["name"] == "the rule"


def test_an_operation_shows_the_pictures_of_what_it_made(
    emulator: EmulatorUnderTest,
) -> None:
    pose = emulator.author("pose")

    (work,) = listed(emulator, "/work")

    (url,) = work["pictures"]
    shown_picture = fetched(emulator, url)
    assert work["object"] == "operation"
    assert work["type"] == "pose.create"
    assert work["result_id"] == pose["id"]
    assert shown_picture.startswith(b"\x89PNG")


# Assets ------------------------------------------------------------------------------


@pytest.fixture(params=[None, "aside"])
def sandbox(emulator: EmulatorUnderTest, request: pytest.FixtureRequest) -> str | None:
    """The default sandbox, and one beside it."""
    emulator.make_sandbox("aside")
    name: str | None = request.param
    return name


def key_in(sandbox: str | None, key: str) -> str:
    """The key of a sandbox in place of one of the default sandbox."""
    if sandbox is None:
        return key
    return f"{key}_{sandbox}"


def test_assets_of_all_teams_are_listed_newest_first(
    emulator: EmulatorUnderTest,
    sandbox: str | None,
) -> None:
    (first,) = emulator.assets(1, key_in(sandbox, FULL))
    (second,) = emulator.assets(1, key_in(sandbox, OTHER))

    of_other, of_demo = emulator.told("GET", "/assets", sandbox=sandbox)["data"]

    assert of_other["id"] == second
    assert of_other["team"]["name"] == "Other"
    assert of_demo["id"] == first
    assert of_demo["team"]["name"] == "Demo"


def test_a_listed_asset_shows_its_picture(
    emulator: EmulatorUnderTest,
    sandbox: str | None,
) -> None:
    key = key_in(sandbox, OTHER)
    (asset_id,) = emulator.assets(1, key)
    address = emulator.get(f"/assets/{asset_id}", key).json["url"]

    (asset,) = emulator.told("GET", "/assets", sandbox=sandbox)["data"]

    shown_picture = fetched(emulator, asset["url"])
    downloaded = emulator.fetch(address)
    assert shown_picture == downloaded.body


def test_looking_at_a_picture_is_no_request_and_takes_no_identifier(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.assets(1)
    (asset,) = listed(emulator, "/assets")
    identifiers = emulator.sandbox.identifiers
    requests_before = journaled(emulator)
    counters_before = str(identifiers.counters)

    fetched(emulator, asset["url"])

    assert journaled(emulator) == requests_before
    assert str(identifiers.counters) == counters_before


def test_the_picture_of_a_deleted_asset_is_404(
    emulator: EmulatorUnderTest,
    sandbox: str | None,
) -> None:
    key = key_in(sandbox, OTHER)
    (asset_id,) = emulator.assets(1, key)
    (asset,) = emulator.told("GET", "/assets", sandbox=sandbox)["data"]

    emulator.delete(f"/assets/{asset_id}", key)

    path = asset["url"].removeprefix("/_emulator")
    answer = emulator.ask("GET", path)
    assert answer.status == 404
    assert answer.code == "not_found"


def test_a_file_becomes_an_asset_of_the_first_team(
    emulator: EmulatorUnderTest,
) -> None:
    answer = emulator.ask("POST", "/assets", content=picture(), headers=PNG)

    made = answer.json
    asset = emulator.get(f"/assets/{made['id']}", READ_ONLY).json
    assert answer.status == 201
    assert asset["width"] == made["width"]


def test_a_file_becomes_an_asset_of_the_team_that_is_named(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.told("POST", "/assets?team=Other", content=picture(), headers=PNG)

    (asset,) = listed(emulator, "/assets")
    assert asset["team"]["name"] == "Other"


def test_a_file_that_becomes_an_asset_is_no_request(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.told("POST", "/assets", content=picture(), headers=PNG)

    assert journaled(emulator) == 0


@pytest.mark.parametrize(
    ("content", "headers", "path", "status", "code"),
    [
        pytest.param(
            b"no image",
            PNG,
            "/assets",
            422,
            "invalid_input",
            id="no picture",
        ),
        pytest.param(
            picture(),
            {"Content-Type": "text/plain"},
            "/assets",
            400,
            "invalid_request",
            id="a text",
        ),
        pytest.param(
            picture(),
            {},
            "/assets",
            400,
            "invalid_request",
            id="no type",
        ),
        pytest.param(
            picture(),
            PNG,
            "/assets?team=Nobody",
            404,
            "not_found",
            id="an unknown Team",
        ),
    ],
)
def test_a_file_that_cannot_become_an_asset_is_refused(
    emulator: EmulatorUnderTest,
    content: bytes,
    headers: dict[str, str],
    path: str,
    status: int,
    code: str,
) -> None:
    answer = emulator.ask("POST", path, content=content, headers=headers)

    assert answer.status == status
    assert answer.code == code
    assert listed(emulator, "/assets") == []


# Admission ---------------------------------------------------------------------------


def test_admission_is_open_at_the_start(emulator: EmulatorUnderTest) -> None:
    admission = emulator.told("GET", "/admission")

    assert admission == {"state": "open", "retry_after": None}


def test_paused_admission_refuses_writes_alone(emulator: EmulatorUnderTest) -> None:
    paused = {"state": "paused", "retry_after": 9}

    admission = emulator.told("PUT", "/admission", paused)

    write = emulator.post("/uploads", UPLOAD)
    read = emulator.get("/team")
    assert admission == paused
    assert write.status == 503
    assert write.retry_after == 9
    assert read.status == 200


def test_opened_admission_lets_writes_in_again(emulator: EmulatorUnderTest) -> None:
    emulator.told("PUT", "/admission", {"state": "paused", "retry_after": 9})

    admission = emulator.told("PUT", "/admission", {"state": "open"})

    write = emulator.post("/uploads", UPLOAD)
    assert admission["state"] == "open"
    assert write.status == 201
    assert emulator.clock_now() == START
