"""Identifiers (D09), and signatures."""

import pytest

from image_workflow_emulator.kernel.seed import Identifiers, Signer

KINDS = ("ast", "prd", "op", "gen", "req", "team")


def test_an_identifier_is_its_kinds_prefix_and_26_hexadecimal_digits() -> None:
    prefix, _, rest = Identifiers(0).next("prd").partition("_")
    assert (prefix, len(rest), set(rest) - set("0123456789abcdef")) == ("prd", 26, set())


def test_identifiers_of_a_kind_increase_with_creation_across_the_carries_of_their_counter() -> None:
    counts = (*range(2_000), 32**4 - 1, 32**4, 32**7)
    made = [Identifiers(0, {"ast": count}).next("ast") for count in counts]
    assert made == sorted(set(made))


def test_one_more_of_one_kind_changes_no_identifier_of_another() -> None:
    alone, beside = Identifiers(7), Identifiers(7)
    for kind in KINDS[1:]:
        beside.next(kind)
    assert [alone.next("ast") for _ in range(3)] == [beside.next("ast") for _ in range(3)]


def test_two_kinds_share_nothing_behind_their_prefixes() -> None:
    identifiers = Identifiers(0)
    assert len({identifiers.next(kind).partition("_")[2] for kind in KINDS}) == len(KINDS)


SIGNER = Signer(b"key")


@pytest.mark.parametrize(
    "parts",
    [("upload", "upl_2", 7), ("upload", "upl_1", 8), ("file", "upl_1", 7), ("upload", "upl_1"), ("uploadupl_1", 7)],
)
def test_a_signature_is_refused_for_anything_else(parts: tuple[str | int, ...]) -> None:
    assert not SIGNER.verify(SIGNER.sign("upload", "upl_1", 7), *parts)
