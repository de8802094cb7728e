"""The journal over the control plane: what an entry tells and what it hides, how entries are found, counted and dropped."""

from typing import Any

import pytest

from emulator.kernel.timestamps import parse_timestamp
from tests.support.emulator_client import BROKE, FULL, OTHER, READ_ONLY, START, Answer, Call, EmulatorUnderTest, Json
from tests.support.pictures import picture

MEMBERS = [
    "sequence",
    "at",
    "arrived_at",
    "method",
    "path",
    "operation",
    "bytes",
    "user_agent",
    "credential",
    "idempotency_key",
    "status",
    "code",
    "request_id",
    "replayed",
    "lost",
    "rule",
    "duration_ms",
    "request_body",
    "response_headers",
    "response_body",
    "note",
]
UPLOAD = {"content_type": "image/png", "size_bytes": 5}
RULE = """\
scenario: one rule
rules:
  - name: no poses
    match: {operation: listPoses}
    then: {problem: internal_error}
  - name: first slot fails
    match: {work: product_photography}
    then: {outputs: {1: content_rejected}}
"""


def entries(control: EmulatorUnderTest, query: str = "", sandbox: str | None = None) -> list[Json]:
    """The entries that a query selects, newest first."""
    return list(control.told("GET", f"/requests?{query}", sandbox=sandbox)["data"])


def newest(control: EmulatorUnderTest) -> Json:
    """The newest entry."""
    return entries(control, "limit=1")[0]


def _request_id(answer: Answer) -> str:
    return answer.headers["request-id"]


# An entry -------------------------------------------------------------------------------------------------------------


def test_an_entry_tells_of_the_request_and_its_answer(control: EmulatorUnderTest) -> None:
    answer = control.post("/uploads", UPLOAD, idempotency_key="one", headers={"User-Agent": "shop/1.0"})
    entry = newest(control)
    team = control.team()
    assert list(entry) == MEMBERS
    assert entry.pop("duration_ms") > 0
    assert parse_timestamp(entry.pop("arrived_at")) > parse_timestamp(START)
    assert entry.pop("response_headers") == answer.headers
    assert entry == {
        "sequence": 1,
        "at": START,
        "method": "POST",
        "path": "/v1/uploads",
        "operation": "createUpload",
        "bytes": None,
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
        "request_id": _request_id(answer),
        "replayed": False,
        "lost": False,
        "rule": None,
        "request_body": UPLOAD,
        "response_body": answer.json,
        "note": None,
    }


def test_entries_come_newest_first(control: EmulatorUnderTest) -> None:
    control.get("/team")
    control.get("/poses")
    assert [(2, "listPoses"), (1, "getTeam")] == [(entry["sequence"], entry["operation"]) for entry in entries(control)]


def test_an_entry_of_a_refusal_has_its_code(control: EmulatorUnderTest) -> None:
    control.get("/assets/none")
    assert (404, "asset_not_found") == (newest(control)["status"], newest(control)["code"])


def test_a_request_with_an_unknown_key_is_in_the_default_sandbox_s_journal(control: EmulatorUnderTest) -> None:
    control.told("POST", "/sandboxes", {"id": "aside"})
    control.get("/team", key="nobody")
    assert (None, 401) == (newest(control)["credential"], newest(control)["status"])
    assert [] == entries(control, sandbox="aside")


def test_each_sandbox_has_a_journal_of_its_own(control: EmulatorUnderTest) -> None:
    control.told("POST", "/sandboxes", {"id": "aside"})
    control.get("/team", key=f"{FULL}_aside")
    assert ["getTeam"] == [entry["operation"] for entry in entries(control, sandbox="aside")]
    assert [] == entries(control)


def test_requests_of_the_control_plane_are_in_no_journal(control: EmulatorUnderTest) -> None:
    control.told("GET", "/clock")
    control.told("POST", "/teams", {"name": "New"})
    assert [] == entries(control)


@pytest.mark.parametrize("path", ["/team", "/", "/favicon.ico"])
def test_a_path_below_no_surface_is_in_the_journal(control: EmulatorUnderTest, path: str) -> None:
    control.get(f"http://emulator.test{path}")
    entry = newest(control)
    assert (path, None, 404, "Demo") == (
        entry["path"],
        entry["operation"],
        entry["status"],
        entry["credential"]["team"]["name"],
    )


