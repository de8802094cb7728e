"""An injected problem is exactly what the service would send: next to a real one, nothing but its detail differs."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from image_workflow_emulator.domain.problems import CATALOGUE
from tests.support.contract_check import STATUSES
from tests.support.emulator_client import UPLOAD, Answer, Json, RuleCount
from tests.support.emulator_under_test import EmulatorUnderTest, settings_of
from tests.support.every_operation import CALLS, CAUSES, Things, prepare, upscale_call
from tests.support.pictures import picture


@pytest.fixture(scope="module")
def prepared() -> Iterator[tuple[EmulatorUnderTest, Things]]:
    """An emulator with something of everything, which injected problems do not change."""
    with closing(EmulatorUnderTest(settings_of(rate_limits=False))) as emulator:
        yield emulator, prepare(emulator)


def _able(emulator: EmulatorUnderTest, code: str) -> str:
    """Return an operation that can return a code: the last, as writes have more of them."""
    able_operations = _all_able(emulator, code)
    return able_operations[-1]


def _all_able(emulator: EmulatorUnderTest, code: str) -> list[str]:
    """Return the operations that can return a code."""
    operations = emulator.application.contract.operations
    return [
        name for name, operation in operations.items() if code in operation.all_codes
    ]


def _form(answer: Answer) -> Json:
    """Return the parts that all problems of one code share, injected or real."""
    problem = answer.json
    header_names = [name for name, _ in answer.raw_headers]
    return {
        "headers": sorted(header_names),
        "content-type": answer.headers["content-type"],
        "members": list(problem),
        "type": problem["type"],
        "title": problem["title"],
        "status": problem["status"],
        "code": problem["code"],
    }


@pytest.mark.parametrize("code", CATALOGUE)
def test_a_problem_of_the_header_has_the_form_of_a_real_one(
    emulator: EmulatorUnderTest,
    prepared: tuple[EmulatorUnderTest, Things],
    code: str,
) -> None:
    real = CAUSES[code](emulator)
    other, things = prepared
    operation = _able(other, code)
    call = CALLS[operation](things)
    call.headers = {"Emulator-Fault": code}

    injected = other.send(call)

    assert real.code == code
    assert injected.status == CATALOGUE[code].status
    assert _form(injected) == _form(real)


@pytest.mark.parametrize("code", CATALOGUE)
def test_a_problem_of_a_rule_differs_from_that_of_the_header_by_the_rules_name(
    prepared: tuple[EmulatorUnderTest, Things],
    code: str,
) -> None:
    emulator, things = prepared
    operation = _able(emulator, code)
    call = CALLS[operation](things)
    call.headers = {"Emulator-Fault": code}
    by_header = emulator.send(call)
    call.headers = {}
    emulator.rule({"operation": operation}, {"problem": code})

    by_rule = emulator.send(call)
    emulator.without_scenario()

    form = _form(by_header)
    form["headers"].append("emulator-rule")
    form["headers"].sort()
    assert _form(by_rule) == form
    assert by_rule.json["detail"] == by_header.json["detail"]


def test_a_rule_can_give_the_detail_and_the_wait(emulator: EmulatorUnderTest) -> None:
    then = {
        "problem": "service_unavailable",
        "retry_after": 17,
        "detail": "closed for stocktaking",
    }
    emulator.rule({"operation": "createUpload"}, then)

    refused = emulator.post("/uploads", UPLOAD)

    assert refused.status == 503
    assert refused.retry_after == 17
    assert refused.json["detail"] == "closed for stocktaking"


IN_PROGRESS = {"Emulator-Fault": "resource_operation_in_progress"}


def test_the_operation_that_is_said_to_be_in_progress_is_the_newest(
    emulator: EmulatorUnderTest,
) -> None:
    finished = emulator.author("pose")
    newest = emulator.items("/operations")[0]

    refused = emulator.delete(f"/poses/{finished['id']}", headers=IN_PROGRESS)

    assert refused.json["active_operation_id"] == newest["id"]


def test_an_unfinished_operation_is_said_to_be_in_progress_before_a_finished_one(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    background = {
        "name": "New",
        "kind": "backdrop",
        "asset_id": asset_id,
    }
    running = emulator.post("/backgrounds", background)
    emulator.rule({"work": "pose.create"}, {"duration": "0s"})
    finished = emulator.author("pose")

    refused = emulator.delete(f"/poses/{finished['id']}", headers=IN_PROGRESS)

    assert refused.json["active_operation_id"] == running.id


def test_without_an_operation_an_unknown_id_is_said_to_be_in_progress(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    refused = emulator.delete(f"/assets/{asset_id}", headers=IN_PROGRESS)

    operation_id = refused.json["active_operation_id"]
    assert operation_id.startswith("op_")
    assert emulator.get(f"/operations/{operation_id}").status == 404


@pytest.mark.parametrize("operation", CALLS)
def test_a_request_can_ask_for_its_own_codes(
    prepared: tuple[EmulatorUnderTest, Things],
    operation: str,
) -> None:
    emulator, things = prepared
    able = emulator.application.contract.operations[operation].all_codes
    before = emulator.library_of()
    for code, kind in CATALOGUE.items():
        call = CALLS[operation](things)
        call.headers = {"Emulator-Fault": f" {code} "}

        answer = emulator.send(call)

        assert "emulator-rule" not in answer.headers
        if code in able:
            assert answer.status == kind.status
            assert answer.code == code
        else:
            assert answer.code == "invalid_request"
            assert code in answer.json["detail"]
    assert emulator.library_of() == before


UNKNOWN_ASSET = "asset_00000000000000000000000000"
PRODUCT_WITHOUT_PHOTO: Json = {
    "name": "Shirt",
    "asset_ids": [UNKNOWN_ASSET],
    "primary_asset_id": UNKNOWN_ASSET,
}


@pytest.mark.parametrize(
    "code",
    [
        "permission_denied",
        "subscription_required",
        "invalid_input",
        "internal_error",
    ],
)
def test_a_problem_of_an_earlier_check_precedes_a_refusal_of_the_service(
    emulator: EmulatorUnderTest,
    code: str,
) -> None:
    emulator.rule({"operation": "createProduct"}, {"problem": code})

    answer = emulator.post("/products", PRODUCT_WITHOUT_PHOTO)

    assert answer.code == code
    assert answer.headers["emulator-rule"] == "the rule"


def test_a_refusal_of_the_service_precedes_a_problem_of_the_same_check(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule({"operation": "createProduct"}, {"problem": "invalid_reference"})

    answer = emulator.post("/products", PRODUCT_WITHOUT_PHOTO)

    assert answer.code == "invalid_reference"
    assert "emulator-rule" not in answer.headers


def test_a_problem_of_a_read_precedes_the_look_at_the_resource(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule({"operation": "getAsset"}, {"problem": "asset_not_found"})

    answer = emulator.get(f"/assets/{UNKNOWN_ASSET}")

    assert answer.code == "asset_not_found"
    assert answer.headers["emulator-rule"] == "the rule"


def test_a_request_that_a_rule_calls_too_many_does_not_count_against_the_rate(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule(
        {"operation": "getTeam"},
        {"problem": "rate_limited"},
        {"nth": 1},
        world={"teams": {"Demo": {"requests_per_minute": 2}}},
    )

    answers = [emulator.get("/team") for _ in range(4)]

    statuses = [answer.status for answer in answers]
    assert statuses == [429, 200, 200, 429]
    assert answers[0].headers["emulator-rule"] == "the rule"
    assert "emulator-rule" not in answers[3].headers


def test_the_header_precedes_the_scenario(emulator: EmulatorUnderTest) -> None:
    emulator.rule(
        {"operation": "getTeam"},
        {"problem": "internal_error"},
        {"nth": 1},
    )
    rate_limited = {"Emulator-Fault": "rate_limited"}

    by_header = emulator.get("/team", headers=rate_limited)
    rule = emulator.rule_count()
    first = emulator.get("/team")
    second = emulator.get("/team")

    assert by_header.status == 429
    assert rule.matched == 0
    assert rule.fired == 0
    assert first.status == 500
    assert second.status == 200


def test_the_header_does_nothing_without_an_operation(
    emulator: EmulatorUnderTest,
) -> None:
    url = emulator.upload(picture())["url"]
    headers = {"Emulator-Fault": "internal_error"}

    unknown_path = emulator.get("/nothing", headers=headers)
    wrong_method = emulator.delete("/team", headers=headers)
    clock = emulator.ask("GET", "/clock", headers=headers)
    download = emulator.fetch(url, headers=headers)

    assert unknown_path.status == 404
    assert wrong_method.status == 405
    assert clock.status == 200
    assert download.status == 200


@pytest.mark.parametrize("then", [{"problem": "service_unavailable"}, {"hold": 10}])
def test_a_rule_has_not_fired_for_a_request_that_is_a_replay(
    emulator: EmulatorUnderTest,
    asset_id: str,
    then: Json,
) -> None:
    call = upscale_call(asset_id, "k")
    first = emulator.send(call)
    emulator.rule({"operation": "createUpscaleGeneration"}, then)

    replay = emulator.send(call)
    entry = emulator.told("GET", "/requests")["data"][0]
    described = emulator.told("GET", f"/requests/{entry['request_id']}")
    explained_rule = described["explanation"]["rules"][0]
    rule = emulator.rule_count()

    assert replay.body == first.body
    assert rule.matched == 1
    assert rule.fired == 0
    assert entry["rule"] is None
    assert explained_rule["did"] == "nothing"


@pytest.mark.parametrize(
    "then",
    [
        pytest.param({"problem": "internal_error"}, id="replaced"),
        pytest.param({"network": {"latency": "1ms"}}, id="late"),
    ],
)
def test_a_rule_is_named_by_its_own_answer_and_not_by_the_true_one(
    emulator: EmulatorUnderTest,
    asset_id: str,
    then: Json,
) -> None:
    call = upscale_call(asset_id, "k")
    emulator.rule(
        {"operation": "createUpscaleGeneration"},
        {**then, "at": "after_commit"},
        {"nth": 1},
    )

    first = emulator.send(call)
    second = emulator.send(call)

    assert first.headers["emulator-rule"] == "the rule"
    assert second.status == 202
    assert "emulator-rule" not in second.headers
    rule = emulator.rule_count()
    assert rule.matched == 2
    assert rule.fired == 1


@pytest.mark.emulator(rate_limits=False)
@pytest.mark.parametrize("code", CATALOGUE)
def test_the_first_call_of_each_operation_has_the_problem(
    emulator: EmulatorUnderTest,
    code: str,
) -> None:
    things = prepare(emulator)
    able_operations = _all_able(emulator, code)
    emulator.use({"use": f"problem:{code}"})

    for operation in able_operations:
        call = CALLS[operation](things)
        answer = emulator.send(call)
        assert answer.status == STATUSES[code]
        assert answer.code == code

    counts = emulator.rules()
    assert counts.keys() == {f"first {operation}" for operation in able_operations}
    assert set(counts.values()) == {RuleCount(matched=1, fired=1)}
