"""The files that the emulator ships beside its code, found and read at low cost.

Owns where `contract/` and `scenarios/` lie, in a checkout and in an installed wheel, and the compiled form of the YAML
documents that are read at start-up: parsing the contract's YAML takes longer than everything else together, so
`python -m emulator.documents` keeps each as JSON in `emulator/_shipped/compiled/`, headed by the digest of the YAML it
was made from. A compiled document whose digest does not match is passed over: the YAML is always the truth, and without
the compiled form a start takes half as many instructions again, and nothing else changes.

Must not know what the documents mean.
"""

import hashlib
from pathlib import Path
from typing import Any, Final

import orjson

_PACKAGE: Final = Path(__file__).parents[1]
_SHIPPED: Final = _PACKAGE / "_shipped"
_COMPILED: Final = _SHIPPED / "compiled"

COMPILED_DOCUMENTS: Final = ("contract/openapi.yaml", "contract/control-plane.yaml")
"""The documents that are read while the emulator runs, by their path from the root of a checkout."""


def shipped_path(name: str) -> Path:
    """The place of a shipped file or folder, named by its path from the root of a checkout. It need not exist."""
    root = _SHIPPED if (_SHIPPED / "contract").is_dir() else _PACKAGE.parent
    return root / name


def shipped_document(name: str) -> Any:
    """The parsed content of a shipped YAML or JSON document, such as `contract/openapi.yaml`.

    Each call reads the document again and gives the caller an object of its own. Raises FileNotFoundError if there is no
    such document, DocumentError if it is not well-formed.
    """
    source = shipped_path(name).read_bytes()
    if name.endswith(".json"):
        return orjson.loads(source)
    compiled = _read_compiled(_compiled_path(name), _digest(source))
    return _parse_yaml(source, name) if compiled is None else orjson.loads(compiled)


def compile_documents() -> list[Path]:
    """Write the compiled form of the documents and return where each lies.

    Raises DocumentError if one of them is not well-formed.
    """
    paths = []
    for name in COMPILED_DOCUMENTS:
        source = shipped_path(name).read_bytes()
        path = _compiled_path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_bytes(_digest(source) + b"\n" + orjson.dumps(_parse_yaml(source, name)))
        partial.replace(path)
        paths.append(path)
    return paths


def _compiled_path(name: str) -> Path:
    return _COMPILED / (name.replace("/", ".") + ".json")


def _digest(source: bytes) -> bytes:
    return hashlib.sha256(source).hexdigest().encode()


def _read_compiled(path: Path, digest: bytes) -> bytes | None:
    """The JSON of a compiled document, or None if there is none made from the source with this digest."""
    try:
        found, _, content = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    return content if found == digest else None


def _parse_yaml(source: bytes, name: str) -> Any:
    from emulator.documents.yaml_reader import read_document

    return read_document(source, name).data
