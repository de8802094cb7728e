"""An injected problem is exactly what the service would send: next to a real one, nothing but its detail differs."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from image_workflow_emulator.domain.problems import CATALOGUE
from tests.support.contract_check import STATUSES
from tests.support.emulator_client import (
    UPLOAD,
    Answer,
    EmulatorUnderTest,
    Json,
    settings_of,
)
from tests.support.every_operation import CALLS, CAUSES, Things, prepare, upscale_call
from tests.support.pictures import picture


@pytest.fixture(scope="module")
def prepared() -> Iterator[tuple[EmulatorUnderTest, Things]]:
    """An emulator with something of everything, which injected problems do not change."""
    with closing(EmulatorUnderTest(settings_of(rate_limits=False))) as emulator:
        yield emulator, prepare(emulator)


def _able(emulator: EmulatorUnderTest, code: str) -> str:
    """Return an operation that can return a code: the last, as writes have more of them."""
    operations = emulator.application.contract.operations
    return [
        name for name, operation in operations.items() if code in operation.all_codes
    ][-1]


def _form(answer: Answer) -> Json:
    """Return the parts that all problems of one code share, injected or real."""
    problem = answer.json
    return {
        "headers": sorted(name for name, _ in answer.raw_headers),
        "content-type": answer.headers["content-type"],
        "members": list(problem),
        **{name: problem[name] for name in ("type", "title", "status", "code")},
    }


@pytest.mark.parametrize("code", CATALOGUE)
def test_an_injected_problem_has_the_form_of_a_real_one(
    emulator: EmulatorUnderTest, prepared: tuple[EmulatorUnderTest, Things], code: str
) -> None:
    real = CAUSES[code](emulator)
    assert code == real.code
    other, things = prepared
    call = CALLS[_able(other, code)](things)
    call.headers = {"Emulator-Fault": code}
    by_header = other.send(call)
    assert (_form(real), CATALOGUE[code].status) == (_form(by_header), by_header.status)

    call.headers = {}
    other.rule({"operation": _able(other, code)}, {"problem": code})
    by_rule = other.send(call)
    other.without_scenario()
    form = _form(real)
    assert form | {"headers": sorted([*form["headers"], "emulator-rule"])} == _form(
        by_rule
    )
    assert by_header.json["detail"] == by_rule.json["detail"]


def test_a_rule_can_give_the_detail_and_the_wait(emulator: EmulatorUnderTest) -> None:
    then = {
        "problem": "service_unavailable",
        "retry_after": 17,
        "detail": "closed for stocktaking",
    }
    emulator.rule({"operation": "createUpload"}, then)
    refused = emulator.post("/uploads", UPLOAD)
    assert (503, 17, "closed for stocktaking") == (
        refused.status,
        refused.retry_after,
        refused.json["detail"],
    )


def test_the_operation_that_is_said_to_be_in_progress_can_be_polled(
    emulator: EmulatorUnderTest,
) -> None:
    finished, (asset_id,) = emulator.author("pose"), emulator.assets(1)
    ask = {"Emulator-Fault": "resource_operation_in_progress"}
    newest = emulator.items("/operations")[0]
    path = f"/poses/{finished['id']}"
    assert (
        newest["id"] == emulator.delete(path, headers=ask).json["active_operation_id"]
    )
    running = emulator.post(
        "/backgrounds", {"name": "New", "kind": "backdrop", "asset_id": asset_id}
    )
    assert running.id == emulator.delete(path, headers=ask).json["active_operation_id"]


@pytest.mark.parametrize("operation", CALLS)
def test_a_request_can_ask_for_its_own_codes(
    prepared: tuple[EmulatorUnderTest, Things], operation: str
) -> None:
    emulator, things = prepared
    able = emulator.application.contract.operations[operation].all_codes
    before = emulator.library_of()
    for code, kind in CATALOGUE.items():
        call = CALLS[operation](things)
        call.headers = {"Emulator-Fault": f" {code} "}
        answer = emulator.send(call)
        assert (
            (kind.status, code) if code in able else (400, "invalid_request")
        ) == answer.outcome
        assert "emulator-rule" not in answer.headers
        if code not in able:
            assert code in answer.json["detail"]
    assert before == emulator.library_of()


def test_the_header_precedes_the_scenario_and_does_nothing_without_an_operation(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule({"operation": "getTeam"}, {"problem": "internal_error"}, {"nth": 1})
    assert (
        429 == emulator.get("/team", headers={"Emulator-Fault": "rate_limited"}).status
    )
    assert {"the rule": (0, 0)} == emulator.rules()
    assert [500, 200] == [emulator.get("/team").status for _ in range(2)]
    ask = {"Emulator-Fault": "internal_error"}
    assert (404, "not_found") == emulator.get("/nothing", headers=ask).outcome
    assert 405 == emulator.delete("/team", headers=ask).status
    assert 200 == emulator.ask("GET", "/clock", headers=ask).status
    url = emulator.upload(picture())["url"]
    assert 200 == emulator.fetch(url, headers=ask).status


@pytest.mark.parametrize("then", [{"problem": "service_unavailable"}, {"hold": 10}])
def test_a_rule_has_not_fired_for_a_request_that_is_a_replay(
    emulator: EmulatorUnderTest, then: Json
) -> None:
    call = upscale_call(emulator.assets(1)[0], "k")
    first = emulator.send(call)
    emulator.rule({"operation": "createUpscaleGeneration"}, then)
    assert first.body == emulator.send(call).body
    assert {"the rule": (1, 0)} == emulator.rules()
    entry = emulator.told("GET", "/requests")["data"][0]
    assert entry["rule"] is None
    told = emulator.told("GET", f"/requests/{entry['request_id']}")
    assert "nothing" == told["explanation"]["rules"][0]["did"]


@pytest.mark.parametrize(
    "then",
    [
        {"problem": "internal_error", "at": "after_commit"},
        {"network": {"latency": "1ms"}, "at": "after_commit"},
    ],
    ids=["replaced", "late"],
)
def test_a_rule_is_named_by_its_own_answer_and_not_by_the_true_one(
    emulator: EmulatorUnderTest, then: Json
) -> None:
    call = upscale_call(emulator.assets(1)[0], "k")
    emulator.rule({"operation": "createUpscaleGeneration"}, then, {"nth": 1})
    first, second = emulator.send(call), emulator.send(call)
    assert "the rule" == first.headers["emulator-rule"]
    assert (202, False) == (second.status, "emulator-rule" in second.headers)
    assert {"the rule": (2, 1)} == emulator.rules()


@pytest.mark.emulator(rate_limits=False)
@pytest.mark.parametrize("code", CATALOGUE)
def test_the_first_call_of_each_operation_has_the_problem(
    emulator: EmulatorUnderTest, code: str
) -> None:
    things = prepare(emulator)
    able = [
        name
        for name, operation in emulator.application.contract.operations.items()
        if code in operation.all_codes
    ]
    emulator.use({"use": f"problem:{code}"})
    for name in able:
        assert (STATUSES[code], code) == emulator.send(CALLS[name](things)).outcome, (
            name
        )
    assert {f"first {name}": (1, 1) for name in able} == emulator.rules()
