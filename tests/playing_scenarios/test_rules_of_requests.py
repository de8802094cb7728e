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
    Json,
)
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.every_operation import upscale_call
from tests.support.pictures import picture

FAILS: Json = {"problem": "internal_error"}
TEAM: Json = {"operation": "getTeam"}
ANY: Json = {"operation": "*"}
SECOND_PRODUCT: Json = {
    "operation": "getProduct",
    "resource": "second",
}


def _places_of(status: int, statuses: list[int]) -> list[int]:
    """Return which of some statuses are this one, counted from 1."""
    places: list[int] = []
    for place, answered in enumerate(statuses, start=1):
        if answered == status:
            places.append(place)
    return places


def _failures(
    emulator: EmulatorUnderTest,
    count: int,
    call: Call | None = None,
) -> list[int]:
    """Send a request some times, and return which of them failed, counted from 1."""
    if call is None:
        call = Call("GET", "/team")
    answers = [emulator.send(call) for _ in range(count)]
    statuses = [answer.status for answer in answers]
    return _places_of(500, statuses)


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
    emulator: EmulatorUnderTest,
    failing: list[int],
    nth: Any,
) -> None:
    emulator.rule(TEAM, FAILS, {"nth": nth})

    emulator.get("/assets")
    failures = _failures(emulator, 9)

    assert failures == failing
    rule = emulator.rule_count()
    assert rule.matched == 9
    assert rule.fired == len(failing)


SECONDS = (
    0,
    9.999,
    10,
    29.999,
    30,
    60,
    69.999,
    89.999,
    90,
)
"""When requests are sent, counted from the start of a scenario."""


@pytest.mark.parametrize(
    ("when", "failing_at"),
    [
        pytest.param(
            {"from": "30s", "until": "90s"},
            [30, 60, 69.999, 89.999],
            id="window",
        ),
        pytest.param(
            {"every": "1m", "for": "10s"},
            [0, 9.999, 60, 69.999],
            id="bursts",
        ),
    ],
)
def test_spans_count_from_the_scenarios_start(
    emulator: EmulatorUnderTest,
    when: Json,
    failing_at: list[float],
) -> None:
    emulator.advance(1000)
    emulator.rule(TEAM, FAILS, when)
    present: float = 0

    failures = []
    for second in SECONDS:
        emulator.advance(second - present)
        present = second
        if emulator.get("/team").status == 500:
            failures.append(second)

    assert failures == failing_at


def _drawn(
    emulator: EmulatorUnderTest,
    name: str,
    seed: int,
    probability: Any = 0.25,
) -> list[int]:
    """Make a sandbox with a rule of chance, and return which of 200 requests failed."""
    rule = {
        "match": TEAM,
        "when": {"probability": probability},
        "then": FAILS,
    }
    scenario = {
        "scenario": "luck",
        "rules": [rule],
    }
    emulator.make_sandbox(
        name,
        seed=seed,
        scenario=scenario,
        rate_limits=False,
    )
    call = Call("GET", "/team", key=f"{FULL}_{name}")
    return _failures(emulator, 200, call)


def test_the_same_seed_draws_the_same_requests(emulator: EmulatorUnderTest) -> None:
    first = _drawn(emulator, "first", seed=1)
    second = _drawn(emulator, "second", seed=1)
    as_percentage = _drawn(emulator, "third", seed=1, probability="25%")

    assert second == first
    assert as_percentage == first


def test_another_seed_draws_other_requests(emulator: EmulatorUnderTest) -> None:
    first = _drawn(emulator, "first", seed=1)
    second = _drawn(emulator, "second", seed=2)

    assert second != first


def test_about_as_many_requests_are_drawn_as_the_probability_says(
    emulator: EmulatorUnderTest,
) -> None:
    failures = _drawn(emulator, "sandbox", seed=1, probability=0.25)

    assert 30 <= len(failures) <= 70


def test_rules_of_the_same_probability_draw_independently(
    emulator: EmulatorUnderTest,
) -> None:
    when = {"probability": 0.5}
    rules: list[Json] = [
        {"match": TEAM, "when": when, "then": FAILS},
        {"match": {"operation": "listProducts"}, "when": when, "then": FAILS},
    ]
    emulator.use({"scenario": "luck", "rules": rules})

    failed_reads = _failures(emulator, 20)
    failed_lists = _failures(emulator, 20, Call("GET", "/products"))

    assert failed_lists != failed_reads


