"""Chance that follows from a seed and names."""

from emulator.kernel.seed import Seed


def test_another_name_seed_or_order_gives_another_number() -> None:
    seed = Seed(0)
    found = [seed.number("a", 1), seed.number("a", 2), seed.number(1, "a"), Seed(1).number("a", 1), seed.number("a1")]
    assert len(set(found)) == len(found)


def test_a_number_lies_within_32_bits_and_follows_from_seed_and_names() -> None:
    numbers = [Seed(0).number("x", index) for index in range(200)]
    assert all(0 <= number < 2**32 for number in numbers)
    assert len(set(numbers)) == 200
    assert Seed(0).number("x", 1) == numbers[1]
