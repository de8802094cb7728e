"""Chance that follows from a seed and names."""

from image_workflow_emulator.kernel.seed import Seed


def test_a_number_follows_from_the_seed_and_the_names_in_their_order() -> None:
    names: list[tuple[str | int, ...]] = [("a", 1), ("a", 2), (1, "a"), ("a1",)]
    numbers = [Seed(value).number(*name) for value in (0, 1) for name in names]
    assert len(set(numbers)) == len(numbers)
    assert all(0 <= number < 2**32 for number in numbers)
    assert Seed(0).number("a", 1) == numbers[0]
