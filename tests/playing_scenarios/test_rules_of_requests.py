"""Rules about requests, of operations and for bytes: what they match, when they are due, and what they do."""

import time
from typing import Any

import pytest

from tests.support.emulator_client import (
    FULL,
    OTHER,
    READ_ONLY,
    REVOKED,
    UPLOAD,
    Answer,
    Call,
    EmulatorUnderTest,
    Json,
)
from tests.support.every_operation import upscale_call
from tests.support.pictures import picture

FAILS: Json = {"problem": "internal_error"}
TEAM: Json = {"operation": "getTeam"}


def _failures(
    emulator: EmulatorUnderTest, count: int, call: Call | None = None
) -> list[int]:
    """Send a request some times, and return which of them failed, counted from 1."""
    return [
        number
        for number in range(1, count + 1)
        if emulator.send(call or Call("GET", "/team")).status == 500
    ]


@pytest.mark.parametrize(
    ("failing", "nth"),
    [
        ([3], "3"),
        ([3], 3),
        ([2, 3, 4], "2-4"),
        ([5, 6, 7, 8, 9], ">= 5"),
        ([3, 6, 9], "every 3"),
        (list(range(1, 10)), "every 1"),
        ([], "10"),
    ],
)
def test_an_nth_counts_the_requests_that_match(
    emulator: EmulatorUnderTest, failing: list[int], nth: Any
) -> None:
    emulator.rule(TEAM, FAILS, {"nth": nth})
    emulator.get("/assets")
    assert failing == _failures(emulator, 9)
    assert {"the rule": (9, len(failing))} == emulator.rules()


@pytest.mark.parametrize(
    ("when", "failing_at"),
    [
        ({"from": "30s", "until": "90s"}, [30, 60, 69.999, 89.999]),
        ({"every": "1m", "for": "10s"}, [0, 9.999, 60, 69.999]),
    ],
    ids=["window", "bursts"],
)
def test_spans_count_from_the_scenarios_start(
    emulator: EmulatorUnderTest, when: Json, failing_at: list[float]
) -> None:
    emulator.advance(1000)
    emulator.rule(TEAM, FAILS, when)
    began, found = emulator.now(), []
    for second in (0, 9.999, 10, 29.999, 30, 60, 69.999, 89.999, 90):
        emulator.advance(second - (emulator.now() - began) / 1000)
        if emulator.get("/team").status == 500:
            found.append(second)
    assert failing_at == found


def test_chance_follows_from_the_seed(emulator: EmulatorUnderTest) -> None:
    def drawn(seed: int, probability: Any = 0.25) -> list[int]:
        name = f"seed-{seed}-{len(emulator.told('GET', '/sandboxes')['data'])}"
        scenario = {
            "scenario": "luck",
            "rules": [
                {"match": TEAM, "when": {"probability": probability}, "then": FAILS}
            ],
        }
        emulator.told(
            "POST",
            "/sandboxes",
            {"id": name, "seed": seed, "scenario": scenario, "rate_limits": False},
        )
        return _failures(emulator, 200, Call("GET", "/team", key=f"{FULL}_{name}"))

    first = drawn(1)
    assert first == drawn(1) == drawn(1, "25%")
    assert first != drawn(2)
    assert 30 <= len(first) <= 70


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, {"image_count": 2.0, "background": {"type": "color"}}),
        (500, {}),
        (202, {"image_count": 3}),
        (202, {"resolution": "1k"}),  # a default that the body does not name
    ],
)
def test_a_body_is_matched_by_a_subset(
    emulator: EmulatorUnderTest, asset_id: str, status: int, body: Json
) -> None:
    emulator.rule(
        {"operation": "createProductPhotographyGeneration", "body": body}, FAILS
    )
    red = {"type": "color", "color": "#ff0000"}
    assert (
        status
        == emulator.photograph(
            asset_ids=[asset_id], image_count=2, background=red
        ).status
    )


