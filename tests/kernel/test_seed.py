"""What follows from the seed: identifiers (D09) and signatures."""

import pytest

from image_workflow_emulator.kernel.seed import Identifiers, Signer

KINDS = ("ast", "prd", "op", "gen", "req", "team")


def test_an_identifier_is_its_kinds_prefix_and_26_hexadecimal_digits() -> None:
    prefix, _, digits = Identifiers(0).next("prd").partition("_")

    assert prefix == "prd"
    assert len(digits) == 26
    assert set(digits) <= set("0123456789abcdef")


def test_a_long_identifier_has_42_digits() -> None:
    _, _, digits = Identifiers(0, is_long=True).next("prd").partition("_")

    assert len(digits) == 42


@pytest.mark.parametrize("carry", [0, 16, 256, 32**4 - 1, 32**4, 32**7])
def test_identifiers_of_a_kind_increase_across_the_carries_of_their_counter(
    carry: int,
) -> None:
    identifiers = Identifiers(0, {"ast": max(carry - 10, 0)})

    in_order = [identifiers.next("ast") for _ in range(20)]

    assert in_order == sorted(set(in_order))


def test_one_more_of_one_kind_changes_no_identifier_of_another() -> None:
    alone = Identifiers(7)
    beside = Identifiers(7)
    for kind in KINDS[1:]:
        beside.next(kind)

    assert [alone.next("ast") for _ in range(3)] == [
        beside.next("ast") for _ in range(3)
    ]


def test_two_kinds_share_nothing_behind_their_prefixes() -> None:
    identifiers = Identifiers(0)

    digits = {identifiers.next(kind).partition("_")[2] for kind in KINDS}

    assert len(digits) == len(KINDS)


def test_another_seed_gives_other_identifiers() -> None:
    assert Identifiers(1).next("ast") != Identifiers(2).next("ast")


def test_an_identifier_has_its_place_in_the_order_of_creation() -> None:
    identifiers = Identifiers(0)
    given = [identifiers.next("ast") for _ in range(3)]

    assert [identifiers.place_of(identifier) for identifier in given] == [1, 2, 3]


@pytest.mark.parametrize(
    "identifier",
    ["ast_" + 26 * "0", Identifiers(1).next("ast"), "ast_x", "ast", "", "prd_1"],
)
def test_an_identifier_that_was_not_given_has_no_place(identifier: str) -> None:
    identifiers = Identifiers(0)
    identifiers.next("ast")

    assert identifiers.place_of(identifier) is None


SIGNER = Signer(b"key")


def test_a_signature_is_accepted_for_its_parts() -> None:
    signature = SIGNER.sign("upload", "upl_1", 7)

    assert SIGNER.verify(signature, "upload", "upl_1", 7)


@pytest.mark.parametrize(
    "parts",
    [
        ("upload", "upl_2", 7),
        ("upload", "upl_1", 8),
        ("file", "upl_1", 7),
        ("upload", "upl_1"),
        ("uploadupl_1", 7),
    ],
)
def test_a_signature_is_refused_for_anything_else(parts: tuple[str | int, ...]) -> None:
    signature = SIGNER.sign("upload", "upl_1", 7)

    assert not SIGNER.verify(signature, *parts)


def test_a_signature_of_another_signer_is_refused() -> None:
    signature = Signer(b"other").sign("upload", "upl_1", 7)

    assert not SIGNER.verify(signature, "upload", "upl_1", 7)
