"""A recording of an emulator with hidden readings tells those readings, and nothing else."""

from itertools import combinations

import pytest

from emulator.domain.readings import READINGS, chosen, parse_readings
from emulator.kernel.seed import Seed
from tests.drift.recorded import judged, tour, toured

PAIRS = [(one, other) for one, other in combinations(READINGS, 2) if READINGS[one].decision != READINGS[other].decision]
SAMPLE = [PAIRS[Seed(24).number("pair", str(number)) % len(PAIRS)] for number in range(20)]


def test_a_recording_of_the_plain_emulator_shows_nothing_else() -> None:
    report = judged(tour())
    assert () == report.readings
    assert () == report.breaches
    assert () == report.differences
    assert {"assumed"} == {row.verdict for row in report.rows}


def check(readings: str, *, evolution: bool = False) -> None:
    """Judge a recording of hidden readings, which must be found and nothing else."""
    report = judged(toured(readings, evolution=evolution).exchanges)
    assert chosen(parse_readings(readings)) == report.readings
    assert () == report.breaches
    assert () == report.differences
    assert not [row for row in report.rows if row.verdict == "neither"]


@pytest.mark.parametrize("name", READINGS)
def test_a_hidden_reading_is_found_and_no_other(name: str) -> None:
    check(name)


@pytest.mark.parametrize("readings", ["other", "stingy"])
@pytest.mark.parametrize("evolution", [False, True])
def test_all_hidden_readings_of_a_set_are_found_whatever_v1_has_added(readings: str, evolution: bool) -> None:
    check(readings, evolution=evolution)


@pytest.mark.parametrize("pair", SAMPLE, ids=",".join)
def test_both_hidden_readings_of_a_pair_are_found(pair: tuple[str, str]) -> None:
    check(",".join(pair))


@pytest.mark.verify
@pytest.mark.parametrize("pair", PAIRS, ids=",".join)
def test_both_hidden_readings_of_every_pair_are_found(pair: tuple[str, str]) -> None:
    check(",".join(pair))


@pytest.mark.verify
@pytest.mark.parametrize("seed", range(100))
def test_every_hidden_reading_of_a_mixture_is_found(seed: int) -> None:
    check(f"any:{seed}")