def test_requests_that_never_come_so_far_are_not_counted(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.set_team(requests_per_minute=2)
    emulator.rule({"operation": "*"}, FAILS, {"nth": 3})
    assert [401, 401] == [
        emulator.get("/team", key).status for key in ("iwe_unknown", REVOKED)
    ]
    assert [404, 405] == [
        emulator.get("/nothing").status,
        emulator.post("/team", {}).status,
    ]
    assert [200, 200, 429] == [emulator.get("/team").status for _ in range(3)]
    assert {"the rule": (2, 0)} == emulator.rules()
    emulator.advance(60)
    assert 500 == emulator.get("/team").status


def test_an_injected_answer_names_its_rule(
    emulator: EmulatorUnderTest, asset_id: str
) -> None:
    rules = [
        {"name": "Grüße at 5%", "match": TEAM, "then": FAILS},
        {
            "match": {"operation": "createUpload"},
            "then": {"problem": "invalid_request"},
        },
    ]
    emulator.use({"scenario": "named", "rules": rules})
    assert "Gr%C3%BC%C3%9Fe at 5%25" == emulator.get("/team").headers["emulator-rule"]
    assert "rule 2" == emulator.post("/uploads", UPLOAD).headers["emulator-rule"]
    assert "emulator-rule" not in emulator.get(f"/assets/{asset_id}").headers
    assert "emulator-rule" not in emulator.get("/assets/none").headers


LISTS = (
    Call("GET", "/assets"),
    Call("GET", "/assets", key=READ_ONLY),
    Call("GET", "/assets?limit=5"),
    Call("GET", "/assets?source=upload&limit=5"),
)
WRITES = tuple(
    Call("POST", "/uploads", UPLOAD, idempotency_key=key)
    for key in ("order-1", "order-2", "cart-1")
)


@pytest.mark.parametrize(
    ("calls", "match", "failing"),
    [
        (LISTS, {"credential": READ_ONLY}, [2]),
        (LISTS, {"query": {"limit": 5}}, [3, 4]),
        (LISTS, {"query": {"limit": 5, "after": ""}}, []),
        (LISTS, {"query": {"limit": 5, "source": "upload"}}, [4]),
        (WRITES, {"idempotency_key": "order-*"}, [1, 2]),
        (WRITES, {"idempotency_key": "order-?"}, [1, 2]),
        (WRITES, {"idempotency_key": "*r*-?"}, [1, 2, 3]),
        (WRITES, {"idempotency_key": "[o]rder-2"}, []),
        (WRITES, {"idempotency_key": "order"}, []),
        (WRITES, {"idempotency_key": "*-1*-1"}, []),
    ],
)
def test_a_rule_matches_a_credential_a_query_or_a_glob_of_idempotency_keys(
    emulator: EmulatorUnderTest,
    calls: tuple[Call, ...],
    match: Json,
    failing: list[int],
) -> None:
    emulator.rule(match, FAILS)
    statuses = [emulator.send(call).status for call in calls]
    assert failing == [
        number for number, status in enumerate(statuses, start=1) if status == 500
    ]


def test_a_resource_keeps_its_place_and_a_premade_one_has_none(
    emulator: EmulatorUnderTest, asset_id: str
) -> None:
    products = [emulator.product(asset_id)["id"] for _ in range(3)]
    emulator.rule({"operation": "getProduct", "resource": "second"}, FAILS)
    assert [emulator.get(f"/products/{product}").status for product in products] == [
        200,
        500,
        200,
    ]
    assert emulator.delete(f"/products/{products[0]}").status == 204
    assert [
        emulator.get(f"/products/{product}").status for product in products[1:]
    ] == [500, 200]
    emulator.rule({"operation": "getPose", "resource": "first"}, FAILS)
    assert emulator.get(f"/poses/{emulator.premade('pose')['id']}").status == 200
    emulator.rule({"operation": "getProduct", "resource": products[2]}, FAILS)
    assert [
        emulator.get(f"/products/{product}").status for product in products[1:]
    ] == [200, 500]


@pytest.mark.parametrize(
    ("per", "failing"),
    [(None, [2]), ("credential", [2, 4, 6]), ("team", [2, 6]), ("resource", [2])],
)
def test_an_nth_can_be_counted_for_each(
    emulator: EmulatorUnderTest, per: str | None, failing: list[int]
) -> None:
    emulator.rule(TEAM, FAILS, {"nth": 2} | ({"per": per} if per else {}))
    keys = [FULL, FULL, READ_ONLY, READ_ONLY, OTHER, OTHER]
    statuses = [emulator.get("/team", key).status for key in keys]
    assert [
        number for number, status in enumerate(statuses, start=1) if status == 500
    ] == failing
    assert emulator.rules() == {"the rule": (6, len(failing))}


def test_what_is_counted_for_each_is_kept_in_a_state_file(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule(
        {"operation": "createUpload"}, FAILS, {"nth": 2, "per": "idempotency_key"}
    )
    emulator.post("/uploads", UPLOAD, idempotency_key="a")
    saved = emulator.ask("GET", "/state").body
    assert emulator.ask("PUT", "/state", content=saved).status == 200
    emulator.rules()
    assert emulator.post("/uploads", UPLOAD, idempotency_key="b").status == 201
    assert emulator.rules() == {"the rule": (2, 0)}


PICTURE = picture()


def test_an_upload_whose_answer_is_lost_before_the_commit_was_not_kept(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule({"bytes": "upload"}, {"network": "reset"}, {"nth": 1})
    session = emulator.open_upload(len(PICTURE))

    with pytest.raises(ConnectionResetError):
        emulator.send_bytes(session, PICTURE)
    other_bytes = emulator.send_bytes(session, PICTURE[::-1])

    assert other_bytes.status == 200
    assert emulator.rules() == {"the rule": (2, 1)}


def test_an_upload_whose_answer_is_lost_after_the_commit_was_kept(
    emulator: EmulatorUnderTest,
) -> None:
    then = {"network": "reset", "at": "after_commit"}
    emulator.rule({"bytes": "upload"}, then, {"nth": 1})
    session = emulator.open_upload(len(PICTURE))

    with pytest.raises(ConnectionResetError):
        emulator.send_bytes(session, PICTURE)
    other_bytes = emulator.send_bytes(session, PICTURE[::-1])

    assert other_bytes.status == 409
    assert emulator.rules() == {"the rule": (1, 1)}


@pytest.mark.parametrize("code", ["service_unavailable", "internal_error"])
def test_a_byte_surface_can_answer_with_a_problem(
    emulator: EmulatorUnderTest, code: str
) -> None:
    url = emulator.upload(PICTURE)["url"]
    emulator.rule({"bytes": "*"}, {"problem": code})
    session = emulator.open_upload(len(PICTURE))
    answers = [emulator.send_bytes(session, PICTURE), emulator.fetch(url)]
    assert [answer.code for answer in answers] == [code, code]
    assert {answer.headers["emulator-rule"] for answer in answers} == {"the rule"}
    assert emulator.rules() == {"the rule": (2, 2)}
    assert "writes" not in answers[1].json["detail"]  # a download is none


@pytest.mark.parametrize(
    ("match", "failing"),
    [
        ({"bytes": "upload", "resource": "second"}, [2]),
        ({"bytes": "upload", "resource": "3rd"}, [3]),
        ({"bytes": "upload", "team": "Demo"}, [1, 2, 3]),
        ({"bytes": "upload", "team": "Other"}, []),
        ({"bytes": "download"}, []),
    ],
)
def test_an_upload_is_found_by_its_place_and_team(
    emulator: EmulatorUnderTest, match: Json, failing: list[int]
) -> None:
    sessions = [emulator.open_upload(len(PICTURE)) for _ in range(3)]
    emulator.rule(match, {"problem": "service_unavailable"})
    statuses = [emulator.send_bytes(session, PICTURE).status for session in sessions]
    assert [
        number for number, status in enumerate(statuses, start=1) if status == 503
    ] == failing


def test_bytes_come_at_the_rate_that_is_said(emulator: EmulatorUnderTest) -> None:
    url = emulator.upload(PICTURE)["url"]
    whole = emulator.fetch(url).body
    emulator.rule({"bytes": "download"}, {"network": {"rate": len(whole) * 10}})
    began_at = time.perf_counter()
    answer = emulator.fetch(url)
    assert (
        time.perf_counter() - began_at >= 0.08
    )  # a tenth of a second, less the last piece
    assert (answer.status, answer.body) == (200, whole)
    assert answer.headers["emulator-rule"] == "the rule"


SUNSET_AND_LINK: Json = {
    "sunset": "2027-06-30T12:34:56.000Z",
    "link": "https://docs.example/migration",
}
HEADERS = {"deprecation", "link", "sunset"}


def _notice(answer: Answer) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name in HEADERS}


def test_a_notice_says_no_more_than_its_rule(emulator: EmulatorUnderTest) -> None:
    """D43."""
    emulator.rule({"operation": "listPoses"}, {"deprecated": {}})
    assert {"deprecation": "@1767225600"} == _notice(emulator.get("/poses"))


def test_a_replay_is_as_the_first_answer_was_with_or_without_a_notice(
    emulator: EmulatorUnderTest,
) -> None:
    (asset_id,) = emulator.assets(1)
    plain = emulator.send(upscale_call(asset_id, "k1"))
    emulator.rule({"operation": "*"}, {"deprecated": SUNSET_AND_LINK})
    marked = emulator.send(upscale_call(asset_id, "k2"))
    replays = [emulator.send(upscale_call(asset_id, key)) for key in ("k1", "k2")]
    assert [plain.raw_headers, marked.raw_headers] == [
        replay.raw_headers for replay in replays
    ]
    assert [set(), HEADERS] == [set(_notice(replay)) for replay in replays]
    emulator.without_scenario()
    assert marked.raw_headers == emulator.send(upscale_call(asset_id, "k2")).raw_headers


@pytest.mark.parametrize(
    ("defect", "outcome"),
    [
        ("drop-key", (400, "invalid_request")),
        ("drop-authorization", (401, "authentication_required")),
    ],
)
def test_a_dropped_header_is_missed(
    emulator: EmulatorUnderTest, defect: str, outcome: tuple[int, str]
) -> None:
    emulator.rule({}, {"client": defect})
    assert [outcome] * 2 == [
        emulator.post("/uploads", UPLOAD).outcome for _ in range(2)
    ]
    assert emulator.rules()["the rule"] == (2, 2)


@pytest.mark.parametrize(
    ("defect", "keys", "same"),
    [("new-key", "aa", False), ("one-key", "ab", True), ("drop-query", "aa", True)],
)
def test_keys_are_changed_on_their_way(
    emulator: EmulatorUnderTest, defect: str, keys: str, same: bool
) -> None:
    emulator.rule({}, {"client": defect})
    first, second = (
        emulator.post("/uploads", UPLOAD, idempotency_key=key).json["id"]
        for key in keys
    )
    assert same == (first == second)


def test_without_its_query_a_list_is_whole(emulator: EmulatorUnderTest) -> None:
    emulator.rule({}, {"client": "drop-query"})
    assert len(emulator.get("/poses?limit=1").json["data"]) > 1
    assert emulator.get("/team").status == 200
    assert emulator.rules()["the rule"] == (2, 1)


def test_a_hint_is_taken_out_of_polls_and_refusals(emulator: EmulatorUnderTest) -> None:
    emulator.rule({}, {"client": "ignore-hint"})
    path = f"/generations/{emulator.admitted_upscale()['id']}"
    assert emulator.get(path).retry_after is None
    emulator.without_scenario()
    assert emulator.get(path).retry_after is not None
