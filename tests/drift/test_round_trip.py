"""A recording of an emulator with a hidden reading tells that reading, and nothing else."""

import pytest

from emulator.domain.readings import READINGS
from tests.drift.recorded import judged, tour


def test_a_recording_of_the_plain_emulator_shows_nothing_else() -> None:
    report = judged(tour())
    assert () == report.readings
    assert () == report.breaches
    assert () == report.differences
    assert {"assumed"} == {row.verdict for row in report.rows}


@pytest.mark.parametrize("name", READINGS)
def test_a_hidden_reading_is_found_and_no_other(name: str) -> None:
    report = judged(tour(name))
    assert (name,) == report.readings
    assert () == report.breaches
    assert () == report.differences
    assert not [row for row in report.rows if row.verdict == "neither"]
