"""The options of a running emulator: what they are called, what they may say, and what they mean.

One table, the fields of `Settings`, is the source of the command line, of the environment variables and of the
documentation. Knows how to read the text of an option; must not read the environment, the command line or any file
itself. Imports parsers when there is something to parse, so that the help of `serve` is quick.
"""

import re
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, get_args

from image_workflow_emulator import DEFAULT_PORT
from image_workflow_emulator.kernel.timestamps import TIMESTAMP_WORDS, parse_timestamp

if TYPE_CHECKING:
    from image_workflow_emulator.kernel.clock import ClockSetting

CLIENT_VARIABLES: Final = ("EMULATOR_URL", "EMULATOR_SANDBOX")
"""The variables by which programs find a running emulator, in addition to those of its options."""

READINGS_FILE: Final = "image-workflow.readings.yaml"
"""The file of readings that commands use where it lies in the working directory."""

LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]


def local_url(host: str, port: int) -> str:
    """Return the address under which this machine reaches a server that listens on a host and port."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class UsageError(ValueError):
    """Something that the person who starts the emulator got wrong and can mend; its text is the whole message.

    The command line prints it and exits with status 2.
    """


class CommandError(Exception):
    """A command that is valid and could not do its work; its text is the whole message. `status`: the exit status."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class SettingError(UsageError):
    """An option whose text cannot be used: its name or that of its variable, what was found, what was expected."""

    def __init__(
        self, name: str, found: str, expected: str, words: Collection[str] = ()
    ) -> None:
        """Suggest the nearest of `words`, the values that an option can have."""
        from image_workflow_emulator.documents.complaints import did_you_mean, nearest

        super().__init__(
            f"{name}: found {found!r}, expected {expected}{did_you_mean(nearest(found, words))}"
        )


class Kind(NamedTuple):
    """A kind of values: how to read the text of one (ValueError or KeyError for any other text), and what to expect, in
    words.
    """

    placeholder: str
    """What stands for a value on the command line."""
    parse: Callable[[str], Any]
    expected: str
    words: tuple[str, ...] = ()
    """Those that it can be, or the commonest of them."""


class Option(NamedTuple):
    """One option: how to read it, and how to describe it."""

    kind: Kind
    description: str
    default: str = ""
    """In words: that of its field, where nothing is said."""
    flag: str = ""
    """The name on the command line, such as `--rate-limits`: that of its field, where nothing is said."""
    is_repeated: bool = False
    """Whether it can be given more than once; one text has all of its values, with commas between them."""
    field: str = ""
    """The field in Settings, such as `rate_limits`."""

    @property
    def variable(self) -> str:
        """The name in the environment, such as `EMULATOR_RATE_LIMITS`."""
        return f"EMULATOR_{self.field.upper()}"


# Kinds of values ------------------------------------------------------------------------------------------------------


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
    return lambda text: tuple(parse(part.strip()) for part in text.split(","))


