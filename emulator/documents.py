"""The files that the emulator ships beside its code, found and read at low cost.

Owns where `contract/`, `scenarios/` and the default world lie, in a checkout and in an installed wheel, and the compiled
form of the YAML documents: parsing the contract's YAML takes longer than everything else at start-up together, so
`python -m emulator.documents` keeps each document as JSON in `emulator/_shipped/compiled/`, headed by the digest of the
YAML it was made from. A compiled document whose digest does not match is passed over: the YAML is always the truth, and
without the compiled form start-up is slower and nothing else.

Must not know what the documents mean.
"""

import hashlib
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, Final

import orjson

_PACKAGE: Final = Path(__file__).parent
_SHIPPED: Final = _PACKAGE / "_shipped"
_COMPILED: Final = _SHIPPED / "compiled"

COMPILED_DOCUMENTS: Final = ("contract/openapi.yaml", "contract/decisions.yaml", "emulator/service/world.yaml")
"""The documents read while the emulator runs, by their path from the root of a checkout."""


_JSON_SCALARS: Final = (
    ("null", r"null|~|", ["n", "~", ""]),
    ("bool", r"true|false", ["t", "f"]),
    ("int", r"-?(?:0|[1-9]\d*)", list("-0123456789")),
    ("float", r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", list("-0123456789")),
)
"""Tag, pattern and possible first characters of the plain scalars that are not text."""


def shipped_path(*parts: str) -> Path:
    """The place of a shipped file or folder, named by its path from the root of a checkout.

    `shipped_path("contract", "openapi.yaml")` and `shipped_path("contract/openapi.yaml")` are the same. The path need
    not exist.
    """
    name = Path(*parts)
    if name.parts[0] == _PACKAGE.name:
        return _PACKAGE.joinpath(*name.parts[1:])
    root = _SHIPPED if (_SHIPPED / "contract").is_dir() else _PACKAGE.parent
    return root / name


def shipped_document(name: str) -> Any:
    """The parsed content of a shipped YAML document, such as `contract/openapi.yaml`.

    Each call reads the document anew and gives the caller an object of its own. Raises FileNotFoundError if there is no
    such document, ValueError if it is not well-formed.
    """
    source = shipped_path(name).read_bytes()
    compiled = _read_compiled(_compiled_path(name), _digest(source))
    return _parse_yaml(source, name) if compiled is None else orjson.loads(compiled)


def compile_documents(names: Iterable[str] = COMPILED_DOCUMENTS) -> list[Path]:
    """Write the compiled form of the documents and return where each lies. Documents that do not exist are left out.

    Raises ValueError if one of them is not well-formed.
    """
    paths = []
    for name in names:
        if shipped_path(name).exists():
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
    """Parse YAML, taking only for a number, boolean or null what JSON would; dates and `on` are text.

    Raises ValueError if it is not well-formed or a key comes twice in one mapping.
    """
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class JsonLoader(base):  # type: ignore[misc]
        """Knows the types of JSON and no others."""

        yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            mapping = super().construct_mapping(node, deep)
            place = f"{name}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"
            if len(mapping) != len(node.value):
                raise ValueError(f"{place}: a key comes twice in this mapping")
            if not all(isinstance(key, str) for key in mapping):
                raise ValueError(f"{place}: a key of this mapping is not text; put it in quotes")
            return mapping

    for tag, pattern, first in _JSON_SCALARS:
        JsonLoader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{pattern})\\Z", re.ASCII), first)
    try:
        return yaml.load(source, JsonLoader)  # noqa: S506 (its base is a safe loader)
    except yaml.YAMLError as error:
        raise ValueError(f"{name}: {error}") from error


def main() -> int:
    """Compile the shipped documents: `python -m emulator.documents`."""
    for path in compile_documents():
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
