"""`schema`: print the JSON Schema of a kind of file, for editors. Needs no running emulator."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from emulator.cli.output import print_bytes
from emulator.documents import shipped_path

KINDS = ("scenario", "world")


def add_arguments(parser: ArgumentParser) -> None:
    """Take the kind of file."""
    parser.add_argument("kind", metavar="|".join(KINDS), choices=KINDS)


def run(options: Namespace, _environment: Mapping[str, str]) -> int:
    """Print it."""
    print_bytes(shipped_path(f"contract/{options.kind}.schema.json").read_bytes())
    return 0