def parse_url(text: str) -> str:
    """Read an http or https address with a host, and drop the slash at its end. Raises ValueError."""
    return _matching(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?")(text).rstrip("/")


def _whole(placeholder: str, least: int, most: int) -> Kind:
    """Return the kind of whole numbers between two bounds."""

    def parse(text: str) -> int:
        if (
            not re.fullmatch(r"[+-]?[0-9]{1,19}", text)
            or not least <= int(text) <= most
        ):
            raise ValueError(text)
        return int(text)

    return Kind(placeholder, parse, f"a number from {least} to {most}")


def _shared(parser: str) -> Callable[[str], Any]:
    """Return a parser that files have too, by its name."""

    def parse(text: str) -> Any:
        from image_workflow_emulator.documents import values

        return getattr(values, parser)(text)

    return parse


def _text(placeholder: str, expected: str) -> Kind:
    return Kind(placeholder, _matching(r"(?s:.*\S.*)"), expected)


def _one_of(placeholder: str, meanings: Mapping[str, Any]) -> Kind:
    """Return the kind of some words, each with its meaning."""
    *others, last = meanings
    return Kind(
        placeholder,
        meanings.__getitem__,
        f"{', '.join(others)} or {last}",
        tuple(meanings),
    )


_SWITCH: Final = _one_of("on|off", {"on": True, "off": False})
_SEED: Final = Kind("N", _shared("parse_seed"), "a whole number from 0 to 2^63-1")
_CLOCK_WORDS: Final = "real, manual, auto, or a rate such as x60"
_CLOCK: Final = Kind(
    "MODE", _shared("parse_clock"), _CLOCK_WORDS, ("real", "manual", "auto")
)
_TIMESTAMP: Final = Kind("TIMESTAMP", parse_timestamp, TIMESTAMP_WORDS)
_URL: Final = Kind("URL", parse_url, "an address such as https://emulator.example:8443")
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
_SIZE: Final = Kind("SIZE", _shared("parse_size"), "a size such as 512MiB or 2GiB")
_FILE: Final = _text("FILE", "the name of a file")
_SCENARIO: Final = _text(
    "NAME|FILE", "the name of a scenario of the library, or a YAML file"
)
_READINGS: Final = _text(
    "READINGS", "readings such as D26=always-a-cursor, a set, or a file"
)
_COUNT: Final = _whole("N", 1, 1_000_000)
_FORMAT: Final = _one_of("text|json", {word: word for word in get_args(LogFormat)})
_LEVEL: Final = _one_of("LEVEL", {word: word for word in get_args(LogLevel)})
_ORIGIN: Final = r"\*|[a-z][a-z0-9+.-]*://[^\s/?#@,]+"
_ORIGINS: Final = Kind(
    "ORIGIN", _each(_ORIGIN), "an origin such as http://localhost:5173, or *"
)

# The table ------------------------------------------------------------------------------------------------------------

_STARTS: Final = "now, or 2026-01-01T00:00:00.000Z with a manual or auto clock"
_WORLDS: Final = "Teams, credentials and premade ingredients at start (YAML)"
_ALLOWED: Final = "an additional host name that clients may use; can be repeated"
_TOKENS: Final = "if set, /_emulator (health aside) needs `Authorization: Bearer TOKEN`"
_MADE: Final = "what the default sandbox holds at its start and after a reset: Products, ingredients, photoshoots"
_EVOLUTION: Final = "whether answers have what v1 may add: unknown fields and headers, longer ids, more premade items"
_HOW_READ: Final = "how the specification is read where it is silent: names, a set (plain, other, stingy) or a file"
_JOURNAL: Final = "limit of the requests in the journal of each sandbox; conduct and coverage judge what it holds"
_PAGES: Final = (
    "an origin whose pages may call /v1 and load files, or *; can be repeated"
)


class Settings(NamedTuple):
    """Every option of `serve` and `exec`, read and checked. The defaults are those of the command line.

    `seed`, `clock` and `start` (an instant in milliseconds) are None where not given: then the scenario decides, else
    they are 0, real and the clock's own default. `world` is a path, `scenario` the name of a library scenario or a
    path; `max_memory` is in bytes; `public_url` has no slash at its end.
    """

    host: Annotated[
        str, Option(_text("HOST", "a host name or address"), "address to listen on")
    ] = "127.0.0.1"
    port: Annotated[
        int, Option(_whole("PORT", 0, 65535), "port to listen on; 0 picks a free one")
    ] = DEFAULT_PORT
    seed: Annotated[
        int | None, Option(_SEED, "seed of identifiers, links and chance", "0")
    ] = None
    clock: Annotated["ClockSetting | None", Option(_CLOCK, _CLOCK_WORDS, "real")] = None
    start: Annotated[
        int | None, Option(_TIMESTAMP, "the emulator's time at start", _STARTS)
    ] = None
    world: Annotated[str | None, Option(_FILE, _WORLDS, "built in")] = None
    scenario: Annotated[
        str | None,
        Option(_SCENARIO, "scenario to run: a name in the library, or a YAML file"),
    ] = None
    rate_limits: Annotated[
        bool, Option(_SWITCH, "whether request rates are limited", "on")
    ] = True
    public_url: Annotated[
        str | None,
        Option(_URL, "base of links in answers", "the address the client used"),
    ] = None
    allowed_hosts: Annotated[
        tuple[str, ...],
        Option(_HOSTS, _ALLOWED, flag="--allowed-host", is_repeated=True),
    ] = ()
    control_token: Annotated[str | None, Option(_TOKEN, _TOKENS)] = None
    max_memory: Annotated[
        int, Option(_SIZE, "limit of image bytes in all sandboxes together", "2GiB")
    ] = 2 * 2**30
    journal_requests: Annotated[
        int, Option(_COUNT, _JOURNAL, "10000; 100000 with exec and pytest")
    ] = 10_000
    log_format: Annotated[LogFormat, Option(_FORMAT, "form of the log")] = "text"
    log_level: Annotated[LogLevel, Option(_LEVEL, "lowest level to log")] = "info"
    access_log: Annotated[
        bool,
        Option(_SWITCH, "log requests to standard error", "on; off for exec and sweep"),
    ] = True
    state: Annotated[str | None, Option(_FILE, "start from a state file")] = None
    given: Annotated[str | None, Option(_FILE, _MADE)] = None
    evolution: Annotated[bool, Option(_SWITCH, _EVOLUTION, "off")] = False
    readings: Annotated[
        str | None,
        Option(_READINGS, _HOW_READ, f"those of {READINGS_FILE}, if it is there"),
    ] = None
    """Names, sets or a file, as given. None: those of the scenario, else of a file that was found."""
    cors: Annotated[tuple[str, ...], Option(_ORIGINS, _PAGES, is_repeated=True)] = ()
    found_readings: str | None = None
    """The readings file that a command found where it was started."""


OPTIONS: Final[tuple[Option, ...]] = tuple(
    option._replace(
        field=field,
        flag=option.flag or f"--{field.replace('_', '-')}",
        default=option.default or str(Settings._field_defaults[field] or "none"),
    )
    for field, hint in Settings.__annotations__.items()
    for option in getattr(hint, "__metadata__", ())
)
"""All options, in the order of help."""

_DECIDED_BY_STATE: Final = {
    "scenario": "run it once the state is loaded: `scenario use`",
    "rate_limits": "change a Team's limit once the state is loaded: `teams set TEAM requests_per_minute=N`",
}
"""The options that contradict a state file, each with what to do instead."""


def read_settings(
    arguments: Mapping[str, Any],
    environment: Mapping[str, str],
    defaults: Mapping[str, str] = MappingProxyType({}),
) -> Settings:
    """The settings that an invocation asks for; a command-line option wins over its variable.

    `arguments` holds the text of each option by field name (a list of texts for a repeated option), None or nothing
    where it was not given; `defaults` the texts that a command has instead. An empty variable counts as not given.

    Raises SettingError for the first option whose text cannot be used, and for one that a state file would override.
    """
    given: dict[str, tuple[str, str]] = {}
    for option in OPTIONS:
        argument = arguments.get(option.field)
        if argument is not None:
            given[option.field] = (
                option.flag,
                ",".join(argument) if isinstance(argument, list) else argument,
            )
        elif environment.get(option.variable):
            given[option.field] = option.variable, environment[option.variable]
        elif option.field in defaults:
            given[option.field] = option.flag, defaults[option.field]
    values = {
        option.field: _read(option, *given[option.field])
        for option in OPTIONS
        if option.field in given
    }
    if "state" in given:
        for field, remedy in _DECIDED_BY_STATE.items():
            if field in given:
                expected = f"nothing beside {given['state'][0]}, whose file decides it; {remedy}"
                raise SettingError(*given[field], expected)
    return Settings(**values)


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Return the variables that begin as those of options do, and mean nothing."""
    known = {*(option.variable for option in OPTIONS), *CLIENT_VARIABLES}
    return sorted(
        name
        for name in environment
        if name.startswith("EMULATOR_") and name not in known
    )


def _read(option: Option, name: str, text: str) -> Any:
    try:
        return option.kind.parse(text)
    except (ValueError, KeyError):
        raise SettingError(
            name, text, option.kind.expected, option.kind.words
        ) from None
