"""The table of commands: what each does, what it takes, and what runs it. Imports nothing, so that `--help`
is quick.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

Arguments: TypeAlias = Mapping[str, str | Mapping[str, Any]]
"""By how they are typed, each with its help, or with what argparse takes.

`--report FILE` takes a value, `--ignore RULE ...` can be repeated, `--conduct off|report` takes one of these words, and
`--quiet` is a switch. `--timeout SECONDS =30` has a default, which its help ends with; a `PERCENT` is a number. `key
KEY` is the argument `key`; of `files FILE ...` there are one or more, and `id ID ?` can be left out.
"""
_NONE: Final[Arguments] = {}


class Command(NamedTuple):
    """A command, or a verb of one. Its arguments stand in its help in the order of these fields."""

    summary: str
    arguments: Arguments = _NONE
    home: str = ""
    """The function that runs it, such as `cli.execution.run`; or its module, where the function has the name of the
    command, such as `requests_list`; or the request to a running emulator that is all it does, such as `PATCH
    credentials/{id} state=revoked`. A verb has that of its command unless it says otherwise.

    The function gets the options and the environment; that of a command that takes `REPORT` returns a Report.
    """
    asks: Literal["emulator", "sandbox", "nothing"] | None = None
    """What it speaks to: it takes the options that name it. A verb asks what its command asks, unless it says
    otherwise."""
    verb: str | None = None
    """The default verb."""
    settings: Mapping[str, str] | None = None
    """It takes the options of `serve`, of which these have another default, in words; where it asks an emulator, only
    these."""
    epilog: str | None = None

    @property
    def needs_more(self) -> bool:
        """Whether it cannot run without further words."""
        return any(
            spelling[0] != "-" and spelling[-1] not in "?*"
            for spelling in self.arguments
        )


_WATCH: Final = (
    "requests",
    "scenario",
    "clock",
    "teams",
    "credentials",
    "given",
    "sandboxes",
    "state",
    "reset",
)
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "Run": ("serve", "exec", "wait"),
    "Watch and change": _WATCH,
    "Judge": ("sweep", "conduct", "coverage", "drift"),
    "Contract": ("contract",),
}
"""The commands as the help groups them."""

WITH_COMMAND: Final = ("exec", "sweep")
"""The commands that run another command, which comes after `--`."""
OF_SANDBOX: Final = (
    "clock",
    "seed",
    "start",
    "world",
    "scenario",
    "rate_limits",
    "evolution",
    "readings",
)
"""The options of `serve` that a sandbox has for itself."""
SPAN: Final = "a span such as 90s, 250ms, 2m or 1h"

REPORT: Final[Arguments] = {
    "--format text|json =text": "form of the report",
    "--all": "with --format json: print a report of more than 16 KiB whole",
    "--report FILE ...": "write the report to FILE.json, FILE.xml (JUnit) or FILE.html; can be repeated",
}
"""What every command takes that makes a Report."""
IGNORE: Final[Arguments] = {
    "--ignore RULE ...": "leave out what this rule finds; can be repeated"
}
"""What every command takes whose findings have rules (those of drift are decisions)."""


def _form(words: str) -> Arguments:
    """Return the option that chooses the form of the output; the first word is the default."""
    return {f"--format {words} ={words.partition('|')[0]}": "form of the output"}


_TABLE: Final = _form("table|json")
_MOMENT: Final = {
    "value VALUE": "a timestamp such as 2026-01-01T00:01:00.000Z",
    **_TABLE,
}
_MODE: Final = {"value VALUE": "real, manual, auto, or a rate such as x60", **_TABLE}
_VARIABLES: Final = "Each option can be given as an environment variable too: --rate-limits is EMULATOR_RATE_LIMITS."

_OWN: Final = {"port": "a free one", "access_log": "off"}
_AUTO: Final = {**_OWN, "clock": "auto"}
_EXEC: Final[Arguments] = {
    "--journal FILE": "write all requests of the run as JSON, or as HAR to FILE.har",
    "--save-state FILE": "save the default sandbox at the end of the run, or as a session for the page to FILE.json",
    "--coverage FILE": "write how much of the contract was covered, as JSON, or as a page to FILE.html",
    "--quiet": "do not print the report",
    "--conduct off|report|fail =report": "report mistakes of the client; `fail`: exit with status 1 if one is an error",
    **IGNORE,
    "--coverage-fail-under PERCENT": "exit with 1 if less of it was covered",
    **REPORT,
}
_EXEC_MORE: Final = f"""The command finds IMAGE_WORKFLOW_BASE_URL, IMAGE_WORKFLOW_API_KEY and EMULATOR_URL in its
environment. The report goes to standard error; with --format json, to standard output. {_VARIABLES}"""

_SWEEP: Final[Arguments] = {
    "--jobs N": "how many runs at once (default: one more than there are processors)",
    "--only GLOB": "try every cell that fits, such as 'createProduct#*'",
    "--test NODEID": "where the command is pytest: try cells in this test only",
    "--faults KINDS": "recoverable, problems, network, outputs, all or client (default: recoverable, others once)",
    "--timeout SECONDS": "limit of a test or the command (default: 3 times the longest so far, at least 10)",
    "--budget SPAN": "limit of the sweep with its clean run, such as 10m (default: 60s at a terminal)",
    **IGNORE,
    "--expected FILE": "outcomes that are accepted (default: sweep.expected.yaml)",
    "--strict recoverable|all|off": {
        "help": "exit with 1 for a recoverable cell that failed, or any (alone: all; with CI set: recoverable)",
        "nargs": "?",
        "const": "all",
    },
    "--shard K/N": "try only this part of the plan, such as 2/8; --merge joins the reports of all parts",
    "--merge FILE +": "join the JSON reports of shards, and exit as one sweep would; with a command, try the rest",
    "--least PERCENT =100": "exit with 3 if fewer of the classes were tried",
    **REPORT,
}
_SWEEP_EPILOG: Final = f"""A cell is OPERATION#N:FAULT, such as createProduct#2:lost-after-commit; with OPERATION#N+
the fault lasts. Exit status: 1 if a cell hung or did damage, or failed where --strict forbids it; 2 if the clean run
fails; 3 if not everything was tried; else 0. {_VARIABLES}"""

_WAIT: Final = {"--timeout SECONDS =30": "seconds before it gives up"}
_REQUESTS: Final = {
    "--operation ID": "only requests of this operation, or `none`",
    "--status STATUS": "only requests with this status, class (such as 4xx), or `none`",
    "--code CODE": "only requests refused with this problem code, or `none`",
    "--team TEAM": "only requests of this Team, by name or id",
    "--limit N": "show at most N requests, the newest (default: 100)",
    "--follow": "keep printing requests as they are answered",
    **_form("table|json|har"),
}
_REQUEST: Final = {
    "request REQUEST": "`last`, a sequence number or a Request-Id",
    **_form("text|json|curl"),
}
_TEAM: Final = {"--team TEAM": "for one Team only, by name or id"}
_FILE_OR_NAME: Final = {
    "scenario NAME|FILE": "a scenario of the library, or a YAML file",
    **_TEAM,
}
_CHANGE: Final = {
    "team TEAM": "by name or id",
    "changes NAME=VALUE ...": "credits=5, subscription=inactive, concurrency_limit=1 or requests_per_minute=30",
    **_TABLE,
}
_KEY: Final = {"key KEY": "the sandbox's form of a key, or the world's", **_TABLE}
_NEW_SANDBOX: Final = {
    "id ID ?": "1 to 40 of a-z, 0-9 and hyphens (default: a free one)",
    **_form("table|json|env"),
}
_SERVERS: Final = dict.fromkeys(OF_SANDBOX, "the server's")
_FILE: Final = {"file FILE": "the file"}
_GIVEN: Final = {
    "file FILE": "what to make, as YAML or JSON; - is standard input",
    "--team TEAM": "whose it will be, by name or id (default: the first Team)",
    **_TABLE,
}
_GIVEN_EPILOG: Final = "FILE: given: [{product: {name: Linen shirt}}, {photoshoot: {products: [Linen shirt]}}]"
_CHECKED: Final = {
    "files FILE ...": "what to check",
    "--world FILE": "the world whose Teams and keys they name (default: EMULATOR_WORLD, else built in)",
    **REPORT,
}
_COVERAGE: Final[Arguments] = {
    "files FILE *": "what `exec --coverage FILE` or the pytest plugin wrote (default: ask a running emulator)",
    "--fail-under PERCENT": "exit with 1 if less is covered",
    **REPORT,
}
_DRIFT: Final[Arguments] = {
    "files FILE ...": "a HAR, a VCR.py cassette, or a journal of this emulator",
    "--readings FILE": "start from what is known: a file, readings or a set",
    "--pin FILE": "write the readings that were found, for serve, exec, sweep and pytest",
    **IGNORE,
    "--fail-on VERDICTS": "exit with 1 for these (default: other,neither,breach,bug)",
    **REPORT,
}
_TRAFFIC: Final = "recorded traffic: a HAR, a VCR.py cassette, or a journal (default: ask a running emulator)"
_CONDUCT: Final[Arguments] = {"files FILE *": _TRAFFIC, **REPORT}
_CONDUCT_EPILOG: Final = "The exit status is 1 if there is an error, and 2 if a file holds no call of the service."

COMMANDS: Final[Mapping[str, Command]] = {
    "serve": Command(
        "run the emulator until interrupted",
        home="cli.serving",
        settings={},
        epilog=_VARIABLES,
    ),
    "exec": Command(
        "run a command with its own emulator",
        _EXEC,
        "cli.execution.run",
        settings=_OWN,
        epilog=_EXEC_MORE,
    ),
    "wait": Command("wait until an emulator is ready", _WAIT, "cli.remote", "emulator"),
    "requests": Command(
        "list, follow, explain or clear recorded requests",
        _NONE,
        "cli.remote",
        "sandbox",
        "list",
    ),
    "requests list": Command(
        "list recorded requests, the newest last (the default)", _REQUESTS
    ),
    "requests show": Command("explain one request", _REQUEST),
    "requests clear": Command("forget all recorded requests", home="DELETE requests"),
    "scenario": Command(
        "show, change, list and check what goes wrong",
        _NONE,
        "cli.remote",
        "sandbox",
        "status",
    ),
    "scenario status": Command(
        "show the running scenario (the default)", {**_TEAM, **_TABLE}
    ),
    "scenario use": Command("run a scenario from now on", _FILE_OR_NAME),
    "scenario off": Command("end the running scenario", _TEAM, "DELETE scenario"),
    "scenario list": Command(
        "list the scenarios of the library", _TABLE, "cli.contract", "nothing"
    ),
    "scenario show": Command(
        "print a scenario of the library",
        {"name NAME": "which"},
        "cli.contract",
        "nothing",
    ),
    "scenario check": Command(
        "check scenario files", _CHECKED, "cli.contract", "nothing"
    ),
    "clock": Command(
        "show or move the clock, or change its mode",
        _NONE,
        "cli.remote",
        "sandbox",
        "show",
    ),
    "clock show": Command("print the time (the default)", _TABLE, "GET clock"),
    "clock advance": Command(
        "move forward by a span",
        {"value VALUE": SPAN, **_TABLE},
        "POST clock/advance seconds={value}",
    ),
    "clock to": Command(
        "move forward to a timestamp", _MOMENT, "POST clock/advance to={value}"
    ),
    "clock next": Command(
        "move forward to the next event", _TABLE, "POST clock/advance next_event=true"
    ),
    "clock idle": Command(
        "move forward to the end of all work",
        _TABLE,
        "POST clock/advance until_idle=true",
    ),
    "clock mode": Command("change the mode", _MODE, "PUT clock mode={value}"),
    "teams": Command("list or change Teams", _NONE, "cli.remote", "sandbox", "list"),
    "teams list": Command("list Teams (the default)", _TABLE, "GET teams"),
    "teams set": Command("change a Team from now on", _CHANGE, "PATCH teams/{team}"),
    "credentials": Command(
        "list, revoke or restore credentials", _NONE, "cli.remote", "sandbox", "list"
    ),
    "credentials list": Command(
        "list the credentials of all Teams (the default)", _TABLE, "GET teams"
    ),
    "credentials revoke": Command(
        "revoke a credential", _KEY, "PATCH credentials/{id} state=revoked"
    ),
    "credentials restore": Command(
        "make a revoked credential active again",
        _KEY,
        "PATCH credentials/{id} state=active",
    ),
    "given": Command(
        "make what a file lists", _GIVEN, "cli.remote", "sandbox", epilog=_GIVEN_EPILOG
    ),
    "sandboxes": Command(
        "list, create or delete sandboxes", _NONE, "cli.remote", "emulator", "list"
    ),
    "sandboxes list": Command(
        "list sandboxes (the default)", _TABLE, "GET sandboxes?limit=1000"
    ),
    "sandboxes create": Command(
        "create a sandbox", _NEW_SANDBOX, "cli.remote", settings=_SERVERS
    ),
    "sandboxes delete": Command(
        "delete a sandbox with all that it holds",
        {"id ID": "which"},
        "DELETE sandboxes/{id}",
    ),
    "state": Command(
        "save a sandbox to a file, or load one", _NONE, "cli.remote", "sandbox"
    ),
    "state save": Command(
        "save it to a state file, or a session for the page to FILE.json", _FILE
    ),
    "state load": Command("replace it by what a state file holds", _FILE),
    "reset": Command("reset a sandbox to its start", home="POST reset", asks="sandbox"),
    "sweep": Command(
        "repeat a command with faults",
        _SWEEP,
        "sweep.sweeping",
        settings=_AUTO,
        epilog=_SWEEP_EPILOG,
    ),
    "conduct": Command(
        "judge what clients do wrong",
        _CONDUCT,
        "cli.judges",
        "sandbox",
        epilog=_CONDUCT_EPILOG,
    ),
    "coverage": Command(
        "show how much of the contract clients have covered",
        _COVERAGE,
        "cli.judges",
        "sandbox",
    ),
    "drift": Command(
        "judge which readings the real service has, by recorded traffic",
        _DRIFT,
        "drift.judgement",
    ),
    "contract": Command(
        "print what is shipped about the API", home="cli.contract", verb="show"
    ),
    "contract show": Command(
        "print the contract (OpenAPI 3.1; the default)", _form("yaml|json")
    ),
    "contract operations": Command(
        "list the operations with prices and problem codes", _TABLE
    ),
    "contract schema": Command(
        "print the JSON Schema of a kind of file",
        {"kind scenario|world|given": "the kind"},
    ),
    "contract readings": Command(
        "list the readings of the specification, where it is silent", _TABLE
    ),
}

OF_FILES: Final[Mapping[str, str]] = {"conduct": "drift.recorded_conduct.conduct"}
"""What runs a command instead where it is given files."""

_OF_RECORDING: Final = (
    "record",
    "--base-url",
    "--api-key",
    "--spend",
    "--target",
    "--out",
    "--keep-text",
)
_RECORD: Final = "record with mitmproxy, VCR.py or a browser: docs/drift.md"
_REPORT: Final = "`--junit FILE` is `--report FILE.xml` now, and `--html FILE` is `--report FILE.html`"
RETIRED: Final[Mapping[str, str]] = {
    "scenarios": "`scenarios` is `scenario` now: `scenario list`, `scenario show NAME`, `scenario check FILE`",
    "seed": "`seed FILE` is `given FILE` now",
    "operations": "`operations` is `contract operations` now",
    "schema": "`schema KIND` is `contract schema KIND` now",
    "readings": "`readings` is `contract readings` now",
    **dict.fromkeys(
        ("exec --junit", "coverage --html", "drift --junit", "sweep --junit"), _REPORT
    ),
    "sweep --pairs": "pairs of faults are gone: `--only` tries one cell after another",
    "sweep --resume": "`--resume FILE` is `--report FILE.json` now, and then `--merge FILE.json -- CMD`",
    **dict.fromkeys((f"drift {word}" for word in _OF_RECORDING), _RECORD),
}
"""Commands, verbs and options that are gone, each with what to use now. They have no row above."""
