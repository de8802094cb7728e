"""The tests of a room notice what changes in its code: a sample of `make mutants`."""

import sys

import pytest

from tests.support.served import run_program

TIME_LIMIT_SECONDS = 3_600
SETTLED = ("kernel", "domain", "scenario", "web/checks.py")
"""The rooms and files whose survivors are all listed."""


@pytest.mark.verify
def test_every_change_that_no_test_notices_is_listed_with_its_reason() -> None:
    command = (sys.executable, "-m", "tests.mutants.mutants", "--sample", "300")

    outcome = run_program(*command, *SETTLED, seconds=TIME_LIMIT_SECONDS)

    assert outcome.status == 0, outcome.output + outcome.complaint
