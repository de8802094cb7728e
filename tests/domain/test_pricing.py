"""What is charged of work that was completed in part (section 4)."""

import pytest

from emulator.domain.pricing import generation_charge


@pytest.mark.parametrize("each", [1, 2])
def test_single_shots_are_charged_for_each_that_completed(each: int) -> None:
    for count in range(1, 7):
        for completed in range(count + 1):
            assert completed * each == generation_charge(count * each, completed, count)
