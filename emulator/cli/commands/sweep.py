"""`sweep`: run a command again with each fault at each of its calls, and show what it survives."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from emulator.cli.arguments import ENVIRONMENT, PROGRAM, add_settings
from emulator.cli.output import add_format

_EPILOG = f"""\
A cell is OPERATION#N:FAULT, such as createProduct#2:lost-after-commit; with OPERATION#N+ the fault lasts. A run survives a fault if
the command still succeeds, and is hung if it does not end in time. Exit status: 1 if a run hung or did damage, or failed where
--strict forbids it; 2 if the clean run fails; else 0. {ENVIRONMENT}"""


def add_arguments(parser: ArgumentParser) -> None:
    """Take the options of a running emulator and of the sweep, and then the command."""
    parser.usage = f"{PROGRAM} sweep [OPTIONS] -- COMMAND [ARGUMENT ...]"
    parser.epilog = _EPILOG
    parser.add_argument("--jobs", metavar="N", help="how many runs at once (default: the number of processors)")
    parser.add_argument("--only", metavar="GLOB", help="run every cell that fits, such as 'createProduct#*'")
    parser.add_argument("--test", metavar="NODEID", help="where the command is pytest: run this one test of it")
    parser.add_argument(
        "--faults",
        metavar="KINDS",
        help="recoverable, problems, network, outputs, readings or all, with commas between them (default: recoverable, with each fault that no client can mend tried once)",
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        help="how long a run may take; one that takes longer twice is hung (default: 3 times as long as the longest run so far, at least 10, and twice that at the second attempt)",
    )
    parser.add_argument(
        "--pairs",
        action="store_true",
        help="where a write survived, also strike what the client sent because of the fault",
    )
    parser.add_argument(
        "--budget", metavar="SPAN", help="how long all runs may take, such as 10m (default: 60s at a terminal)"
    )
    parser.add_argument("--report", metavar="FILE", help="write the result as JSON, or as a page to FILE.html")
    parser.add_argument(
        "--resume", metavar="FILE", help="write the runs there as they end, and do not repeat those in it"
    )
    parser.add_argument(
        "--ignore", metavar="RULE", action="append", default=[], help="leave out a rule of conduct (repeatable)"
    )
    parser.add_argument("--junit", metavar="FILE", help="write the runs as JUnit XML")
    parser.add_argument("--expected", metavar="FILE", help="outcomes that are accepted (default: sweep.expected.yaml)")
    parser.add_argument(
        "--strict",
        nargs="?",
        choices=("recoverable", "all", "off"),
        const="all",
        help="exit with 1 also if a run failed that a client can recover from, or any run (alone: all; default: recoverable where CI is set, else off)",
    )
    add_format(parser, "text", "json")
    add_settings(parser, {"port": "a free one", "access_log": "off", "clock": "auto"})


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Sweep. Raises as `emulator.cli.sweep.sweeping.sweep` does."""
    from emulator.cli.sweep.sweeping import sweep

    return sweep(options, environment)
