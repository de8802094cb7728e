"""The files that the emulator ships beside its code, found and read at low cost.

Owns where `contract/` and `scenarios/` lie, in a checkout and in an installed wheel,
and the compiled form of the YAML documents that are read at start-up: parsing the
contract's YAML takes longer than everything else together, so `python -m
image_workflow_emulator.documents` keeps each as JSON in the package's folder
`_shipped/compiled/`, named by the digest of the YAML it was made from. So the YAML is
always the truth. Without the compiled form a start takes half as many instructions
again, and nothing else changes.

Must not know what the documents mean.
"""

import hashlib
from pathlib import Path
from typing import Any, Final

import msgspec
import orjson

_PACKAGE: Final = Path(__file__).parents[1]
_SHIPPED: Final = _PACKAGE / "_shipped"
_COMPILED: Final = _SHIPPED / "compiled"

COMPILED_DOCUMENTS: Final = (
    "contract/openapi.yaml",
    "contract/control-plane.yaml",
    "contract/world.yaml",
)
"""The documents that are read while the emulator runs, by their path from the root of a
checkout."""


def shipped_path(name: str) -> Path:
    """The place of a shipped file or folder, named by its path from the root of a
    checkout. It need not exist.
    """
    root = _SHIPPED
    if not (_SHIPPED / "contract").is_dir():
        root = _PACKAGE.parents[1]
    return root / name


def shipped_document(name: str) -> Any:
    """The parsed content of a shipped YAML or JSON document, such as
    `contract/openapi.yaml`.

    Each call reads the document again and gives the caller an object of its own. Raises
    FileNotFoundError if there is no such document, DocumentError if it is not
    well-formed.
    """
    source = shipped_path(name).read_bytes()
    if name.endswith(".json"):
        return orjson.loads(source)
    try:
        compiled = _compiled_path(name, source).read_bytes()
    except OSError:  # nothing was made from this source
        return _parse_yaml(source, name)
    return orjson.loads(compiled)


def compile_documents() -> list[Path]:
    """Write the compiled form of the documents and return where each lies.

    Raises DocumentError if one of them is not well-formed.
    """
    paths = []
    for name in COMPILED_DOCUMENTS:
        source = shipped_path(name).read_bytes()
        compiled = msgspec.json.encode(_parse_yaml(source, name))
        path = _compiled_path(name, source)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_bytes(compiled)
        partial.replace(path)
        paths.append(path)
    for file in _COMPILED.glob("*.json"):
        if file not in paths:
            file.unlink(missing_ok=True)
    return paths


def _compiled_path(name: str, source: bytes) -> Path:
    digest = hashlib.sha256(source).hexdigest()
    return _COMPILED / f"{name.replace('/', '.')}.{digest}.json"


def _parse_yaml(source: bytes, name: str) -> Any:
    from image_workflow_emulator.documents.document import read_document

    return read_document(source, name).data
