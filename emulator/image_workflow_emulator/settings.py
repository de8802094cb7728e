"""The options of a running emulator: their names, their values and what these mean.

One table, the fields of `Settings`, is the source of the command line, of the
environment variables and of the documentation. Reads the text of an option; must not
read the environment, the command line or any file itself. Parsers are imported when
there is something to parse, so that the help of `serve` is quick.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    TypeAlias,
    get_args,
)

from image_workflow_emulator import DEFAULT_PORT
from image_workflow_emulator.kernel.timestamps import TIMESTAMP_WORDS, parse_timestamp

if TYPE_CHECKING:
    from image_workflow_emulator.kernel.clock import ClockSetting

CLIENT_VARIABLES: Final = ("EMULATOR_URL", "EMULATOR_SANDBOX")
"""The variables by which programs find a running emulator, in addition to those of its
options."""

READINGS_FILE: Final = "image-workflow.readings.yaml"
"""The file of readings that commands use where it lies in the working directory."""

LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]
OptionTexts: TypeAlias = Mapping[str, str]
"""The texts of options by their fields in Settings."""


def local_url(host: str, port: int) -> str:
    """Return the address under which this machine reaches a server that listens on a
    host and port.
    """
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    if ":" in host:
        return f"http://[{host}]:{port}"
    return f"http://{host}:{port}"


class UsageError(ValueError):
    """A mistake of the person who starts the emulator; its text is the whole message.

    The command line prints it and exits with status 2.
    """


class CommandError(Exception):
    """A command that is valid and could not do its work; its text is the whole message.

    `status` is the exit status; `code` names the failure for programs.
    """

    def __init__(
        self,
        message: str,
        status: int = 1,
        code: str = "usage",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class SettingError(UsageError):
    """An option whose text cannot be used: its name or that of its variable, what was
    found, what was expected.
    """

    def __init__(
        self,
        name: str,
        found: str,
        expected: str,
        words: Collection[str] = (),
    ) -> None:
        """Suggest the nearest of `words`, the values that an option can have."""
        from image_workflow_emulator.documents.complaints import did_you_mean, nearest

        suggestion = did_you_mean(nearest(found, words))
        super().__init__(f"{name}: found {found!r}, expected {expected}{suggestion}")


class Kind(NamedTuple):
    """A kind of values: how to read the text of one, and what to expect, in words."""

    placeholder: str
    """Names a value on the command line."""
    parse: Callable[[str], Any]
    """Raises ValueError or KeyError for a text that is no such value."""
    expected: str
    words: tuple[str, ...] = ()
    """The words that it can be, or the commonest of them."""


class Option(NamedTuple):
    """One option: how to read it, and how to describe it."""

    kind: Kind
    description: str
    default: str = ""
    """In words; empty: that of its field."""
    flag: str = ""
    """The name on the command line, such as `--rate-limits`; empty: that of its field.
    """
    is_repeated: bool = False
    """Whether it can be given more than once; one text has all of its values, with
    commas between them."""
    field: str = ""
    """The field in Settings, such as `rate_limits`."""

    @property
    def variable(self) -> str:
        """The name in the environment, such as `EMULATOR_RATE_LIMITS`."""
        return f"EMULATOR_{self.field.upper()}"


# Parsers ------------------------------------------------------------------------------


def _matching(pattern: str) -> Callable[[str], str]:
    """Return a parser of texts that match a pattern as a whole, in upper or lower case."""

    def parse(text: str) -> str:
        if not re.fullmatch(pattern, text, re.IGNORECASE):
            raise ValueError(text)
        return text

    return parse


def _each(pattern: str) -> Callable[[str], tuple[str, ...]]:
    """Return a parser of texts that match a pattern, with commas between them."""
    parse = _matching(pattern)

    def parse_all(text: str) -> tuple[str, ...]:
        return tuple(parse(part.strip()) for part in text.split(","))

    return parse_all


def parse_url(text: str) -> str:
    """Read an http or https address with a host, and drop the slash at its end.

    Raises ValueError.
    """
    parse = _matching(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?")
    return parse(text).rstrip("/")


def _parse_public_url(text: str) -> str:
    """Read an address whose base URL may be given too, which ends in `/v1`."""
    from image_workflow_emulator.contract import BASE_PATH

    return parse_url(text).removesuffix(BASE_PATH)


def _parse_switch(text: str) -> bool:
    meanings = dict.fromkeys(("on", "true", "yes"), True)
    meanings |= dict.fromkeys(("off", "false", "no"), False)
    return meanings[text.lower()]


def _parse_seed(text: str) -> int:
    from image_workflow_emulator.documents.values import parse_seed

    return parse_seed(text)


def _parse_clock(text: str) -> "ClockSetting":
    from image_workflow_emulator.documents.values import parse_clock

    return parse_clock(text)


def _parse_size(text: str) -> int:
    from image_workflow_emulator.documents.values import parse_size

    return parse_size(text)


# Kinds of values ----------------------------------------------------------------------


def whole_number(
    placeholder: str,
    least: int,
    most: int,
) -> Kind:
    """Return the kind of whole numbers between two bounds."""

    def parse(text: str) -> int:
        if not re.fullmatch(r"[+-]?[0-9]{1,19}", text):
            raise ValueError(text)
        number = int(text)
        if not least <= number <= most:
            raise ValueError(text)
        return number

    return Kind(placeholder, parse, f"a number from {least} to {most}")


def _text(placeholder: str, expected: str) -> Kind:
    return Kind(placeholder, _matching(r"(?s:.*\S.*)"), expected)


def _choice(placeholder: str, words: tuple[str, ...]) -> Kind:
    expected = f"{', '.join(words[:-1])} or {words[-1]}"
    return Kind(
        placeholder,
        {word: word for word in words}.__getitem__,
        expected,
        words,
    )


_CLOCK_WORDS: Final = "real, manual, auto, or a rate such as x60"
_ORIGIN: Final = r"\*|[a-z][a-z0-9+.-]*://[^\s/?#@,]+"

SWITCH: Final = Kind("on|off", _parse_switch, "on or off", ("on", "off"))
SEED: Final = Kind("N", _parse_seed, "a whole number from 0 to 2^63-1")
CLOCK: Final = Kind("MODE", _parse_clock, _CLOCK_WORDS, ("real", "manual", "auto"))
_TIMESTAMP: Final = Kind("TIMESTAMP", parse_timestamp, TIMESTAMP_WORDS)
_HOST: Final = _text("HOST", "a host name or address")
_PORT: Final = whole_number("PORT", 0, 65535)
_URL: Final = Kind(
    "URL",
    _parse_public_url,
    "an address such as https://emulator.example:8443",
)
_HOSTS: Final = Kind(
    "NAME",
    _each("[A-Za-z0-9._-]{1,253}"),
    "names such as emulator.example, without port",
)
_TOKEN: Final = Kind(
    "TOKEN",
    _matching("[!-~](?:[ -~]*[!-~])?"),
    "printable ASCII, without a space at start or end",
)
_SIZE: Final = Kind("SIZE", _parse_size, "a size such as 512MiB or 2GiB")
_FILE: Final = _text("FILE", "the name of a file")
SCENARIO: Final = _text(
    "NAME|FILE",
    "the name of a scenario of the library, or a YAML file",
)
READINGS: Final = _text(
    "READINGS",
    "readings such as D26=always-a-cursor, a set, or a file",
)
_COUNT: Final = whole_number("N", 1, 1_000_000)
_FORMAT: Final = _choice("text|json", get_args(LogFormat))
_LEVEL: Final = _choice("LEVEL", get_args(LogLevel))
_ORIGINS: Final = Kind(
    "ORIGIN",
    _each(_ORIGIN),
    "an origin such as http://localhost:5173, or *",
)

# The table ----------------------------------------------------------------------------


class Settings(NamedTuple):
    """Every option of `serve` and `exec`, read and checked. The defaults are those of
    the command line.

    `seed`, `clock` and `start` (an instant in milliseconds) are None where not given:
    then the scenario decides, else they are 0, real and the clock's own default.
    `world` is a path, `scenario` the name of a library scenario or a path; `max_memory`
    is in bytes; `public_url` has no slash at its end.
    """

    host: Annotated[str, Option(_HOST, "address to listen on")] = "127.0.0.1"
    port: Annotated[int, Option(_PORT, "port to listen on; 0 picks a free one")] = (
        DEFAULT_PORT
    )
    seed: Annotated[
        int | None, Option(SEED, "seed of identifiers, links and chance", "0")
    ] = None
    clock: Annotated["ClockSetting | None", Option(CLOCK, _CLOCK_WORDS, "real")] = None
    start: Annotated[
        int | None,
        Option(
            _TIMESTAMP,
            "the emulator's time at start",
            "now, or 2026-01-01T00:00:00.000Z with a manual or auto clock",
        ),
    ] = None
    world: Annotated[
        str | None,
        Option(
            _FILE,
            "Teams, credentials and premade ingredients at start (YAML)",
            "built in",
        ),
    ] = None
    scenario: Annotated[
        str | None,
        Option(
            SCENARIO,
            "scenario to run: a name in the library, or a YAML file",
            "none",
        ),
    ] = None
    rate_limits: Annotated[
        bool, Option(SWITCH, "whether request rates are limited", "on")
    ] = True
    public_url: Annotated[
        str | None,
        Option(_URL, "base of links in answers", "the address the client used"),
    ] = None
    allowed_hosts: Annotated[
        tuple[str, ...],
        Option(
            _HOSTS,
            "an additional host name that clients may use; can be repeated",
            flag="--allowed-host",
            is_repeated=True,
        ),
    ] = ()
    control_token: Annotated[
        str | None,
        Option(
            _TOKEN,
            "if set, /_emulator (health aside) needs `Authorization: Bearer TOKEN`",
        ),
    ] = None
    max_memory: Annotated[
        int, Option(_SIZE, "limit of image bytes in all sandboxes together", "2GiB")
    ] = 2 * 2**30
    journal_requests: Annotated[
        int,
        Option(
            _COUNT,
            "limit of the requests in the journal of each sandbox; conduct and "
            "coverage judge what it holds",
            "10000; 100000 with exec and pytest",
        ),
    ] = 10_000
    log_format: Annotated[LogFormat, Option(_FORMAT, "form of the log")] = "text"
    log_level: Annotated[LogLevel, Option(_LEVEL, "lowest level to log")] = "info"
    access_log: Annotated[
        bool,
        Option(SWITCH, "log requests to standard error", "on; off for exec and sweep"),
    ] = True
    state: Annotated[str | None, Option(_FILE, "start from a state file")] = None
    given: Annotated[
        str | None,
        Option(
            _FILE,
            "what the default sandbox holds at its start and after a reset: Products, "
            "ingredients, photoshoots",
        ),
    ] = None
    evolution: Annotated[
        bool,
        Option(
            SWITCH,
            "whether answers have what v1 may add: unknown fields and headers, longer "
            "ids, more premade items",
            "off",
        ),
    ] = False
    readings: Annotated[
        str | None,
        Option(
            READINGS,
            "how the specification is read where it is silent: names, a set (plain, "
            "other, stingy) or a file",
            f"those of {READINGS_FILE}, if it is there",
        ),
    ] = None
    """Names, sets or a file, as given. None: those of the scenario, else of the file
    in the working directory."""
    cors: Annotated[
        tuple[str, ...],
        Option(
            _ORIGINS,
            "an origin whose pages may call /v1 and load files, or *; can be repeated",
            is_repeated=True,
        ),
    ] = ()
    found_readings: str | None = None
    """The readings file that a command found where it was started."""
    fault: str | None = None
    """The scenario file of the fault that a sweep tries. Sandboxes that are made with
    `scenario: null` begin with it; the others have it by `scenario`."""
    job_folder: str | None = None
    """Where the emulators of a sweep find each other's image work."""


