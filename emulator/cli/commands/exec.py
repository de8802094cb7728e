"""`exec`: run a command with an emulator of its own, and exit with its status."""

import gc
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Mapping

from emulator.cli.arguments import ENVIRONMENT, PROGRAM, add_options, add_settings
from emulator.cli.output import add_format
from emulator.examiner.rules.registry import RULES

_EPILOG = f"""\
The command finds IMAGE_WORKFLOW_BASE_URL, IMAGE_WORKFLOW_API_KEY and EMULATOR_URL in its environment. When it has ended,
a report about the run is printed to standard error; with --format json, standard output is one object about the run, and
what the command prints goes to standard error. {ENVIRONMENT}"""

_OPTIONS = {
    "--report FILE": "write the report about the run as JSON too",
    "--journal FILE": "write all requests of the run as JSON, or as HAR to FILE.har",
    "--save-state FILE": "save the default sandbox at the end of the run, or as a session for the page to FILE.json",
    "--junit FILE": "write the conduct as JUnit XML",
    "--coverage FILE": "write how much of the contract was covered, as JSON, or as a page to FILE.html",
    "--quiet": "do not print the report",
}


def add_arguments(parser: ArgumentParser) -> None:
    """Take the options of a running emulator and of the report, and then the command."""
    parser.usage = f"{PROGRAM} exec [OPTIONS] -- COMMAND [ARGUMENT ...]"
    parser.epilog = _EPILOG
    add_options(parser, _OPTIONS)
    parser.add_argument(
        "--conduct",
        choices=("off", "report", "fail"),
        default="report",
        help="report mistakes of the client; `fail`: exit with status 1 if one is an error (default: report)",
    )
    rules = [rule.name for rule in RULES]
    help_text = "ignore a rule of conduct; can be repeated"
    parser.add_argument("--ignore", metavar="RULE", action="append", default=[], choices=rules, help=help_text)
    parser.add_argument("--cell", help=SUPPRESS)  # this is one run of a sweep
    less = "exit with 1 if a smaller percentage of it was covered"
    parser.add_argument("--coverage-fail-under", metavar="N", type=float, help=less)
    add_format(parser, "text", "json")
    add_settings(parser, {"port": "a free one", "access_log": "off"})


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Run the command. Raises as `emulator.cli.execution.execute` does."""
    gc.disable()
    from emulator.cli.execution import execute

    return execute(options, environment)
