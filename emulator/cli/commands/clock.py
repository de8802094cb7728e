"""`clock`: the clock of a running emulator, shown, moved forward, or set to another mode."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from typing import Any

from emulator.cli.output import add_format, print_json
from emulator.cli.running_emulator import add_emulator_verbs, control_client
from emulator.kernel.timestamps import format_timestamp, parse_duration_ms, parse_timestamp
from emulator.settings import SettingError
from emulator.testing.sandbox import mode_of

_SPAN = "a span such as 90s, 250ms, 2m or 1h"
_TIMESTAMP = "a timestamp such as 2026-01-01T00:01:00.000Z"


def add_arguments(parser: ArgumentParser) -> None:
    """Take a verb and its value."""
    verbs = add_emulator_verbs(
        parser,
        show="show the clock (the default)",
        advance="move it forward by a span",
        to="move it forward to a timestamp",
        next="move it forward to the next event",
        idle="move it forward until all work has finished, except what a scenario stalls",
        mode="change its mode",
    )
    _show, advance, to, _next, _idle, mode = verbs
    advance.add_argument("value", metavar="SPAN", help=_SPAN)
    to.add_argument("value", metavar="TIMESTAMP", help=_TIMESTAMP)
    mode.add_argument("mode", metavar="MODE", help="real, manual, auto, or a rate such as x60")
    for verb in verbs:
        add_format(verb, "table", "json")


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Show it, move it or set it. Raises UsageError and EmulatorError."""
    control = control_client(options, environment)
    match options.action:
        case "show":
            clock = control.call("GET", "clock")
        case "mode":
            clock = control.call("PUT", "clock", {"mode": options.mode})
        case _:
            clock = control.call("POST", "clock/advance", _move(options))
    if options.format == "json":
        print_json(clock)
    else:
        _print(clock)
    return 0


def _print(clock: Mapping[str, Any]) -> None:
    if "fired" in clock:
        print(f"fired    {clock['fired']}")
    if clock.get("stalled"):
        print(f"stalled  {clock['stalled']} (by a scenario: never finished)")
    print(f"now      {clock['now']}")
    print(f"mode     {mode_of(clock)}")
    print(f"pending  {clock['pending']}")
    if clock["next_event_at"]:
        print(f"next     {clock['next_event_at']}")


def _move(options: Namespace) -> dict[str, Any]:
    """Return the body of the request that moves it. Raises SettingError."""
    match options.action:
        case "advance":
            return {"seconds": _read(options, parse_duration_ms, _SPAN) / 1000}
        case "to":
            return {"to": format_timestamp(_read(options, parse_timestamp, _TIMESTAMP))}
        case "next":
            return {"next_event": True}
        case _:
            return {"until_idle": True}


def _read(options: Namespace, parse: Callable[[str], int], expected: str) -> int:
    try:
        return parse(options.value)
    except ValueError:
        raise SettingError(f"clock {options.action}", options.value, expected) from None
