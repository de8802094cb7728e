"""What a run of pytest says of its sandboxes: options, ini options and the marker.

Owns their names, which of them decides, and how a mistake in one is reported: with the
name and the place that the user knows. Every run of pytest imports this, so it imports
nothing that pytest does not.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, Final

import pytest

NAME: Final = "image_workflow"
"""The name of the fixture and of the marker."""
URL: Final = "--image-workflow-url"
COVERAGE: Final = "--image-workflow-coverage"
READINGS: Final = "--image-workflow-readings"
CONDUCT: Final = ("off", "report", "fail")
MARKER_OPTIONS: Final = (
    "clock",
    "scenario",
    "world",
    "seed",
    "start",
    "rate_limits",
    "evolution",
    "readings",
    "conduct",
)
_INI_OPTIONS: Final = ("clock", "scenario", "readings", "conduct")
"""The options of the marker whose defaults an ini file may say."""


@dataclass(frozen=True)
class Setting:
    """A value that decides how a sandbox begins."""

    value: Any
    spelling: str
    """The name of the option at the place where it is set."""
    place: str
    """Such as "the ini option image_workflow_clock"."""


Settings = Mapping[str, Setting]
"""Settings of a sandbox, by the options of the marker."""


def add_options(parser: pytest.Parser) -> None:
    """Add the options of the command line and of ini files."""
    group = parser.getgroup("image workflow")
    group.addoption(
        URL,
        metavar="URL",
        help=(
            "use the emulator at this address (default: EMULATOR_URL, else one is "
            "started when a test asks for it)"
        ),
    )
    group.addoption(
        COVERAGE,
        metavar="FILE",
        help=(
            "write how much of the contract the clients have covered, as JSON, or as a "
            "page to FILE.html"
        ),
    )
    group.addoption(
        READINGS,
        metavar="READINGS",
        help=(
            "run every test under other readings of the specification: such as "
            "D26=always-a-cursor, a set such as stingy, or a file (default: the file "
            "image-workflow.readings.yaml, if it is there)"
        ),
    )
    unless = "of every sandbox, unless its marker says otherwise"
    parser.addini(f"{NAME}_clock", f"the clock {unless}", default="auto")
    parser.addini(f"{NAME}_scenario", f"the scenario {unless}", default="")
    parser.addini(f"{NAME}_readings", f"as {READINGS}, which overrides it", default="")
    parser.addini(
        f"{NAME}_conduct",
        "what follows from misconduct of the client: `off`, `report` (in the report of "
        "a test that failed), or `fail`: errors fail the test",
        default="report",
    )


def add_marker(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        f"{NAME}({', '.join(MARKER_OPTIONS)}): how the sandbox of the fixture begins; "
        "the defaults of `clock`, `scenario` and `conduct` are the ini options "
        "of these names",
    )


def common_settings(config: pytest.Config) -> dict[str, Setting]:
    """Return what ini options and the command line say of every sandbox."""
    settings: dict[str, Setting] = {}
    for option in _INI_OPTIONS:
        ini_option = f"{NAME}_{option}"
        value = config.getini(ini_option)
        if value:
            place = f"the ini option {ini_option}"
            settings[option] = Setting(value, ini_option, place)
    readings = config.getoption(READINGS)
    if readings:
        settings["readings"] = Setting(readings, READINGS, f"the option {READINGS}")
    return settings


def settings_of(item: pytest.Item) -> dict[str, Setting]:
    """Return what decides how the sandbox of a test begins.

    A marker that is nearer to the test overrides one of its class or module. Fails the
    test for a marker with a mistake.
    """
    settings = common_settings(item.config)
    for marker in reversed(list(item.iter_markers(NAME))):
        _check_marker(item, marker)
        for option, value in marker.kwargs.items():
            settings[option] = Setting(value, option, marker_place(item))
    conduct = settings["conduct"]
    if conduct.value not in CONDUCT:
        pytest.fail(
            f"{conduct.spelling}: found {conduct.value!r}; "
            f"expected one of {', '.join(CONDUCT)}\n  in {conduct.place}",
            pytrace=False,
        )
    return settings


def conduct_of(item: pytest.Item) -> str:
    """Return what follows from misconduct in a test: one of CONDUCT."""
    return str(settings_of(item)["conduct"].value)


def sandbox_options(settings: Settings) -> dict[str, Any]:
    """Return the options of `Emulator.sandbox`."""
    return {
        option: setting.value
        for option, setting in settings.items()
        if option != "conduct"
    }


def refusal_text(
    settings: Settings,
    detail: str,
    otherwise: str = "",
) -> str:
    """Return the emulator's refusal of settings, as who wrote them can read it.

    The name of the option takes the place of the emulator's own, such as `/clock` or
    `--readings`, and the last line says where it is set: `otherwise`, where the refusal
    names none of the settings.
    """
    option, pointer, reason = _parts(detail)
    setting = settings.get(option)
    if setting is not None:
        if pointer:
            reason = f"{pointer}: {reason}"
        return f"{setting.spelling}: {reason}\n  in {setting.place}"
    for setting in settings.values():
        if _is_file(setting.value) and fspath(setting.value) in detail:
            return f"{detail}\n  in {setting.place}"
    return f"{detail}\n  {otherwise}".rstrip()


def marker_place(item: pytest.Item) -> str:
    """Return where the marker of a test is."""
    file, line, _ = item.location
    position = file if line is None else f"{file}, line {line + 1}"
    return f"@pytest.mark.{NAME} of {item.name} ({position})"


def _check_marker(item: pytest.Item, marker: pytest.Mark) -> None:
    """Fail the test for a marker with an argument that is no option."""
    if marker.args:
        complaint = f"found {marker.args[0]!r}; expected options by name"
        pytest.fail(f"{complaint}\n  in {marker_place(item)}", pytrace=False)
    for option in marker.kwargs:
        if option not in MARKER_OPTIONS:
            complaint = f"{option}: found an unknown option"
            expected = f"expected only {', '.join(MARKER_OPTIONS)}{_suggestion(option)}"
            place = marker_place(item)
            pytest.fail(f"{complaint}; {expected}\n  in {place}", pytrace=False)


def _suggestion(option: str) -> str:
    from difflib import get_close_matches

    nearest = get_close_matches(option, MARKER_OPTIONS, 1)
    return f'; did you mean "{nearest[0]}"?' if nearest else ""


def _parts(detail: str) -> tuple[str, str, str]:
    """Split a refusal into the option that it begins with, the place in it, the rest."""
    match = re.match(r"(?:/|--)?([a-z_]+)(/\S*)?: (.*)", detail, re.DOTALL)
    if match is None:
        return "", "", detail
    option, pointer, reason = match.groups(default="")
    # The library of scenarios complains of a name that it does not have.
    return "scenario" if option == "scenarios" else option, pointer, reason


def _is_file(value: object) -> bool:
    return isinstance(value, str | PathLike)