def test_a_request_refused_before_its_key_is_looked_at_shows_the_key(control: EmulatorUnderTest) -> None:
    control.post("/uploads", UPLOAD, key=READ_ONLY, idempotency_key="early")
    assert ["early"] == [entry["idempotency_key"] for entry in entries(control, "code=permission_denied")]


def test_a_request_in_flight_has_no_status_yet(control: EmulatorUnderTest) -> None:
    control.told("PUT", "/scenario", content=_holding("createUpload"))
    held = Call("POST", "/uploads", UPLOAD)
    look = Call("GET", "http://emulator.test/_emulator/requests", key=None)
    move = Call("POST", "http://emulator.test/_emulator/clock/advance", {"seconds": 10}, key=None)
    answer, looked, _ = control.together(held, look, move)
    (entry,) = looked.json["data"]
    assert (None, None, UPLOAD) == (entry["status"], entry["duration_ms"], entry["request_body"])
    assert (201, 201) == (answer.status, newest(control)["status"])


def _holding(operation: str) -> bytes:
    return f"scenario: held\nrules: [{{match: {{operation: {operation}}}, then: {{hold: 10s}}}}]\n".encode()


def test_a_request_whose_client_went_away_says_so(control: EmulatorUnderTest) -> None:
    control.leave(Call("POST", "/uploads", UPLOAD))
    entry = newest(control)
    assert (None, "the client went away before its request was whole") == (entry["status"], entry["note"])
    assert entry["duration_ms"] is not None


@pytest.mark.emulator(scenario=RULE)
def test_an_entry_names_the_rule_that_acted(control: EmulatorUnderTest) -> None:
    control.get("/poses")
    rule = newest(control)["rule"]
    assert ("no poses", "scenario.yaml", 3) == (rule["name"], rule["file"].rpartition("/")[2], rule["line"])


@pytest.mark.emulator(scenario=RULE)
def test_an_admission_names_the_rule_that_decided_what_becomes_of_its_work(control: EmulatorUnderTest) -> None:
    control.photograph()
    assert "first slot fails" == newest(control)["rule"]["name"]


@pytest.mark.emulator(scenario="scenario: lossy\nrules: [{match: {operation: createUpload}, then: {network: reset}}]\n")
def test_a_request_that_was_lost_before_anything_was_done_has_no_status(control: EmulatorUnderTest) -> None:
    with pytest.raises(ConnectionResetError):
        control.post("/uploads", UPLOAD)
    entry = newest(control)
    assert (None, None) == (entry["status"], entry["response_body"])
    assert entry["duration_ms"] is not None


def test_bytes_say_which_way_they_went(control: EmulatorUnderTest) -> None:
    asset = control.upload(picture())
    control.fetch(asset["url"])
    assert ["download", None, "upload", None] == [entry["bytes"] for entry in entries(control)]


# Bodies and secrets ---------------------------------------------------------------------------------------------------


def test_an_upload_is_told_by_its_number_of_bytes(control: EmulatorUnderTest) -> None:
    data = picture()
    control.send_bytes(control.open_upload(len(data)), data)
    entry = newest(control)
    assert (None, 200, None) == (entry["operation"], entry["status"], entry["request_body"])
    assert entry["response_body"].keys() == {"upload_token"}
    assert f"direct upload; the request's body of {len(data)} bytes is not shown" == entry["note"]


def test_a_refused_upload_is_told_with_its_code(control: EmulatorUnderTest) -> None:
    control.send_bytes(control.open_upload(5), b"too long")
    entry = newest(control)
    assert (400, "invalid_request") == (entry["status"], entry["code"])


def test_a_file_is_told_by_its_number_of_bytes(control: EmulatorUnderTest) -> None:
    asset = control.upload(picture())
    size = len(control.fetch(asset["url"]).body)
    entry = newest(control)
    assert ("GET", None, 200, None) == (entry["method"], entry["operation"], entry["status"], entry["response_body"])
    assert f"file of a picture; the answer's body of {size} bytes is not shown" == entry["note"]


def test_a_file_that_is_not_there_is_told_with_its_problem(control: EmulatorUnderTest) -> None:
    answer = control.fetch("http://emulator.test/files/default/none.png")
    assert (404, "not_found", answer.json) == tuple(
        newest(control)[name] for name in ("status", "code", "response_body")
    )


