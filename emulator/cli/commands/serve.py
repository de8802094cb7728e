"""`serve`: run the emulator until interrupted."""

import gc
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from emulator.cli.arguments import ENVIRONMENT, add_settings
from emulator.settings import read_settings


def add_arguments(parser: ArgumentParser) -> None:
    """Take the options of a running emulator."""
    parser.epilog = ENVIRONMENT
    add_settings(parser)


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Serve. Raises as `emulator.cli.serving.serve` does."""
    gc.disable()  # until ready: there is nothing to collect in what is only being imported
    from emulator.cli.serving import serve

    return serve(read_settings(vars(options), environment), environment)
