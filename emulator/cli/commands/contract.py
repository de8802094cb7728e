"""`contract`: print the machine-readable contract. Needs no running emulator."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from emulator.cli.output import add_format, print_bytes
from emulator.contract import DOCUMENT
from emulator.documents import shipped_document, shipped_path


def add_arguments(parser: ArgumentParser) -> None:
    """Take a format."""
    add_format(parser, "yaml", "json")


def run(options: Namespace, _environment: Mapping[str, str]) -> int:
    """Print it."""
    if options.format == "yaml":
        print_bytes(shipped_path(DOCUMENT).read_bytes())
    else:
        import orjson

        print_bytes(orjson.dumps(shipped_document(DOCUMENT), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return 0