def _options_of_fields() -> tuple[Option, ...]:
    """Return the options that the fields of Settings describe, in the order of help."""
    options = []
    for field, hint in Settings.__annotations__.items():
        for option in getattr(hint, "__metadata__", ()):
            default = option.default or str(Settings._field_defaults[field] or "none")
            flag = option.flag or f"--{field.replace('_', '-')}"
            options.append(
                option._replace(
                    field=field,
                    flag=flag,
                    default=default,
                )
            )
    return tuple(options)


OPTIONS: Final = _options_of_fields()

_DECIDED_BY_STATE: Final = {
    "scenario": "run it once the state is loaded: `scenario use`",
    "rate_limits": (
        "change a Team's limit once the state is loaded: "
        "`teams set TEAM requests_per_minute=N`"
    ),
}
"""The options that contradict a state file, each with what to do instead."""


def read_settings(
    texts: Mapping[str, str | Sequence[str]],
    sources: Mapping[str, str] = MappingProxyType({}),
) -> Settings:
    """Return the settings that the texts of options mean, by their fields.

    A repeated option may have several texts. `sources` are the names by which
    complaints call options: that of a variable, for example; the others are called by
    their flags.

    Raises SettingError for the first option whose text cannot be used, and for one that
    a state file would override.
    """
    values = {}
    named = {}
    for option in OPTIONS:
        text = texts.get(option.field)
        if text is None:
            continue
        if not isinstance(text, str):
            text = ",".join(text)
        name = sources.get(option.field, option.flag)
        named[option.field] = (name, text)
        values[option.field] = _read(option.kind, name, text)
    if "state" in named:
        _check_beside_state(named)
    return Settings(**values)


