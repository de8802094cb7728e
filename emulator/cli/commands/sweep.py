"""`sweep`: run a command again with each fault at each of its calls, and show what it survives."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from emulator.cli.arguments import ENVIRONMENT, PROGRAM, add_options, add_settings
from emulator.cli.output import add_format

_EPILOG = f"""\
A cell is OPERATION#N:FAULT, such as createProduct#2:lost-after-commit; with OPERATION#N+ the fault lasts. A run survives a fault if
the command still succeeds, and is hung if it does not end in time. Exit status: 1 if a run hung or did damage, or failed where
--strict forbids it; 2 if the clean run fails; else 0. {ENVIRONMENT}"""

_OPTIONS = {
    "--jobs N": "how many runs at once (default: the number of processors)",
    "--only GLOB": "run every cell that fits, such as 'createProduct#*'",
    "--test NODEID": "where the command is pytest: run this one test of it",
    "--faults KINDS": "recoverable, problems, network, outputs, readings or all, with commas between them (default: recoverable, with each fault that no client can mend tried once)",
    "--timeout SECONDS": "how long a run may take; one that takes longer twice is hung (default: 3 times as long as the longest run so far, at least 10, and twice that at the second attempt)",
    "--pairs": "where a write survived, also strike what the client sent because of the fault",
    "--budget SPAN": "how long all runs may take, such as 10m (default: 60s at a terminal)",
    "--report FILE": "write the result as JSON, or as a page to FILE.html",
    "--resume FILE": "write the runs there as they end, and do not repeat those in it",
    "--ignore RULE ...": "leave out a rule of conduct (repeatable)",
    "--junit FILE": "write the runs as JUnit XML",
    "--expected FILE": "outcomes that are accepted (default: sweep.expected.yaml)",
}
_STRICT = "exit with 1 also if a run failed that a client can recover from, or any run (alone: all; default: recoverable where CI is set, else off)"


def add_arguments(parser: ArgumentParser) -> None:
    """Take the options of a running emulator and of the sweep, and then the command."""
    parser.usage = f"{PROGRAM} sweep [OPTIONS] -- COMMAND [ARGUMENT ...]"
    parser.epilog = _EPILOG
    add_options(parser, _OPTIONS)
    parser.add_argument("--strict", nargs="?", choices=("recoverable", "all", "off"), const="all", help=_STRICT)
    add_format(parser, "text", "json")
    add_settings(parser, {"port": "a free one", "access_log": "off", "clock": "auto"})


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Sweep. Raises as `emulator.cli.sweep.sweeping.sweep` does."""
    from emulator.cli.sweep.sweeping import sweep

    return sweep(options, environment)
