"""Readings as people write them: for an option, in a file and in a scenario."""

from collections.abc import Callable
from pathlib import Path

import pytest

from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.domain.readings import READINGS, chosen
from image_workflow_emulator.scenario.readings import (
    described_readings,
    readings_of_option,
)
from image_workflow_emulator.scenario.scenario_reader import parse_scenario
from image_workflow_emulator.settings import SettingError
from tests.support.every_operation import CONTRACT

OF_D10 = "one of D10=binds-refusals, D10=releases, D10=plain"
OF_D26 = "one of D26=always-a-cursor, D26=plain"
ANY = "readings such as D26=always-a-cursor, a set (plain, other, stingy), or a file"


@pytest.mark.parametrize(
    ("text", "found", "expected"),
    [
        (
            "D26=allways-a-cursor",
            "D26=allways-a-cursor",
            f'{OF_D26}; did you mean "D26=always-a-cursor"?',
        ),
        (
            "D66=silent,D26=plane",
            "D26=plane",
            f'{OF_D26}; did you mean "D26=plain"?',
        ),
        (
            "D10=releases=now",
            "D10=releases=now",
            f'{OF_D10}; did you mean "D10=releases"?',
        ),
        ("stingi", "stingi", f'{ANY}; did you mean "stingy"?'),
        ("D99:x", "D99:x", ANY),
    ],
)
def test_an_unknown_reading_of_the_option_is_told(
    text: str,
    found: str,
    expected: str,
) -> None:
    with pytest.raises(SettingError) as caught:
        readings_of_option(text)

    assert str(caught.value) == f"--readings: found '{found}', expected {expected}"


@pytest.mark.parametrize(
    ("readings", "place", "found", "expected"),
    [
        (
            "{D26: allways}",
            "2:17: /readings/D26",
            "D26=allways",
            f'{OF_D26}; did you mean "D26=always-a-cursor"?',
        ),
        ("{D99: x}", "2:17: /readings/D99", "D99=x", ANY),
        (
            "stingi",
            "2:11: /readings",
            "stingi",
            f'{ANY}; did you mean "stingy"?',
        ),
    ],
)
def test_an_unknown_reading_of_a_scenario_is_told(
    readings: str,
    place: str,
    found: str,
    expected: str,
) -> None:
    text = f"scenario: x\nreadings: {readings}"

    with pytest.raises(DocumentError) as caught:
        parse_scenario(text, "s.yaml", CONTRACT)

    words = f'found "{found}"; expected {expected}'
    assert str(caught.value) == f"s.yaml:{place}: {words}"


def test_a_scenario_has_all_the_readings_that_it_names() -> None:
    text = "scenario: x\nreadings: {D26: always-a-cursor, D66: silent}"

    scenario = parse_scenario(text, "s.yaml", CONTRACT)

    assert scenario.readings is not None
    assert set(chosen(scenario.readings)) == {"D26=always-a-cursor", "D66=silent"}


@pytest.fixture
def file_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str], None]:
    """Makes a file of the reading D26=always-a-cursor in the current folder."""
    monkeypatch.chdir(tmp_path)

    def make(name: str) -> None:
        Path(name).write_text("readings: {D26: always-a-cursor}")

    return make


@pytest.mark.parametrize("text", ["D66=silent", "stingy,D66=plain"])
def test_a_text_of_readings_names_no_file(
    file_named: Callable[[str], None],
    text: str,
) -> None:
    file_named(text)

    readings = readings_of_option(text)

    assert "D26=always-a-cursor" not in chosen(readings)


@pytest.mark.parametrize("name", ["FIX.yaml", "./readings"])
def test_another_text_names_a_file(
    file_named: Callable[[str], None],
    name: str,
) -> None:
    file_named(name)

    readings = readings_of_option(name)

    assert list(chosen(readings)) == ["D26=always-a-cursor"]


def test_every_reading_is_described_by_its_decision() -> None:
    described = described_readings()

    names = [f"{reading['decision']}={reading['id']}" for reading in described]
    assert names == [*READINGS]