def _check_beside_state(named: Mapping[str, tuple[str, str]]) -> None:
    """Check that no option contradicts the state file. Raises SettingError."""
    state, _ = named["state"]
    for field, remedy in _DECIDED_BY_STATE.items():
        if field in named:
            name, text = named[field]
            expected = f"nothing beside {state}, whose file decides it; {remedy}"
            raise SettingError(name, text, expected)


def _read(
    kind: Kind,
    name: str,
    text: str,
) -> Any:
    try:
        return kind.parse(text)
    except (ValueError, KeyError):
        raise SettingError(name, text, kind.expected, kind.words) from None


# The environment ----------------------------------------------------------------------

_OF_LINKS: Final = ("EMULATOR_SERVICE_", "EMULATOR_PORT_", "EMULATOR_ENV_")
"""How further variables begin that Kubernetes and Docker set for a service or container
with the name `emulator`."""


def is_of_link(variable: str, text: str) -> bool:
    """Tell whether a variable describes a link, as Kubernetes and Docker set them for a
    service or container with the name `emulator`: it is none of the emulator's.
    """
    if variable == "EMULATOR_PORT":
        return re.match(r"(?:tcp|udp|sctp)://", text) is not None
    return variable.startswith(_OF_LINKS) or variable == "EMULATOR_NAME"


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Return the variables that begin as those of options do, and mean nothing."""
    known = {*(option.variable for option in OPTIONS), *CLIENT_VARIABLES}
    unknown = []
    for name, text in sorted(environment.items()):
        is_known = name in known or is_of_link(name, text)
        if name.startswith("EMULATOR_") and not is_known:
            unknown.append(name)
    return unknown
