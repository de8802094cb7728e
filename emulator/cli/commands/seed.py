"""`seed`: make what a file lists in a sandbox of a running emulator, before clients come."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from emulator.cli.output import add_format, show
from emulator.cli.running_emulator import add_emulator_options, control_client
from emulator.testing.given import Given

_EPILOG = "FILE: given: [{product: {name: Linen shirt, photos: 2}}, {photoshoot: {products: [Linen shirt]}}]"


def add_arguments(parser: ArgumentParser) -> None:
    """Take a file, and the Team that gets what it lists."""
    parser.epilog = _EPILOG
    parser.add_argument("file", metavar="FILE", help="what to make, as YAML or JSON")
    parser.add_argument("--team", metavar="TEAM", help="whose it will be, by name or id (default: the first Team)")
    add_format(parser, "table", "json")
    add_emulator_options(parser)


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Make it, and list what was made. Raises UnusableFileError and EmulatorError."""
    made = Given(control_client(options, environment)).file(options.file, team=options.team)
    rows = [(one["object"].replace("_", " "), one["id"], one.get("name") or one.get("status")) for one in made]
    show(options, environment, {"data": made}, ("KIND", "ID", "NAME"), rows)
    return 0
