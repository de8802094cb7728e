"""The journal over the control plane.

What an entry has and hides, how entries are found, counted and dropped.
"""

import pytest

from image_workflow_emulator.kernel.timestamps import parse_timestamp
from tests.support.emulator_client import (
    BROKE,
    FULL,
    JSON,
    OTHER,
    READ_ONLY,
    START,
    UPLOAD,
    Call,
    Json,
    control_call,
)
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.pictures import picture


def entries(
    emulator: EmulatorUnderTest,
    query: str = "",
    sandbox: str | None = None,
) -> list[Json]:
    return list(emulator.told("GET", f"/requests?{query}", sandbox=sandbox)["data"])


def newest(emulator: EmulatorUnderTest) -> Json:
    return entries(emulator, "limit=1")[0]


# Entries -----------------------------------------------------------------------------


def test_an_entry_tells_of_the_request_and_its_answer(
    emulator: EmulatorUnderTest,
) -> None:
    answer = emulator.post(
        "/uploads",
        UPLOAD,
        idempotency_key="one",
        headers={"User-Agent": "shop/1.0"},
    )

    entry = newest(emulator)
    team = emulator.team()

    assert entry == {
        "sequence": 1,
        "at": START,
        "arrived_at": entry["arrived_at"],
        "method": "POST",
        "path": "/v1/uploads",
        "query": "",
        "operation": "createUpload",
        "bytes": None,
        "content_type": "application/json",
        "emulator_fault": None,
        "user_agent": "shop/1.0",
        "credential": {
            "id": team["credentials"][0]["id"],
            "name": "Full",
            "key": "iwe_de…",
            "team": {"id": team["id"], "name": "Demo"},
        },
        "idempotency_key": "one",
        "status": 201,
        "code": None,
        "request_id": answer.headers["request-id"],
        "replayed": False,
        "lost": False,
        "abandoned": False,
        "committed": True,
        "work": None,
        "connection": None,
        "last_arrival": 1,
        "timed": True,
        "rule": None,
        "duration_ms": entry["duration_ms"],
        "request_body": UPLOAD,
        "response_headers": answer.headers,
        "response_body": answer.json,
        "note": None,
    }


def test_an_entry_has_the_time_of_the_host(emulator: EmulatorUnderTest) -> None:
    emulator.get("/team")

    entry = newest(emulator)
    assert entry["duration_ms"] > 0
    assert parse_timestamp(entry["arrived_at"]) > parse_timestamp(START)


def test_an_entry_tells_the_query_the_fault_and_the_work_of_a_request(
    emulator: EmulatorUnderTest,
) -> None:
    work = emulator.photograph()
    emulator.get("/assets?limit=7", headers={"Emulator-Fault": "internal_error"})

    read, admitted = entries(emulator, "limit=2")
    assert admitted["work"] == work.id
    assert read["query"] == "limit=7"
    assert read["emulator_fault"] == "internal_error"
    assert read["code"] == "internal_error"


def test_each_sandbox_has_a_journal_of_its_own(emulator: EmulatorUnderTest) -> None:
    emulator.make_sandbox("aside")

    emulator.get("/team", key=f"{FULL}_aside")

    (entry,) = entries(emulator, sandbox="aside")
    assert entry["operation"] == "getTeam"
    assert entries(emulator) == []


