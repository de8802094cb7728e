"""The commands that run an emulator of their own: `serve`, `exec` and `sweep`. What they do is imported when they run."""

import gc
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Mapping

from emulator.cli.arguments import PROGRAM, add_arguments
from emulator.cli.output import add_format
from emulator.settings import OPTIONS, read_settings

_ENVIRONMENT = "Each option can be given as an environment variable too: --rate-limits is EMULATOR_RATE_LIMITS."


def _add_settings(parser: ArgumentParser, **defaults: str) -> None:
    """Give a command the options of a running emulator, each as text under the name of its field in Settings.

    `defaults` words those that this command has instead of the usual ones.
    """
    for option in OPTIONS:
        help_text = f"{option.description} (default: {defaults.get(option.field, option.default)})"
        action = "append" if option.repeated else "store"
        parser.add_argument(
            option.flag, dest=option.field, metavar=option.kind.placeholder, help=help_text, action=action
        )


# serve ----------------------------------------------------------------------------------------------------------------


def serve(parser: ArgumentParser) -> None:
    """Run the emulator until interrupted."""
    parser.epilog = _ENVIRONMENT
    _add_settings(parser)
    parser.set_defaults(run=_serve)


def _serve(options: Namespace, environment: Mapping[str, str]) -> None:
    gc.disable()  # until ready: there is nothing to collect in what is only being imported
    from emulator.cli.serving import serve

    serve(read_settings(vars(options), environment), environment)


# exec -----------------------------------------------------------------------------------------------------------------

_EXEC_OPTIONS = {
    "--report FILE": "write the report about the run as JSON too",
    "--journal FILE": "write all requests of the run as JSON, or as HAR to FILE.har",
    "--save-state FILE": "save the default sandbox at the end of the run, or as a session for the page to FILE.json",
    "--junit FILE": "write the conduct as JUnit XML",
    "--coverage FILE": "write how much of the contract was covered, as JSON, or as a page to FILE.html",
    "--quiet": "do not print the report",
}


def execute(parser: ArgumentParser) -> None:
    """Run a command with an emulator of its own, and exit with its status."""
    from emulator.examiner.rules.registry import RULES

    parser.usage = f"{PROGRAM} exec [OPTIONS] -- COMMAND [ARGUMENT ...]"
    parser.epilog = f"""\
The command finds IMAGE_WORKFLOW_BASE_URL, IMAGE_WORKFLOW_API_KEY and EMULATOR_URL in its environment. When it has ended,
a report about the run is printed to standard error; with --format json, standard output is one object about the run, and
what the command prints goes to standard error. {_ENVIRONMENT}"""
    add_arguments(parser, _EXEC_OPTIONS)
    conduct = "report mistakes of the client; `fail`: exit with status 1 if one is an error (default: report)"
    parser.add_argument("--conduct", choices=("off", "report", "fail"), default="report", help=conduct)
    ignore, rules = "ignore a rule of conduct; can be repeated", [rule.name for rule in RULES]
    parser.add_argument("--ignore", metavar="RULE", action="append", default=[], choices=rules, help=ignore)
    parser.add_argument("--cell", help=SUPPRESS)  # this is one run of a sweep
    less = "exit with 1 if a smaller percentage of it was covered"
    parser.add_argument("--coverage-fail-under", metavar="N", type=float, help=less)
    add_format(parser, "text", "json")
    _add_settings(parser, port="a free one", access_log="off")
    parser.set_defaults(run=_execute)


def _execute(options: Namespace, environment: Mapping[str, str]) -> int:
    gc.disable()
    from emulator.cli.execution import execute

    return execute(options, environment)


# sweep ----------------------------------------------------------------------------------------------------------------

_SWEEP_OPTIONS = {
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


def sweep(parser: ArgumentParser) -> None:
    """Run a command again with each fault at each of its calls, and show what it survives."""
    parser.usage = f"{PROGRAM} sweep [OPTIONS] -- COMMAND [ARGUMENT ...]"
    parser.epilog = f"""\
A cell is OPERATION#N:FAULT, such as createProduct#2:lost-after-commit; with OPERATION#N+ the fault lasts. A run survives a fault if
the command still succeeds, and is hung if it does not end in time. Exit status: 1 if a run hung or did damage, or failed where
--strict forbids it; 2 if the clean run fails; else 0. {_ENVIRONMENT}"""
    add_arguments(parser, _SWEEP_OPTIONS)
    strict = "exit with 1 also if a run failed that a client can recover from, or any run (alone: all; default: recoverable where CI is set, else off)"
    parser.add_argument("--strict", nargs="?", choices=("recoverable", "all", "off"), const="all", help=strict)
    add_format(parser, "text", "json")
    _add_settings(parser, port="a free one", access_log="off", clock="auto")
    parser.set_defaults(run=_sweep)


def _sweep(options: Namespace, environment: Mapping[str, str]) -> int:
    from emulator.cli.sweep.sweeping import sweep

    return sweep(options, environment)
