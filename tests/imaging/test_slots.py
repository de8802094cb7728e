"""How the slots of one Generation differ."""

from itertools import combinations

import pytest

from tests.imaging.photographs import EDGE, RED, photograph, plain_file
from tests.imaging.pictures import count_of, difference

ON_PLAIN = plain_file(RED)


@pytest.mark.parametrize("kind", ["automatic", "transparent"])
@pytest.mark.parametrize("people", [0, 1])
@pytest.mark.parametrize(("is_photoshoot", "slot_count"), [(False, 6), (True, 4)])
def test_slots_of_one_generation_differ(
    kind: str,
    people: int,
    is_photoshoot: bool,
    slot_count: int,
) -> None:
    scenes = []
    for slot in range(1, slot_count + 1):
        image = photograph(
            ON_PLAIN,
            slot=slot,
            slot_count=6,
            background_kind=kind,
            people=people,
            is_photoshoot=is_photoshoot,
        )
        scenes.append(image.convert("RGB").crop((0, 0, EDGE, EDGE // 2)))

    for first, second in combinations(scenes, 2):
        assert difference(first, second) > 0.8


@pytest.mark.parametrize("people", [0, 1])
def test_a_photoshoot_comes_nearer_from_full_to_close_to_detail(people: int) -> None:
    full, close, _, detail = (
        count_of(
            photograph(
                ON_PLAIN,
                slot=slot,
                slot_count=4,
                people=people,
                is_photoshoot=True,
            ),
            RED,
            12,
        )
        for slot in range(1, 5)
    )

    assert full < close < detail
