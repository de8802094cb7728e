"""The scenarios `problem:CODE`: the first call of each operation that can return a code does so, and no other."""

import pytest

from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.domain.problems import CATALOGUE
from tests.support.emulator_client import EmulatorUnderTest
from tests.support.every_operation import CALLS, prepare
from tests.support.specification import STATUSES

OPERATIONS = load_contract().operations


@pytest.mark.emulator(rate_limits=False)
@pytest.mark.parametrize("code", CATALOGUE)
def test_the_first_call_of_each_operation_has_the_problem(emulator: EmulatorUnderTest, code: str) -> None:
    things = prepare(emulator)
    able = [name for name, operation in OPERATIONS.items() if code in operation.all_codes]
    emulator.use({"use": f"problem:{code}"})
    for name in able:
        assert (STATUSES[code], code) == emulator.send(CALLS[name](things)).outcome, name
    assert {f"first {name}": (1, 1) for name in able} == emulator.rules()


def test_an_unknown_code_is_refused_with_those_there_are(emulator: EmulatorUnderTest) -> None:
    refused = emulator.ask("PUT", "/scenario", {"use": "problem:not_fond"})
    assert (422, "invalid_scenario") == refused.outcome
    assert refused.json["detail"].endswith('did you mean "problem:not_found"?')
    assert 201 == emulator.ask("POST", "/sandboxes", {"scenario": "problem:not_found"}).status