def test_a_request_with_an_unknown_key_is_in_the_journal_of_the_default_sandbox(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.get("/team", key="nobody")

    (entry,) = entries(emulator)
    assert entry["credential"] is None
    assert entry["status"] == 401


def test_an_idempotency_key_is_shown_though_it_was_never_looked_at(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.post("/uploads", UPLOAD, key=READ_ONLY, idempotency_key="k\xa0")

    assert newest(emulator)["idempotency_key"] == "k\u00c2\xa0"


@pytest.mark.parametrize("path", ["/team", "/", "/favicon.ico"])
def test_a_path_below_no_surface_is_in_the_journal(
    emulator: EmulatorUnderTest,
    path: str,
) -> None:
    emulator.get(f"http://emulator.test{path}")

    entry = newest(emulator)
    assert entry["path"] == path
    assert entry["operation"] is None
    assert entry["status"] == 404
    assert entry["credential"]["team"]["name"] == "Demo"


def test_a_request_that_never_was_whole_has_a_time_and_no_status(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.leave(Call("POST", "/uploads", UPLOAD))

    entry = newest(emulator)
    assert entry["note"] == "the client went away before its request was whole"
    assert entry["status"] is None
    assert entry["response_body"] is None
    assert entry["duration_ms"] is not None


def test_a_request_whose_answer_was_lost_has_a_time_and_no_status(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule({"operation": "createUpload"}, {"network": "reset"})

    with pytest.raises(ConnectionResetError):
        emulator.post("/uploads", UPLOAD)

    entry = newest(emulator)
    assert entry["lost"]
    assert entry["status"] is None
    assert entry["response_body"] is None
    assert entry["duration_ms"] is not None


# Bodies ------------------------------------------------------------------------------


def test_the_bytes_of_an_upload_are_told_by_their_number(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.upload(picture())

    _, upload, _ = entries(emulator)
    body = f"the request's body of {len(picture())} bytes is not shown"

    assert upload["bytes"] == "upload"
    assert upload["operation"] is None
    assert upload["status"] == 200
    assert upload["request_body"] is None
    assert upload["response_body"].keys() == {"upload_token"}
    assert upload["note"] == f"direct upload; {body}"


def test_the_bytes_of_a_picture_are_told_by_their_number(
    emulator: EmulatorUnderTest,
) -> None:
    asset = emulator.upload(picture())

    file = emulator.fetch(asset["url"])

    download = newest(emulator)
    body = f"the response's body of {len(file.body)} bytes is not shown"

    assert download["bytes"] == "download"
    assert download["operation"] is None
    assert download["status"] == 200
    assert download["response_body"] is None
    assert download["note"] == f"file of a picture; {body}"


def test_a_body_over_64_kib_is_left_out(emulator: EmulatorUnderTest) -> None:
    answer = emulator.photograph(custom_directions="x" * 65_536)

    entry = newest(emulator)
    size = f"{len(answer.body)} bytes"

    assert entry["status"] == 202
    assert entry["request_body"] is None
    assert entry["response_body"] is None
    assert f"the response's body of {size} is not shown" in entry["note"]


@pytest.mark.parametrize(
    ("content", "text", "size"),
    [(b"{bad", "{bad", "4 bytes"), (b"\xff", None, "1 byte")],
)
def test_a_body_of_text_is_shown(
    emulator: EmulatorUnderTest,
    content: bytes,
    text: str | None,
    size: str,
) -> None:
    emulator.post("/uploads", content=content, headers=JSON)

    entry = newest(emulator)
    assert entry["request_body"] == text
    assert entry["note"] == f"the request's body of {size} is not JSON"


def test_json_that_is_nested_too_deeply_is_shown_as_text(
    emulator: EmulatorUnderTest,
) -> None:
    nested = "[" * 1000 + "]" * 1000
    emulator.post("/uploads", content=nested.encode(), headers=JSON)

    entry = newest(emulator)
    assert entry["request_body"] == nested
    assert entry["note"] == "the request's body of 2000 bytes is nested too deeply"


# Keys --------------------------------------------------------------------------------


def test_at_most_half_of_a_key_is_shown(emulator: EmulatorUnderTest) -> None:
    credentials = [{"key": "abc"}]
    world = {"teams": {"Demo": {"credentials": credentials}}}
    emulator.use({"scenario": "keys", "world": world})

    emulator.get("/team", key="abc")

    assert newest(emulator)["credential"]["key"] == "a…"


def test_no_key_is_shown_whole_wherever_a_client_put_it(
    emulator: EmulatorUnderTest,
) -> None:
    body = {"content_type": FULL, "size_bytes": OTHER}
    emulator.post("/uploads", body, idempotency_key=FULL)
    for _ in range(3):  # which is a finding
        emulator.get(f"/assets/{FULL}", headers={"User-Agent": FULL})
    emulator.get("/team")
    emulator.post("/uploads", content=b"{" + FULL.encode(), headers=JSON)

    paths = [
        "/requests",
        "/conduct",
        *(f"/requests/{number}" for number in range(1, 7)),
    ]
    for path in paths:
        shown = emulator.ask("GET", path).body

        assert b"iwe_de\xe2\x80\xa6" in shown
        assert FULL.encode() not in shown
        assert OTHER.encode() not in shown


# Finding one -------------------------------------------------------------------------


def test_a_replay_has_the_request_id_of_the_first_answer(
    emulator: EmulatorUnderTest,
) -> None:
    first, second = (
        emulator.post("/uploads", UPLOAD, idempotency_key="one") for _ in range(2)
    )

    replay, original = entries(emulator)
    assert second.headers["request-id"] == first.headers["request-id"]
    assert original["request_id"] == first.headers["request-id"]
    assert replay["request_id"] == first.headers["request-id"]
    assert not original["replayed"]
    assert replay["replayed"]


def test_a_request_id_finds_the_newest_replay(emulator: EmulatorUnderTest) -> None:
    for _ in range(3):
        answer = emulator.post("/uploads", UPLOAD, idempotency_key="one")

    entry = emulator.told("GET", f"/requests/{answer.headers['request-id']}")

    assert entry["sequence"] == 3


@pytest.mark.parametrize("sequence", [1, 2])
def test_a_sequence_number_finds_its_entry(
    emulator: EmulatorUnderTest,
    sequence: int,
) -> None:
    for _ in range(2):
        emulator.post("/uploads", UPLOAD, idempotency_key="one")

    assert emulator.told("GET", f"/requests/{sequence}")["sequence"] == sequence


def test_a_replay_of_a_402_is_found_by_its_code(emulator: EmulatorUnderTest) -> None:
    body = {"asset_ids": emulator.assets(1, BROKE), "output_mode": "photoshoot"}
    for _ in range(2):
        emulator.post(
            "/generations/product-photography",
            body,
            BROKE,
            idempotency_key="one",
        )

    refused = entries(emulator, "code=insufficient_credits")

    assert [entry["replayed"] for entry in refused] == [True, False]


@pytest.mark.parametrize("identifier", ["req_none", "7", "0", "9" * 40, "-1", "%00"])
def test_an_entry_that_does_not_exist_is_404(
    emulator: EmulatorUnderTest,
    identifier: str,
) -> None:
    emulator.get("/team")

    answer = emulator.ask("GET", f"/requests/{identifier}")

    assert answer.status == 404
    assert answer.code == "not_found"


# Filters -----------------------------------------------------------------------------


@pytest.fixture
def filled(emulator: EmulatorUnderTest) -> EmulatorUnderTest:
    emulator.get("/team")
    emulator.post("/uploads", UPLOAD, idempotency_key="one")
    emulator.post("/uploads", UPLOAD, key=OTHER, idempotency_key="one")
    emulator.get("/team", key="nobody")
    emulator.get("/nowhere")
    emulator.post("/uploads", {}, idempotency_key="two")
    emulator.get("/team", key=OTHER)
    return emulator


@pytest.mark.parametrize(
    ("query", "selected", "total"),
    [
        ("", [7, 6, 5, 4, 3, 2, 1], 7),
        ("limit=1", [7], 7),
        ("operation=getTeam", [7, 4, 1], 3),
        ("operation=getTeam&limit=1", [7], 3),
        ("operation=none", [5], 1),
        ("status=201", [3, 2], 2),
        ("status=2xx", [7, 3, 2, 1], 4),
        ("status=4xx", [6, 5, 4], 3),
        ("status=5xx", [], 0),
        ("status=none", [], 0),
        ("code=invalid_input", [6], 1),
        ("code=none", [7, 3, 2, 1], 4),
        ("team=Other", [7, 3], 2),
        ("idempotency_key=one", [3, 2], 2),
        ("since=5", [7, 6], 2),
        ("since=7", [], 0),
        ("before=4&limit=2", [3, 2], 3),
        ("before=1", [], 0),
        ("since=1&before=4", [3, 2], 2),
        ("since=4&before=4", [], 0),
        (
            "operation=createUpload&team=Other&status=201&since=2&limit=1000",
            [3],
            1,
        ),
    ],
)
def test_a_query_selects_entries_and_counts_them_beyond_its_limit(
    filled: EmulatorUnderTest,
    query: str,
    selected: list[int],
    total: int,
) -> None:
    answer = filled.told("GET", f"/requests?{query}")

    assert [entry["sequence"] for entry in answer["data"]] == selected
    assert answer["total"] == total


def test_a_query_selects_the_requests_on_which_a_rule_acted(
    emulator: EmulatorUnderTest,
) -> None:
    rule = {
        "name": "refused",
        "match": {"operation": "getTeam"},
        "when": {"nth": 1},
        "then": {"problem": "internal_error"},
    }
    emulator.use({"scenario": "one-refusal", "rules": [rule]})
    emulator.get("/team")
    emulator.get("/team")

    (entry,) = entries(emulator, "rule=refused")
    (other,) = entries(emulator, "rule=none")

    assert entry["sequence"] == 1
    assert other["sequence"] == 2


@pytest.mark.parametrize(
    "query",
    [
        "operation=getTeams",
        "operation=",
        "status=99",
        "status=six",
        "status=6xx",
        "status=",
        "code=teapot",
        "before=-1",
        "since=-1",
        "since=1.5",
        "since=1&since=2",
        "limit=0",
        "limit=1001",
        "limit=%D9%A1",
        "wait_ms=5",
        "page=2",
    ],
)
def test_a_filter_that_nothing_could_meet_is_refused(
    emulator: EmulatorUnderTest,
    query: str,
) -> None:
    answer = emulator.ask("GET", f"/requests?{query}")

    parameter = query.partition("=")[0]
    assert answer.status == 400
    assert answer.code == "invalid_request"
    assert answer.json["detail"].partition(":")[0].strip('"') == parameter


# The whole ---------------------------------------------------------------------------


def test_a_list_tells_the_number_of_the_last_request(filled: EmulatorUnderTest) -> None:
    answer = filled.told("GET", "/requests?limit=1")

    assert answer["last_sequence"] == 7
    assert answer["dropped"] == 0


@pytest.mark.emulator(journal_requests=3)
def test_what_a_full_journal_dropped_is_told_and_not_counted(
    filled: EmulatorUnderTest,
) -> None:
    answer = filled.told("GET", "/requests")

    assert [entry["sequence"] for entry in answer["data"]] == [7, 6, 5]
    assert answer["total"] == 3
    assert answer["dropped"] == 4


def test_a_cleared_journal_is_empty(filled: EmulatorUnderTest) -> None:
    status = filled.ask("DELETE", "/requests").status

    answer = filled.told("GET", "/requests")
    assert status == 204
    assert answer["data"] == []
    assert answer["total"] == 0
    assert answer["last_sequence"] == 7


def test_numbers_go_on_after_clearing(filled: EmulatorUnderTest) -> None:
    filled.ask("DELETE", "/requests")

    filled.get("/team")

    answer = filled.told("GET", "/requests")
    assert [entry["sequence"] for entry in answer["data"]] == [8]
    assert answer["total"] == 1


def test_a_long_list_counts_as_known_what_it_shows_though_more_comes_meanwhile(
    emulator: EmulatorUnderTest,
) -> None:
    for _ in range(60):
        emulator.get("/team")

    listed, later = emulator.together(
        control_call("GET", "/requests?limit=1000"),
        Call("GET", "/team"),
    )

    assert later.status == 200
    assert listed.json["last_sequence"] == 60
    assert listed.json["data"][0]["sequence"] == 60