def test_a_body_over_64_kib_is_left_out(control: EmulatorUnderTest) -> None:
    size = len(control.photograph(custom_directions="x" * 65_536).body)
    entry = newest(control)
    assert (202, None, None) == (entry["status"], entry["request_body"], entry["response_body"])
    assert f"the answer's body of {size} bytes is not shown" in entry["note"]


@pytest.mark.parametrize(("content", "size"), [(b"{nonsense", "9 bytes"), (b"{", "1 byte")])
def test_a_body_that_is_no_json_is_told_by_its_number_of_bytes(
    control: EmulatorUnderTest, content: bytes, size: str
) -> None:
    control.post("/uploads", content=content, headers={"content-type": "application/json"})
    entry = newest(control)
    assert (None, f"the request's body of {size} is not JSON") == (entry["request_body"], entry["note"])


def test_a_body_that_is_nested_deeply_is_shown(control: EmulatorUnderTest) -> None:
    content = b'{"a":' + b"[" * 300 + b"]" * 300 + b"}"
    control.post("/uploads", content=content, headers={"content-type": "application/json"})
    assert ["a"] == list(newest(control)["request_body"])


def test_no_key_is_ever_shown_whole(control: EmulatorUnderTest) -> None:
    control.post("/uploads", {"content_type": FULL, "size_bytes": OTHER}, idempotency_key=FULL)
    control.get(f"/assets/{FULL}")
    control.get("/team")
    sequences = [entry["sequence"] for entry in entries(control)]
    shown = [control.ask("GET", f"/requests/{sequence}").body for sequence in sequences]
    shown.append(control.ask("GET", "/requests").body)
    assert len(shown) == 4
    assert not [body for body in shown if FULL.encode() in body or OTHER.encode() in body]


@pytest.mark.emulator(world="teams: {Demo: {credentials: [{key: abc, name: Full, profile: full}]}}\npremade: false\n")
def test_less_than_half_of_a_short_key_is_shown(control: EmulatorUnderTest) -> None:
    control.get("/team", key="abc")
    assert "a…" == newest(control)["credential"]["key"]


# Finding one ----------------------------------------------------------------------------------------------------------


def test_an_entry_is_found_by_its_request_id(control: EmulatorUnderTest) -> None:
    answer = control.get("/team")
    control.get("/team")
    found = control.told("GET", f"/requests/{_request_id(answer)}")
    assert (1, answer.json) == (found["sequence"], found["response_body"])


def test_a_replay_shows_the_request_id_that_it_was_answered_with(control: EmulatorUnderTest) -> None:
    first, second = (control.post("/uploads", UPLOAD, idempotency_key="one") for _ in range(2))
    assert _request_id(first) == _request_id(second)
    assert [(True, _request_id(first)), (False, _request_id(first))] == [
        (entry["replayed"], entry["request_id"]) for entry in entries(control)
    ]


def test_of_a_request_and_its_replays_the_newest_is_found(control: EmulatorUnderTest) -> None:
    for _ in range(3):
        answer = control.post("/uploads", UPLOAD, idempotency_key="one")
    assert 3 == control.told("GET", f"/requests/{_request_id(answer)}")["sequence"]


def test_each_entry_is_found_by_its_sequence_number(control: EmulatorUnderTest) -> None:
    for _ in range(3):
        control.post("/uploads", UPLOAD, idempotency_key="one")
    assert [False, True, True] == [control.told("GET", f"/requests/{number}")["replayed"] for number in (1, 2, 3)]


@pytest.mark.parametrize("identifier", ["req_none", "7", "0", "9" * 40, "-1", "%00"])
def test_an_entry_that_does_not_exist_is_404(control: EmulatorUnderTest, identifier: str) -> None:
    control.get("/team")
    assert (404, "not_found") == control.refusal("GET", f"/requests/{identifier}")[:2]


# Filters --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def filled(control: EmulatorUnderTest) -> EmulatorUnderTest:
    """An emulator whose journal has entries of many kinds."""
    control.get("/team")
    control.post("/uploads", UPLOAD, idempotency_key="one")
    control.post("/uploads", UPLOAD, key=OTHER, idempotency_key="one")
    control.get("/team", key="nobody")
    control.get("/nowhere")
    control.post("/uploads", {}, idempotency_key="two")
    control.get("/team", key=OTHER)
    return control


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
        ([], "idempotency_key=three"),
        ([7, 6], "since=5"),
        ([], "since=7"),
        ([7, 6], "limit=2"),
        ([3, 2], "before=4&limit=2"),
        ([3, 2], "since=1&before=4"),
        ([], "before=1"),
        ([3], "operation=createUpload&team=Other&status=201&since=2&limit=1000"),
        ([], "status=none"),
    ],
)
def test_a_filter_selects_entries(filled: EmulatorUnderTest, expected: list[int], query: str) -> None:
    assert expected == [entry["sequence"] for entry in entries(filled, query)]


