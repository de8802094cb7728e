"""The verification finds what is wrong: of each planted fault, at least one of its parts must take notice.

The parts are a tour of all operations and problems, with the contract checker on every answer, and the model with random
clients. A fault that neither finds is a gap in the tests, to be closed there.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from tests.model.playing import draw_plainly, play
from tests.mutants.planted_faults import PLANTED_FAULTS
from tests.support.emulator_client import INVALID_INPUT, EmulatorUnderTest, ingredient_body, settings_of
from tests.support.every_operation import take_tour
from tests.support.every_problem import CAUSES
from tests.support.specification import STATUSES

PLAYS: Final = 40
PLAYS_AT_MOST: Final = 160
"""Some faults show only where much comes together; the long verification plays until they do."""

FOUND_LATE: Final = {
    "failed_output_charged", "failed_output_leaves_its_asset", "failure_leaves_ingredient",
    "fault_header_is_counted_by_the_scenario", "fault_header_is_heeded_twice", "fault_header_takes_any_code",
    "keys_of_the_deleted_are_good", "pause_is_waited_for_too_long", "pause_of_a_team_stops_all",
    "poll_takes_no_wait", "poll_waits_for_the_end", "poll_waits_too_long", "primary_not_reassigned",
    "refusal_asks_for_a_wait_already_skipped", "refusal_binds_key", "refusal_skips_no_wait",
    "reset_begins_everything_anew", "reset_forgets_the_scenarios_of_teams", "scenario_of_everyone_goes_first",
    "state_file_loses_the_future", "terminal_work_changes", "upload_window_never_closes", "use_after_delete",
}  # fmt: skip
"""Those that take the random clients longer than a second."""

NOT_ON_TOUR: Final = {"rate_limited", "internal_error"}
"""Problems that it does not meet: request rates are off, and a defect of the emulator would look like a slip of the fault."""


@pytest.fixture
def patch(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr("image_workflow_emulator.imaging.helpers.Helpers.run", draw_plainly)
    return monkeypatch


@pytest.fixture
def slips() -> Iterator[list[str]]:
    """The errors that show a planted fault to be broken itself, instead of breaking the emulator."""
    found: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            error = record.exc_info and record.exc_info[1]
            if isinstance(error, TypeError | AttributeError | NameError):
                found.append(repr(error))

    listener, logger = Listener(), logging.getLogger("image_workflow_emulator")
    logger.addHandler(listener)
    yield found
    logger.removeHandler(listener)


def notices(search: Callable[[], None]) -> bool:
    """Tell whether a search for what is wrong finds something."""
    try:
        search()
    except AssertionError:
        return True
    return False


def tour() -> None:
    with closing(EmulatorUnderTest(settings_of(rate_limits=False))) as emulator:
        take_tour(emulator)
        assert emulator.get("/assets?limit=101").outcome == (400, "invalid_request")
        garden = ingredient_body("background", ["an Asset"]) | {"kind": "garden"}
        assert emulator.post("/backgrounds", garden).outcome == INVALID_INPUT
        for code, cause in CAUSES.items():
            if code not in NOT_ON_TOUR:
                assert cause(emulator).outcome == (STATUSES[code], code)


def test_nothing_is_found_where_nothing_is_planted(patch: pytest.MonkeyPatch) -> None:
    tour()


@pytest.mark.parametrize("fault", [name for name in PLANTED_FAULTS if name not in FOUND_LATE])
def test_it_is_found_soon(patch: pytest.MonkeyPatch, slips: list[str], tmp_path: Path, fault: str) -> None:
    PLANTED_FAULTS[fault](patch)
    assert notices(tour) or notices(lambda: play(tmp_path, PLAYS, shortens=False))
    assert slips == []


@pytest.mark.verify
@pytest.mark.parametrize("fault", sorted(FOUND_LATE))
def test_it_is_found(patch: pytest.MonkeyPatch, slips: list[str], tmp_path: Path, fault: str) -> None:
    PLANTED_FAULTS[fault](patch)
    assert notices(lambda: play(tmp_path, PLAYS_AT_MOST, shortens=False))
    assert slips == []
