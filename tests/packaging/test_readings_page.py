"""The page of readings: its clients that break do so under their reading, and those that do not pass under it and without."""

import re
import warnings
from contextlib import closing
from typing import Any

import pytest

from image_workflow_emulator.domain.readings import READINGS
from tests.packaging.pages import fences
from tests.support.served import ROOT

PAGE = ROOT / "docs/readings.md"
BEGINNING, *EXAMPLES = [text for _, text in fences(PAGE, "py")]
NAMES = re.findall(r"^#### `(.*)`$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
BREAKDOWNS = (AssertionError, AttributeError, LookupError, ValueError)


def run(readings: str, *parts: str) -> None:
    shown: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Starlette's TestClient would like another HTTP library
        exec(BEGINNING.replace('"plain"', repr(readings)), shown)
    with closing(shown["app"]):
        exec("".join(parts), shown)


def test_every_reading_has_its_clients() -> None:
    assert list(READINGS) == sorted(NAMES, key=list(READINGS).index)
    assert len(EXAMPLES) == len(NAMES)


@pytest.fixture(
    params=[
        pytest.param(pair, id=pair[0], marks=pytest.mark.verify if number % 3 else ())
        for number, pair in enumerate(zip(NAMES, EXAMPLES, strict=True))
    ]
)
def example(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The name of a reading, how its example begins, the client that breaks, and the one that does not."""
    monkeypatch.chdir(ROOT / "examples/python")
    name, text = request.param
    return [name, *re.split(r"^(?=# (?:breaks|does not))", text, flags=re.MULTILINE)]


def test_one_client_breaks_under_the_reading_and_the_other_does_not(example: list[str]) -> None:
    name, beginning, breaking, sound = example
    with pytest.raises(BREAKDOWNS):
        run(name, beginning, breaking)
    run(name, beginning, sound)


@pytest.mark.verify
def test_without_the_reading_both_clients_work(example: list[str]) -> None:
    name, beginning, breaking, sound = example
    if READINGS[name].gives != "more":  # what the emulator is stricter about, it refuses
        run("plain", beginning, breaking)
    run("plain", beginning, sound)
