"""Signatures."""

import pytest

from image_workflow_emulator.kernel.seed import Signer

SIGNER = Signer(b"key")


@pytest.mark.parametrize(
    "parts",
    [("upload", "upl_2", 7), ("upload", "upl_1", 8), ("file", "upl_1", 7), ("upload", "upl_1"), ("uploadupl_1", 7)],
)
def test_a_signature_is_refused_for_anything_else(parts: tuple[str | int, ...]) -> None:
    assert not SIGNER.verify(SIGNER.sign("upload", "upl_1", 7), *parts)
