"""The shipped documents and their compiled form, looked at in a small checkout of its own."""

import json
import shutil
import sys
from pathlib import Path

import pytest

import image_workflow_emulator
import image_workflow_emulator.documents.shipped
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.documents.shipped import COMPILED_DOCUMENTS, compile_documents, shipped_document
from tests.support.served import ROOT, run_program, run_script

CONTRACT = "contract/openapi.yaml"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout that holds no more than the package, a contract, and other documents as short."""
    package = Path(str(image_workflow_emulator.__file__)).parent
    shutil.copytree(
        package, tmp_path / "emulator/image_workflow_emulator", ignore=shutil.ignore_patterns("_shipped", "__pycache__")
    )
    (tmp_path / "contract").mkdir()
    for name in COMPILED_DOCUMENTS:
        (tmp_path / name).write_text("openapi: 3.1.0\n")
    (tmp_path / CONTRACT).write_text("openapi: 3.1.0\nsince: 2026-01-01\nswitch: on\ncount: 3\n")
    return tmp_path


def compile_in(checkout: Path) -> list[str]:
    """Compile the documents of a checkout; return the files that the command tells."""
    outcome = run_program(sys.executable, "-m", "image_workflow_emulator.documents", folder=checkout / "emulator")
    assert outcome.status == 0, outcome.complaint
    return outcome.output.split()


def read_contract(checkout: Path) -> tuple[object, bool]:
    """The contract as that checkout reads it, and whether the YAML had to be parsed."""
    script = (
        "import json, sys; from image_workflow_emulator.documents.shipped import shipped_document; "
        f"document = shipped_document({CONTRACT!r}); print(json.dumps([document, 'yaml' in sys.modules]))"
    )
    document, was_parsed = json.loads(run_script(script, checkout / "emulator"))
    return document, was_parsed


CONTENT = {"openapi": "3.1.0", "since": "2026-01-01", "switch": "on", "count": 3}


def test_a_document_is_parsed_unless_its_compiled_form_is_up_to_date(checkout: Path) -> None:
    assert read_contract(checkout) == (CONTENT, True)
    compile_in(checkout)
    assert read_contract(checkout) == (CONTENT, False)
    (checkout / CONTRACT).write_text("openapi: 3.1.1\n")
    assert read_contract(checkout) == ({"openapi": "3.1.1"}, True)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: 1\nb: [{c: 1, c: 2}]\n", 'contract/openapi.yaml:2:12: found "c" a second time; expected each key once'),
        ("a: [", "contract/openapi.yaml:2:1: found text that is not YAML"),
    ],
)
def test_a_document_that_is_not_well_formed_is_not_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, complaint: str
) -> None:
    monkeypatch.setattr(
        image_workflow_emulator.documents.shipped, "shipped_path", lambda name: tmp_path / Path(name).name
    )
    monkeypatch.setattr(image_workflow_emulator.documents.shipped, "_COMPILED", tmp_path / "compiled")
    (tmp_path / Path(CONTRACT).name).write_text(text)
    for read in (compile_documents, lambda: shipped_document(CONTRACT)):
        with pytest.raises(DocumentError) as caught:
            read()
        assert str(caught.value).startswith(complaint)


def test_the_command_tells_what_it_has_compiled() -> None:
    compiled = [json.loads(Path(name).read_bytes()) for name in compile_in(ROOT)]
    assert compiled == [shipped_document(name) for name in COMPILED_DOCUMENTS]
