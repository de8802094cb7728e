"""All 24 codes of section 7, each from its real cause."""

import re

import pytest

from tests.support.emulator_client import EmulatorUnderTest
from tests.support.every_problem import CAUSES
from tests.support.specification import STATUSES


@pytest.mark.parametrize("code", CAUSES)
def test_it_comes_of_its_cause(emulator: EmulatorUnderTest, code: str) -> None:
    problem = CAUSES[code](emulator)
    assert problem.outcome == (STATUSES[code], code)
    assert problem.json["title"]
    if code != "internal_error":  # whose cause is for the log alone
        assert re.fullmatch("[^:]+: found .+; expected .+", problem.json["detail"])
