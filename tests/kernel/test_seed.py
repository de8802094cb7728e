"""Named streams of chance."""

from emulator.kernel.seed import Seed


def draws(*names: str | int, seed: int = 0) -> list[float]:
    stream = Seed(seed).stream(*names)
    return [stream.random() for _ in range(3)]


def test_the_same_names_give_the_same_numbers() -> None:
    assert draws("generation", "gen_1", 2) == draws("generation", "gen_1", 2)


def test_another_name_seed_or_order_gives_other_numbers() -> None:
    found = [draws("a", 1), draws("a", 2), draws(1, "a"), draws("a", 1, seed=1), draws("a1"), draws("a")]
    assert len({tuple(numbers) for numbers in found}) == len(found)


def test_one_more_draw_from_one_stream_changes_no_other() -> None:
    seed = Seed(5)
    expected = draws("b", seed=5)
    seed.stream("a").random()
    stream = seed.stream("b")
    assert expected == [stream.random() for _ in range(3)]


def test_a_number_lies_within_32_bits_and_follows_from_seed_and_names() -> None:
    numbers = [Seed(0).number("x", index) for index in range(200)]
    assert all(0 <= number < 2**32 for number in numbers)
    assert len(set(numbers)) == 200
    assert Seed(0).number("x", 1) == numbers[1]


def test_a_digest_has_32_bytes_and_follows_from_seed_and_names() -> None:
    assert len(Seed(0).digest("signer", "default")) == 32
    assert Seed(0).digest("signer") != Seed(1).digest("signer")
