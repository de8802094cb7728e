"""Signatures."""

import pytest

from image_workflow_emulator.kernel.signing import Signer

SIGNER = Signer(b"key")


@pytest.mark.parametrize(
    "parts",
    [("upload", "upl_2", 7), ("upload", "upl_1", 8), ("file", "upl_1", 7), ("upload", "upl_1"), ("uploadupl_1", 7)],
)
def test_a_signature_is_refused_for_anything_else(parts: tuple[str | int, ...]) -> None:
    assert not SIGNER.verify(SIGNER.sign("upload", "upl_1", 7), *parts)


def test_every_changed_character_makes_a_signature_worthless() -> None:
    signature = SIGNER.sign("file", "ast_1")
    for place, character in enumerate(signature):
        other = "0" if character != "0" else "1"
        assert not SIGNER.verify(signature[:place] + other + signature[place + 1 :], "file", "ast_1")


@pytest.mark.parametrize("signature", ["", "x", "é", "\ud800", "a" * 10_000])
def test_what_is_no_signature_is_refused(signature: str) -> None:
    assert not SIGNER.verify(signature, "file", "ast_1")


def test_another_key_signs_otherwise_with_as_many_digits() -> None:
    signatures = [signer.sign("file", "ast_1") for signer in (SIGNER, Signer(b"other"))]
    assert [32, 32] == [len(bytes.fromhex(signature)) * 2 for signature in signatures]
    assert signatures[0] != signatures[1]