@pytest.mark.parametrize(
    ("status", "body"),
    [
        pytest.param(
            500,
            {"image_count": 2.0, "background": {"type": "color"}},
            id="part of an object",
        ),
        pytest.param(500, {}, id="nothing"),
        pytest.param(202, {"image_count": 3}, id="another value"),
        pytest.param(202, {"resolution": "1k"}, id="a default that is not sent"),
    ],
)
def test_a_body_is_matched_by_a_subset(
    emulator: EmulatorUnderTest,
    asset_id: str,
    status: int,
    body: Json,
) -> None:
    photography = {
        "operation": "createProductPhotographyGeneration",
        "body": body,
    }
    emulator.rule(photography, FAILS)
    red = {"type": "color", "color": "#ff0000"}

    answer = emulator.photograph(
        asset_ids=[asset_id],
        image_count=2,
        background=red,
    )

    assert answer.status == status


def test_a_request_without_a_valid_key_is_not_counted(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule(ANY, FAILS)

    unknown = emulator.get("/team", "iwe_unknown")
    revoked = emulator.get("/team", REVOKED)

    assert unknown.status == 401
    assert revoked.status == 401
    rule = emulator.rule_count()
    assert rule.matched == 0
    assert rule.fired == 0


def test_a_request_to_no_operation_is_not_counted(emulator: EmulatorUnderTest) -> None:
    emulator.rule(ANY, FAILS)

    unknown_path = emulator.get("/nothing")
    wrong_method = emulator.post("/team", {})

    assert unknown_path.status == 404
    assert wrong_method.status == 405
    rule = emulator.rule_count()
    assert rule.matched == 0
    assert rule.fired == 0


def test_a_request_beyond_the_rate_limit_is_not_counted(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.set_team(requests_per_minute=2)
    emulator.rule(ANY, FAILS, {"nth": 3})

    first = emulator.get("/team")
    second = emulator.get("/team")
    beyond_the_limit = emulator.get("/team")
    emulator.advance(60)
    third = emulator.get("/team")

    assert first.status == 200
    assert second.status == 200
    assert beyond_the_limit.status == 429
    assert third.status == 500


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("no answer", "no answer"),
        ("Grüße at 5%", "Gr%C3%BC%C3%9Fe at 5%25"),
    ],
)
def test_an_injected_answer_names_its_rule(
    emulator: EmulatorUnderTest,
    name: str,
    header: str,
) -> None:
    rule = {
        "name": name,
        "match": TEAM,
        "then": FAILS,
    }
    emulator.use({"scenario": "named", "rules": [rule]})

    answer = emulator.get("/team")

    assert answer.headers["emulator-rule"] == header