def test_a_team_is_also_named_by_its_id(filled: EmulatorUnderTest) -> None:
    assert [7, 3] == [entry["sequence"] for entry in entries(filled, f"team={filled.team('Other')['id']}")]


def test_a_replay_of_a_402_is_found_by_its_code(control: EmulatorUnderTest) -> None:
    control.set_team("Broke", credits_available=1)
    body = {"product_ids": [], "asset_ids": control.assets(1, BROKE), "output_mode": "photoshoot"}
    for _ in range(2):
        control.post("/generations/product-photography", body, key=BROKE, idempotency_key="one")
    assert [True, False] == [entry["replayed"] for entry in entries(control, "code=insufficient_credits")]


@pytest.mark.parametrize(
    "query",
    [
        "operation=getTeams",
        "operation=",
        "status=99",
        "status=six",
        "status=6xx",
        "before=-1",
        "status=",
        "code=teapot",
        "since=-1",
        "since=1.5",
        "limit=0",
        "limit=1001",
        "wait_ms=60001",
        "wait_ms=%D9%A1",
        "page=2",
        "since=1&since=2",
    ],
)
def test_a_filter_that_nothing_could_meet_is_refused(control: EmulatorUnderTest, query: str) -> None:
    status, code, detail = control.refusal("GET", f"/requests?{query}")
    assert (400, "invalid_request", query.partition("=")[0]) == (status, code, detail.partition(":")[0].strip('"'))


def test_a_filter_by_a_team_that_does_not_exist_is_refused(control: EmulatorUnderTest) -> None:
    assert (404, "not_found") == control.refusal("GET", "/requests?team=Nobody")[:2]


# Counts and bounds ----------------------------------------------------------------------------------------------------


def test_the_selected_entries_are_counted_beyond_the_limit(filled: EmulatorUnderTest) -> None:
    told = filled.told("GET", "/requests?limit=1")
    assert (1, 7, 0) == (len(told["data"]), told["last_sequence"], told["dropped"])
    assert {
        "total": 7,
        "by_operation": {"createUpload": 3, "getTeam": 3, "none": 1},
        "by_status": {"200": 2, "201": 2, "401": 1, "404": 1, "422": 1},
    } == told["counts"]


def test_counts_are_told_by_operation_status_and_code(filled: EmulatorUnderTest) -> None:
    told = filled.told("GET", "/requests/counts")
    assert filled.told("GET", "/requests")["counts"] == told.pop("counts")
    assert {
        "in_flight": 0,
        "last_sequence": 7,
        "dropped": 0,
        "data": [
            {"operation": "createUpload", "status": 201, "code": None, "count": 2},
            {"operation": "createUpload", "status": 422, "code": "invalid_input", "count": 1},
            {"operation": "getTeam", "status": 200, "code": None, "count": 2},
            {"operation": "getTeam", "status": 401, "code": "authentication_required", "count": 1},
            {"operation": None, "status": 404, "code": "not_found", "count": 1},
        ],
    } == told


def test_a_cleared_journal_is_empty_and_its_numbers_go_on(filled: EmulatorUnderTest) -> None:
    assert 204 == filled.ask("DELETE", "/requests").status
    empty = filled.told("GET", "/requests")
    assert ([], 7, 0) == (empty["data"], empty["last_sequence"], empty["counts"]["total"])
    assert 0 == filled.told("GET", "/requests/counts")["counts"]["total"]
    filled.get("/team")
    assert 8 == newest(filled)["sequence"]
    assert 1 == filled.told("GET", "/requests/counts")["counts"]["total"]


def test_a_reset_begins_the_journal_anew(filled: EmulatorUnderTest) -> None:
    filled.told("POST", "/reset")
    told: Any = filled.told("GET", "/requests")
    assert ([], 0) == (told["data"], told["last_sequence"])
    filled.get("/team")
    assert 1 == newest(filled)["sequence"]
