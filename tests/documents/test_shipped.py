"""The shipped documents and their compiled form."""

import json
import sys
from pathlib import Path

import pytest

from image_workflow_emulator.documents import shipped
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.documents.shipped import COMPILED_DOCUMENTS, compile_documents, shipped_document
from tests.support.served import run_program

CONTRACT = "contract/openapi.yaml"


@pytest.fixture
def contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in place of the contract and of all other documents that are compiled."""
    monkeypatch.setattr(shipped, "shipped_path", lambda name: tmp_path / "contract.yaml")
    monkeypatch.setattr(shipped, "_COMPILED", tmp_path / "compiled")
    return tmp_path / "contract.yaml"


def test_a_document_is_parsed_unless_it_is_compiled(contract: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contract.write_text("openapi: 3.1.0\nsince: 2026-01-01\nswitch: on\ncount: 3\n")
    content = {"openapi": "3.1.0", "since": "2026-01-01", "switch": "on", "count": 3}
    assert shipped_document(CONTRACT) == content
    compile_documents()
    with monkeypatch.context() as without_parser:
        without_parser.delattr(shipped, "_parse_yaml")
        assert shipped_document(CONTRACT) == content
    contract.write_text("openapi: 3.1.1\n")
    assert shipped_document(CONTRACT) == {"openapi": "3.1.1"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: 1\nb: [{c: 1, c: 2}]\n", 'contract/openapi.yaml:2:12: found "c" a second time; expected each key once'),
        ("a: [", "contract/openapi.yaml:2:1: found text that is not YAML"),
    ],
)
def test_a_document_that_is_not_well_formed_is_not_compiled(contract: Path, text: str, complaint: str) -> None:
    contract.write_text(text)
    for read in (compile_documents, lambda: shipped_document(CONTRACT)):
        with pytest.raises(DocumentError) as caught:
            read()
        assert str(caught.value).startswith(complaint)


def test_the_command_tells_what_it_has_compiled() -> None:
    files = run_program(sys.executable, "-m", "image_workflow_emulator.documents").output.split()
    compiled = [json.loads(Path(name).read_bytes()) for name in files]
    assert compiled == [shipped_document(name) for name in COMPILED_DOCUMENTS]
