"""What follows from a seed is the same everywhere and for ever: draws, identifiers (D09)
and signatures.
"""

import pytest

from image_workflow_emulator.kernel.seed import (
    Identifiers,
    Seed,
    Signer,
    without_signature,
)

KINDS = ("ast", "prd", "op", "gen", "req", "team")
KEY = b"key"
SIGNATURE = "bc8a3acfb1c1f747d1bbf044ac7a0bf9"
"""What the key gives for the parts `upload`, `upl_1` and 7."""


def test_a_digest_follows_from_the_seed_and_the_names() -> None:
    expected = "4ea73a75b0c635db2b7e419cc28cc6a573ec09dad94328bb794e7e1dd3121baf"

    assert Seed(7).digest("generation", 1).hex() == expected


def test_a_number_follows_from_the_seed_and_the_names() -> None:
    assert Seed(7).number("generation", 1) == 1_780_107_700


def test_an_identifier_is_its_kinds_prefix_and_26_hexadecimal_digits() -> None:
    prefix, _, digits = Identifiers(0).next("prd").partition("_")

    assert prefix == "prd"
    assert len(digits) == 26
    assert set(digits) <= set("0123456789abcdef")


def test_a_long_identifier_has_32_digits_after_its_count() -> None:
    identifiers = Identifiers(7, is_long=True)

    assert identifiers.next("prd") == "prd_00000000010e4e8967faa6415f0e4e8967faa6415f"


def test_identifiers_follow_from_the_seed_across_the_digests_that_they_share() -> None:
    identifiers = Identifiers(7)

    ids = [identifiers.next("prd") for _ in range(9)]

    assert ids[0] == "prd_00000000010e4e8967faa6415f"
    assert ids[6] == "prd_00000000070f412e1b53115414"
    assert ids[7] == "prd_0000000008d54d21bd2397c4d2"
    assert ids[8] == "prd_0000000009344be7fd0af96850"


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

    ids_alone = [alone.next("ast") for _ in range(3)]
    ids_beside = [beside.next("ast") for _ in range(3)]
    assert ids_beside == ids_alone


def test_two_kinds_share_nothing_behind_their_prefixes() -> None:
    identifiers = Identifiers(0)

    ids = [identifiers.next(kind) for kind in KINDS]

    digits = {identifier.partition("_")[2] for identifier in ids}
    assert len(digits) == len(KINDS)


def test_another_seed_gives_other_identifiers() -> None:
    first = Identifiers(1)
    second = Identifiers(2)

    assert first.next("ast") != second.next("ast")


def test_the_first_and_the_last_identifier_of_a_kind_have_a_place() -> None:
    identifiers = Identifiers(7)
    ids = [identifiers.next("prd") for _ in range(3)]

    places = [identifiers.place_of(identifier) for identifier in ids]

    assert places == [1, 2, 3]


@pytest.mark.parametrize(("prefix", "count"), [("prd", 1), ("ast", 9), ("gen", 2_000)])
def test_an_identifier_that_was_given_has_its_place(prefix: str, count: int) -> None:
    identifiers = Identifiers(7)
    last = ""
    for _ in range(count):
        last = identifiers.next(prefix)

    assert identifiers.place_of(last) == count


@pytest.mark.parametrize(
    "identifier",
    [
        "prd_000000000256111d1d9fdb75f8",  # the next that will be given
        "ast_00000000010e4e8967faa6415f",  # of a kind of which there is none
        "prd_00000000010e4e8967faa64150",  # not these digits
        "prd_00000000000e4e8967faa6415f",  # counted from 0
        "prd_00000000010e4e8967faa6415f0",  # too long
        "prd_0x000000010e4e8967faa6415f",  # a sign that Python takes
        "prd_",
        "prd",
    ],
)
def test_an_identifier_that_was_not_given_has_no_place(identifier: str) -> None:
    identifiers = Identifiers(7)
    identifiers.next("prd")

    assert identifiers.place_of(identifier) is None


def test_an_identifier_of_a_kind_that_was_never_given_has_no_place() -> None:
    other_identifiers = Identifiers(7)
    identifier = other_identifiers.next("prd")

    identifiers = Identifiers(7)

    assert identifiers.place_of(identifier) is None


def test_a_signature_follows_from_the_key_and_the_parts() -> None:
    assert Signer(KEY).sign("upload", "upl_1", 7) == SIGNATURE


def test_a_signature_is_accepted_for_what_was_signed() -> None:
    assert Signer(KEY).verify(SIGNATURE, "upload", "upl_1", 7)


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
    assert not Signer(KEY).verify(SIGNATURE, *parts)


def test_a_signature_of_another_key_is_refused() -> None:
    assert not Signer(b"other").verify(SIGNATURE, "upload", "upl_1", 7)


def test_half_of_a_surrogate_pair_can_be_signed_and_is_no_signature() -> None:
    signature = Signer(KEY).sign("\ud800")

    assert Signer(KEY).verify(signature, "\ud800")
    assert not Signer(KEY).verify("\ud800", "upload")


@pytest.mark.parametrize(
    ("expected", "path"),
    [
        ("/files/ast_1-….png", f"/files/ast_1-{SIGNATURE}.png"),
        ("/direct-uploads/…", f"/direct-uploads/{SIGNATURE}"),
        (f"/files/{SIGNATURE}/more", f"/files/{SIGNATURE}/more"),
        ("/v1/team", "/v1/team"),
    ],
)
def test_a_link_is_told_without_its_signature(expected: str, path: str) -> None:
    assert without_signature(path) == expected
