"""The emulator against the model: random clients, in one sandbox or two, find no difference between the two."""

from pathlib import Path

import pytest

from tests.model.playing import draw_plainly, play_by_hypothesis, play_evenly


@pytest.fixture(autouse=True)
def plain_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emulator.imaging.helpers.Helpers.run", draw_plainly)


@pytest.mark.slow
def test_random_clients_find_no_difference(tmp_path: Path) -> None:
    play_evenly(tmp_path, plays=16)


@pytest.mark.slow
def test_one_sided_clients_find_no_difference(tmp_path: Path) -> None:
    play_by_hypothesis(tmp_path, plays=6, shortens=False)


@pytest.mark.verify
def test_random_clients_find_no_difference_however_often_they_play(tmp_path: Path) -> None:
    play_evenly(tmp_path, plays=400, steps=80)


@pytest.mark.verify
def test_one_sided_clients_find_no_difference_however_often_they_play(tmp_path: Path) -> None:
    play_by_hypothesis(tmp_path, plays=300, steps=60)