def test_an_answer_of_the_service_names_no_rule(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    emulator.rule(TEAM, FAILS)

    success = emulator.get(f"/assets/{asset_id}")
    refusal = emulator.get("/assets/none")

    assert "emulator-rule" not in success.headers
    assert "emulator-rule" not in refusal.headers


def test_a_rule_matches_a_credential(emulator: EmulatorUnderTest) -> None:
    emulator.rule({"credential": READ_ONLY}, FAILS)

    other = emulator.get("/assets")
    matching = emulator.get("/assets", READ_ONLY)

    assert other.status == 200
    assert matching.status == 500


@pytest.mark.parametrize(
    ("query", "failing"),
    [
        ({"limit": 5}, [2, 3]),
        ({"limit": 5, "after": ""}, []),
        ({"limit": 5, "source": "upload"}, [3]),
    ],
)
def test_a_rule_matches_a_part_of_a_query(
    emulator: EmulatorUnderTest,
    query: Json,
    failing: list[int],
) -> None:
    emulator.rule({"query": query}, FAILS)

    answers = [
        emulator.get("/assets"),
        emulator.get("/assets?limit=5"),
        emulator.get("/assets?source=upload&limit=5"),
    ]

    statuses = [answer.status for answer in answers]
    assert _places_of(500, statuses) == failing


@pytest.mark.parametrize(
    ("glob", "failing_keys"),
    [
        ("order-*", {"order-1", "order-2"}),
        ("order-?", {"order-1", "order-2"}),
        ("*r*-?", {"order-1", "order-2", "cart-1"}),
        ("[o]rder-2", set()),
        ("order", set()),
        ("*-1*-1", set()),
    ],
)
def test_a_rule_matches_a_glob_of_idempotency_keys(
    emulator: EmulatorUnderTest,
    glob: str,
    failing_keys: set[str],
) -> None:
    emulator.rule({"idempotency_key": glob}, FAILS)

    failed: set[str] = set()
    for key in ("order-1", "order-2", "cart-1"):
        answer = emulator.post("/uploads", UPLOAD, idempotency_key=key)
        if answer.status == 500:
            failed.add(key)

    assert failed == failing_keys


@pytest.mark.parametrize("key", [READ_ONLY, f"{READ_ONLY}_own"])
def test_a_key_is_named_as_in_the_world_or_as_the_sandbox_has_it(
    emulator: EmulatorUnderTest,
    key: str,
) -> None:
    emulator.make_sandbox("own")
    rule = {
        "match": {"credential": key},
        "then": FAILS,
    }
    scenario = {"scenario": "of one key", "rules": [rule]}
    emulator.use(scenario, "/sandboxes/own/scenario")

    other = emulator.get("/team", f"{FULL}_own")
    matching = emulator.get("/team", f"{READ_ONLY}_own")

    assert other.status == 200
    assert matching.status == 500


def _product_paths(
    emulator: EmulatorUnderTest,
    asset_id: str,
    count: int,
) -> list[str]:
    """Make some Products, and return their paths."""
    products = [emulator.product(asset_id) for _ in range(count)]
    return [f"/products/{product['id']}" for product in products]


def test_a_resource_is_matched_by_its_place(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    first, second, third = _product_paths(emulator, asset_id, 3)

    emulator.rule(SECOND_PRODUCT, FAILS)

    assert emulator.get(first).status == 200
    assert emulator.get(second).status == 500
    assert emulator.get(third).status == 200


def test_a_resource_keeps_its_place_when_one_before_it_is_deleted(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    first, second, third = _product_paths(emulator, asset_id, 3)
    emulator.rule(SECOND_PRODUCT, FAILS)

    emulator.delete(first)

    assert emulator.get(second).status == 500
    assert emulator.get(third).status == 200


def test_a_resource_is_matched_by_its_id(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    first = emulator.product(asset_id)["id"]
    second = emulator.product(asset_id)["id"]
    get_second = {
        "operation": "getProduct",
        "resource": second,
    }

    emulator.rule(get_second, FAILS)

    assert emulator.get(f"/products/{first}").status == 200
    assert emulator.get(f"/products/{second}").status == 500


def test_a_premade_resource_has_no_place(emulator: EmulatorUnderTest) -> None:
    premade_id = emulator.premade("pose")["id"]
    first_pose = {
        "operation": "getPose",
        "resource": "first",
    }

    emulator.rule(first_pose, FAILS)

    assert emulator.get(f"/poses/{premade_id}").status == 200


@pytest.mark.parametrize(
    ("per", "failing"),
    [
        (None, [2]),
        ("credential", [2, 4, 6]),
        ("team", [2, 6]),
        ("resource", [2]),
    ],
)
def test_an_nth_can_be_counted_for_each(
    emulator: EmulatorUnderTest,
    per: str | None,
    failing: list[int],
) -> None:
    when: Json = {"nth": 2}
    if per is not None:
        when["per"] = per
    emulator.rule(TEAM, FAILS, when)

    statuses: list[int] = []
    for key in (FULL, READ_ONLY, OTHER):
        for _ in range(2):
            answer = emulator.get("/team", key)
            statuses.append(answer.status)

    assert _places_of(500, statuses) == failing
    rule = emulator.rule_count()
    assert rule.matched == 6
    assert rule.fired == len(failing)


def test_reads_of_each_resource_are_counted_separately(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule(
        {"operation": "getAsset"},
        FAILS,
        {"nth": 2, "per": "resource"},
    )
    asset_ids = emulator.assets(2)

    statuses = []
    for asset_id in asset_ids:
        for _ in range(2):
            answer = emulator.get(f"/assets/{asset_id}")
            statuses.append(answer.status)

    assert _places_of(500, statuses) == [2, 4]


def test_what_is_counted_for_each_is_kept_in_a_state_file(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule(
        {"operation": "createUpload"},
        FAILS,
        {"nth": 2, "per": "idempotency_key"},
    )
    emulator.post("/uploads", {}, idempotency_key="a")
    saved = emulator.ask("GET", "/state").body

    loaded = emulator.ask("PUT", "/state", content=saved)
    other_key = emulator.post("/uploads", UPLOAD, idempotency_key="b")
    same_key = emulator.post("/uploads", UPLOAD, idempotency_key="a")

    assert loaded.status == 200
    assert other_key.status == 201
    assert same_key.status == 500
    rule = emulator.rule_count()
    assert rule.matched == 3
    assert rule.fired == 1


PICTURE = picture()
OTHER_PICTURE = PICTURE[::-1]
"""Other bytes of the same length."""
UPLOADED_BYTES: Json = {"bytes": "upload"}
FIRST: Json = {"nth": 1}


def test_an_upload_whose_answer_is_lost_before_the_commit_was_not_kept(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule(UPLOADED_BYTES, {"network": "reset"}, FIRST)
    session = emulator.open_upload(len(PICTURE))

    with pytest.raises(ConnectionResetError):
        emulator.send_bytes(session, PICTURE)
    other_bytes = emulator.send_bytes(session, OTHER_PICTURE)

    assert other_bytes.status == 200
    rule = emulator.rule_count()
    assert rule.matched == 2
    assert rule.fired == 1


def test_an_upload_whose_answer_is_lost_after_the_commit_was_kept(
    emulator: EmulatorUnderTest,
) -> None:
    then = {
        "network": "reset",
        "at": "after_commit",
    }
    emulator.rule(UPLOADED_BYTES, then, FIRST)
    session = emulator.open_upload(len(PICTURE))

    with pytest.raises(ConnectionResetError):
        emulator.send_bytes(session, PICTURE)
    other_bytes = emulator.send_bytes(session, OTHER_PICTURE)

    assert other_bytes.status == 409
    rule = emulator.rule_count()
    assert rule.matched == 1
    assert rule.fired == 1


@pytest.mark.parametrize("code", ["service_unavailable", "internal_error"])
def test_a_byte_surface_can_answer_with_a_problem(
    emulator: EmulatorUnderTest,
    code: str,
) -> None:
    url = emulator.upload(PICTURE)["url"]
    emulator.rule({"bytes": "*"}, {"problem": code})
    session = emulator.open_upload(len(PICTURE))

    sent = emulator.send_bytes(session, PICTURE)
    fetched = emulator.fetch(url)

    assert sent.code == code
    assert sent.headers["emulator-rule"] == "the rule"
    assert fetched.code == code
    assert fetched.headers["emulator-rule"] == "the rule"
    assert "writes" not in fetched.json["detail"]  # a download is none
    rule = emulator.rule_count()
    assert rule.matched == 2
    assert rule.fired == 2


@pytest.mark.parametrize(
    ("match", "failing"),
    [
        (UPLOADED_BYTES | {"resource": "second"}, [2]),
        (UPLOADED_BYTES | {"resource": "3rd"}, [3]),
        (UPLOADED_BYTES | {"team": "Demo"}, [1, 2, 3]),
        (UPLOADED_BYTES | {"team": "Other"}, []),
        ({"bytes": "download"}, []),
    ],
)
def test_an_upload_is_found_by_its_place_and_team(
    emulator: EmulatorUnderTest,
    match: Json,
    failing: list[int],
) -> None:
    sessions = [emulator.open_upload(len(PICTURE)) for _ in range(3)]
    emulator.rule(match, {"problem": "service_unavailable"})

    answers = [emulator.send_bytes(session, PICTURE) for session in sessions]

    statuses = [answer.status for answer in answers]
    assert _places_of(503, statuses) == failing


def test_bytes_come_at_the_rate_that_is_said(emulator: EmulatorUnderTest) -> None:
    url = emulator.upload(PICTURE)["url"]
    whole = emulator.fetch(url).body
    ten_times_a_second = {"rate": len(whole) * 10}
    emulator.rule({"bytes": "download"}, {"network": ten_times_a_second})

    began_at = time.perf_counter()
    answer = emulator.fetch(url)
    seconds = time.perf_counter() - began_at

    assert seconds >= 0.08  # a tenth of a second, less the last piece
    assert answer.status == 200
    assert answer.body == whole
    assert answer.headers["emulator-rule"] == "the rule"


def test_an_upload_is_received_at_the_rate_that_is_said(
    emulator: EmulatorUnderTest,
) -> None:
    ten_times_a_second = {"rate": len(PICTURE) * 10}
    emulator.rule(UPLOADED_BYTES, {"network": ten_times_a_second})
    session = emulator.open_upload(len(PICTURE))

    began_at = time.perf_counter()
    answer = emulator.send_bytes(session, PICTURE)
    seconds = time.perf_counter() - began_at

    assert seconds >= 0.08  # a tenth of a second, less the last piece
    assert answer.status == 200


def test_a_corrupt_file_has_the_length_and_the_type_of_the_true_one(
    emulator: EmulatorUnderTest,
) -> None:
    url = emulator.upload(PICTURE)["url"]
    true_file = emulator.fetch(url)
    emulator.rule({"bytes": "download"}, {"network": "corrupt"})

    answer = emulator.fetch(url)

    assert answer.status == 200
    assert answer.headers["content-type"] == true_file.headers["content-type"]
    assert len(answer.body) == len(true_file.body)
    assert answer.body != true_file.body


def test_a_late_write_is_carried_out_and_truly_answered(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule({"operation": "createUpload"}, {"network": {"latency": "1ms"}})

    answer = emulator.send(Call("POST", "/uploads", UPLOAD))

    assert answer.status == 201
    assert answer.json["status"] == "awaiting_upload"


SUNSET_AND_LINK: Json = {
    "sunset": "2027-06-30T12:34:56.000Z",
    "link": "https://docs.example/migration",
}
HEADERS = {"deprecation", "link", "sunset"}


def _notice(answer: Answer) -> dict[str, str]:
    names = HEADERS & answer.headers.keys()
    return {name: answer.headers[name] for name in names}


def test_a_notice_says_no_more_than_its_rule(emulator: EmulatorUnderTest) -> None:
    """D43."""
    emulator.rule({"operation": "listPoses"}, {"deprecated": {}})

    answer = emulator.get("/poses")

    assert _notice(answer) == {"deprecation": "@1767225600"}


def test_a_replay_of_an_answer_without_a_notice_has_none(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    call = upscale_call(asset_id, "k")
    first = emulator.send(call)
    emulator.rule(ANY, {"deprecated": SUNSET_AND_LINK})

    replay = emulator.send(call)

    assert replay.raw_headers == first.raw_headers
    assert _notice(replay) == {}


def test_a_replay_of_an_answer_with_a_notice_keeps_it_when_the_scenario_has_ended(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    call = upscale_call(asset_id, "k")
    emulator.rule(ANY, {"deprecated": SUNSET_AND_LINK})
    first = emulator.send(call)
    emulator.without_scenario()

    replay = emulator.send(call)

    assert replay.raw_headers == first.raw_headers
    assert set(_notice(replay)) == HEADERS


@pytest.mark.parametrize(
    ("defect", "outcome"),
    [
        ("drop-key", (400, "invalid_request")),
        ("drop-authorization", (401, "authentication_required")),
    ],
)
def test_a_dropped_header_is_missed(
    emulator: EmulatorUnderTest,
    defect: str,
    outcome: tuple[int, str],
) -> None:
    emulator.rule({}, {"client": defect})

    first = emulator.post("/uploads", UPLOAD)
    second = emulator.post("/uploads", UPLOAD)

    assert first.outcome == outcome
    assert second.outcome == outcome
    rule = emulator.rule_count()
    assert rule.matched == 2
    assert rule.fired == 2


@pytest.mark.parametrize(
    ("defect", "second_key", "same"),
    [
        ("new-key", "a", False),
        ("one-key", "b", True),
        ("drop-query", "a", True),
    ],
)
def test_keys_are_changed_on_their_way(
    emulator: EmulatorUnderTest,
    defect: str,
    second_key: str,
    same: bool,
) -> None:
    emulator.rule({}, {"client": defect})

    first = emulator.post("/uploads", UPLOAD, idempotency_key="a")
    second = emulator.post("/uploads", UPLOAD, idempotency_key=second_key)

    assert (first.id == second.id) is same


def test_without_its_query_a_list_is_whole(emulator: EmulatorUnderTest) -> None:
    emulator.rule({}, {"client": "drop-query"})

    poses = emulator.get("/poses?limit=1").json["data"]
    without_query = emulator.get("/team")

    assert len(poses) > 1
    assert without_query.status == 200
    rule = emulator.rule_count()
    assert rule.matched == 2
    assert rule.fired == 1


def test_a_hint_is_taken_out_of_polls(emulator: EmulatorUnderTest) -> None:
    upscale = emulator.admitted_upscale()
    path = f"/generations/{upscale['id']}"
    with_hint = emulator.get(path)

    emulator.rule({}, {"client": "ignore-hint"})
    without_hint = emulator.get(path)

    assert with_hint.retry_after is not None
    assert without_hint.retry_after is None
    rule = emulator.rule_count()
    assert rule.matched == 1
    assert rule.fired == 1
