"""The emulator against the model: random clients, find no difference between the two."""

from pathlib import Path

import pytest

from tests.model.playing import draw_plainly, play


@pytest.fixture(autouse=True)
def plain_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("image_workflow_emulator.imaging.helpers.Helpers.run", draw_plainly)


@pytest.mark.parametrize(("plays", "is_one_sided"), [(16, False), (8, True)], ids=["evenly", "one-sidedly"])
def test_random_clients_find_no_difference(tmp_path: Path, plays: int, is_one_sided: bool) -> None:
    play(tmp_path, plays, is_one_sided=is_one_sided)


@pytest.mark.verify
@pytest.mark.parametrize(
    ("plays", "steps", "is_one_sided"), [(400, 80, False), (300, 60, True)], ids=["evenly", "one-sidedly"]
)
def test_random_clients_find_no_difference_however_often_they_play(
    tmp_path: Path, plays: int, steps: int, is_one_sided: bool
) -> None:
    play(tmp_path, plays, steps, is_one_sided=is_one_sided)
