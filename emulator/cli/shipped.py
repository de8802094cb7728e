"""The commands that need no server: `contract` and `scenarios`. They print what is shipped."""

import sys
from argparse import Namespace
from pathlib import Path

from emulator.cli.errors import CommandError
from emulator.documents import shipped_document, shipped_path
from emulator.documents_yaml import MappingNode, TextNode, read_document


def run(options: Namespace) -> int:
    """Run the command and return its exit status."""
    if options.command == "contract":
        return _print_contract(options.format)
    match options.action:
        case "list":
            return _list_scenarios()
        case "show":
            return _show_scenario(options.name)
        case _:
            return _check_scenarios(options.files)


def _print_contract(form: str) -> int:
    if form == "yaml":
        _write(shipped_path("contract/openapi.yaml").read_bytes())
    else:
        import orjson

        document = shipped_document("contract/openapi.yaml")
        _write(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return 0


def _list_scenarios() -> int:
    paths = _library()
    width = max((len(path.stem) for path in paths), default=0)
    for path in paths:
        print(f"{path.stem:{width}}  {_description(path)}".rstrip())
    return 0


def _show_scenario(name: str) -> int:
    for path in _library():
        if path.stem == name:
            _write(path.read_bytes())
            return 0
    raise CommandError(f"there is no scenario {name!r} in the library; `scenarios list` names all of them")


def _check_scenarios(files: list[str]) -> int:
    raise NotImplementedError(files)


def _library() -> list[Path]:
    return sorted(shipped_path("scenarios").glob("*.yaml"))


def _description(path: Path) -> str:
    document = read_document(path.read_bytes(), path.name)
    if isinstance(document, MappingNode):
        for key, value in document.entries:
            if key.text == "description" and isinstance(value, TextNode):
                return " ".join(value.text.split())
    return ""


def _write(content: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
