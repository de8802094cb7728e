"""The journal over the control plane: what an entry has and hides, how entries are found, counted and dropped."""

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
    EmulatorUnderTest,
    Json,
    control_call,
)
from tests.support.pictures import picture


def entries(
    emulator: EmulatorUnderTest, query: str = "", sandbox: str | None = None
) -> list[Json]:
    return list(emulator.told("GET", f"/requests?{query}", sandbox=sandbox)["data"])


def newest(emulator: EmulatorUnderTest) -> Json:
    return entries(emulator, "limit=1")[0]


def test_an_entry_tells_of_the_request_and_its_answer(
    emulator: EmulatorUnderTest,
) -> None:
    answer = emulator.post(
        "/uploads", UPLOAD, idempotency_key="one", headers={"User-Agent": "shop/1.0"}
    )
    entry, team = newest(emulator), emulator.team()
    key = {"id": team["credentials"][0]["id"], "name": "Full", "key": "iwe_de…"}
    assert list(entry.items()) == list(
        {
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
            "credential": {**key, "team": {"id": team["id"], "name": "Demo"}},
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
        }.items()
    )
    assert entry["duration_ms"] > 0
    assert parse_timestamp(entry["arrived_at"]) > parse_timestamp(START)


def test_each_sandbox_has_a_journal_and_unknown_keys_are_in_that_of_the_default(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.told("POST", "/sandboxes", {"id": "aside"})
    emulator.get("/team", key=f"{FULL}_aside")
    assert ["getTeam"] == [
        entry["operation"] for entry in entries(emulator, sandbox="aside")
    ]
    emulator.get("/team", key="nobody")
    assert [(None, 401)] == [
        (entry["credential"], entry["status"]) for entry in entries(emulator)
    ]
    emulator.post(
        "/uploads", UPLOAD, key=READ_ONLY, idempotency_key="k\xa0"
    )  # refused before its key is looked at
    assert "k\u00c2\xa0" == newest(emulator)["idempotency_key"]


@pytest.mark.parametrize("path", ["/team", "/", "/favicon.ico"])
def test_a_path_below_no_surface_is_in_the_journal(
    emulator: EmulatorUnderTest, path: str
) -> None:
    emulator.get(f"http://emulator.test{path}")
    entry = newest(emulator)
    assert (path, None, 404) == (entry["path"], entry["operation"], entry["status"])
    assert "Demo" == entry["credential"]["team"]["name"]


def test_a_request_without_an_answer_has_no_status_and_its_time_all_the_same(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.leave(Call("POST", "/uploads", UPLOAD))
    assert (
        "the client went away before its request was whole" == newest(emulator)["note"]
    )
    emulator.rule({"operation": "createUpload"}, {"network": "reset"})
    with pytest.raises(ConnectionResetError):
        emulator.post("/uploads", UPLOAD)
    for entry in entries(emulator):
        assert (None, None) == (entry["status"], entry["response_body"])
        assert entry["duration_ms"] is not None


def test_bytes_are_told_by_their_number_and_the_way_they_went(
    emulator: EmulatorUnderTest,
) -> None:
    asset = emulator.upload(picture())
    size = len(emulator.fetch(asset["url"]).body)
    download, completed, upload, opened = entries(emulator)
    assert ["download", None, "upload", None] == [
        one["bytes"] for one in (download, completed, upload, opened)
    ]
    assert (None, 200, None) == (
        upload["operation"],
        upload["status"],
        upload["request_body"],
    )
    assert upload["response_body"].keys() == {"upload_token"}
    assert (
        f"direct upload; the request's body of {len(picture())} bytes is not shown"
        == upload["note"]
    )
    assert (None, 200, None) == (
        download["operation"],
        download["status"],
        download["response_body"],
    )
    assert (
        f"file of a picture; the response's body of {size} bytes is not shown"
        == download["note"]
    )


def test_a_body_over_64_kib_is_left_out(emulator: EmulatorUnderTest) -> None:
    size = len(emulator.photograph(custom_directions="x" * 65_536).body)
    entry = newest(emulator)
    assert (202, None, None) == (
        entry["status"],
        entry["request_body"],
        entry["response_body"],
    )
    assert f"the response's body of {size} bytes is not shown" in entry["note"]


@pytest.mark.parametrize(
    ("content", "shown", "size"),
    [(b"{bad", "{bad", "4 bytes"), (b"\xff", None, "1 byte")],
)
def test_a_body_of_text_is_shown(
    emulator: EmulatorUnderTest, content: bytes, shown: str | None, size: str
) -> None:
    emulator.post("/uploads", content=content, headers=JSON)
    entry = newest(emulator)
    assert (shown, f"the request's body of {size} is not JSON") == (
        entry["request_body"],
        entry["note"],
    )


def test_no_key_is_ever_shown_whole(emulator: EmulatorUnderTest) -> None:
    emulator.use(
        {
            "scenario": "keys",
            "world": {"teams": {"Demo": {"credentials": [{"key": "abc"}]}}},
        }
    )
    emulator.get("/team", key="abc")
    assert "a…" == newest(emulator)["credential"]["key"]
    emulator.post(
        "/uploads", {"content_type": FULL, "size_bytes": OTHER}, idempotency_key=FULL
    )
    for _ in range(3):  # which is a finding
        emulator.get(f"/assets/{FULL}", headers={"User-Agent": FULL})
    emulator.get("/team")
    sequences = [entry["sequence"] for entry in entries(emulator)]
    shown = [
        emulator.ask("GET", f"/requests/{sequence}").body for sequence in sequences
    ]
    shown += [emulator.ask("GET", path).body for path in ("/requests", "/conduct")]
    assert b'"findings":[]' not in shown[-1]
    assert len(shown) == 8
    assert b'"key":"iwe_de\xe2\x80\xa6"' in shown[0]
    assert not [
        body for body in shown if FULL.encode() in body or OTHER.encode() in body
    ]


def test_a_replay_has_the_request_id_of_the_first_answer_which_finds_the_newest(
    emulator: EmulatorUnderTest,
) -> None:
    answers = [
        emulator.post("/uploads", UPLOAD, idempotency_key="one") for _ in range(3)
    ]
    (request_id,) = {answer.headers["request-id"] for answer in answers}
    found = [
        emulator.told("GET", f"/requests/{number}") for number in (1, 2, 3, request_id)
    ]
    assert [
        (entry["sequence"], entry["replayed"], entry["request_id"]) for entry in found
    ] == [(number, number > 1, request_id) for number in (1, 2, 3, 3)]


def test_a_replay_of_a_402_is_found_by_its_code(emulator: EmulatorUnderTest) -> None:
    body = {"asset_ids": emulator.assets(1, BROKE), "output_mode": "photoshoot"}
    for _ in range(2):
        emulator.post(
            "/generations/product-photography", body, BROKE, idempotency_key="one"
        )
    assert [True, False] == [
        entry["replayed"] for entry in entries(emulator, "code=insufficient_credits")
    ]


@pytest.mark.parametrize("identifier", ["req_none", "7", "0", "9" * 40, "-1", "%00"])
def test_an_entry_that_does_not_exist_is_404(
    emulator: EmulatorUnderTest, identifier: str
) -> None:
    emulator.get("/team")
    assert (404, "not_found") == emulator.refusal("GET", f"/requests/{identifier}")[:2]


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
    ("expected", "query"),
    [
        ([7, 6, 5, 4, 3, 2, 1], ""),
        ([7, 4, 1], "operation=getTeam"),
        ([5], "operation=none"),
        ([3, 2], "status=201"),
        ([7, 3, 2, 1], "status=2xx"),
        ([6, 5, 4], "status=4xx"),
        ([], "status=5xx"),
        ([6], "code=invalid_input"),
        ([7, 3, 2, 1], "code=none"),
        ([7, 3], "team=Other"),
        ([3, 2], "idempotency_key=one"),
        ([7, 6], "since=5"),
        ([3, 2], "before=4&limit=2"),
        ([3, 2], "since=1&before=4"),
        ([3], "operation=createUpload&team=Other&status=201&since=2&limit=1000"),
        ([], "status=none"),
    ],
)
def test_a_filter_selects_entries(
    filled: EmulatorUnderTest, expected: list[int], query: str
) -> None:
    assert expected == [entry["sequence"] for entry in entries(filled, query)]


@pytest.mark.parametrize(
    "query",
    [
        *(
            "operation=getTeams",
            "operation=",
            "status=99",
            "status=six",
            "status=6xx",
            "status=",
            "code=teapot",
        ),
        *(
            "before=-1",
            "since=-1",
            "since=1.5",
            "since=1&since=2",
            "limit=0",
            "limit=1001",
        ),
        *("limit=%D9%A1", "wait_ms=5", "page=2"),
    ],
)
def test_a_filter_that_nothing_could_meet_is_refused(
    emulator: EmulatorUnderTest, query: str
) -> None:
    status, code, detail = emulator.refusal("GET", f"/requests?{query}")
    assert (400, "invalid_request", query.partition("=")[0]) == (
        status,
        code,
        detail.partition(":")[0].strip('"'),
    )


def test_entries_are_counted_beyond_the_limit_and_numbered_on_after_clearing(
    filled: EmulatorUnderTest,
) -> None:
    told = filled.told("GET", "/requests?limit=1")
    assert (1, 7, 7, 0) == (
        len(told["data"]),
        told["total"],
        told["last_sequence"],
        told["dropped"],
    )
    assert 204 == filled.ask("DELETE", "/requests").status
    empty = filled.told("GET", "/requests")
    assert ([], 7, 0) == (empty["data"], empty["last_sequence"], empty["total"])
    filled.get("/team")
    assert 8 == newest(filled)["sequence"]


def test_a_long_list_counts_as_known_what_it_shows_though_more_comes_meanwhile(
    emulator: EmulatorUnderTest,
) -> None:
    for _ in range(60):
        emulator.get("/team")
    listed, later = emulator.together(
        control_call("GET", "/requests?limit=1000"), Call("GET", "/team")
    )
    assert (200, 60, 60) == (
        later.status,
        listed.json["last_sequence"],
        listed.json["data"][0]["sequence"],
    )
