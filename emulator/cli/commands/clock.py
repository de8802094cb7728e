"""`clock`: the clock of a running emulator, shown, moved forward, or set to another mode."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from emulator.cli.output import add_format, print_json
from emulator.cli.running_emulator import add_emulator_options, control_client
from emulator.kernel.timestamps import format_timestamp, parse_duration_ms, parse_timestamp
from emulator.settings import SettingError, UsageError
from emulator.testing.sandbox import mode_of

_VALUES = {
    "advance": "a span such as 90s, 250ms, 2m or 1h",
    "to": "a timestamp such as 2026-01-01T00:01:00.000Z",
    "mode": "real, manual, auto, or a rate such as x60",
}
_ACTIONS = ("show", "advance", "to", "next", "idle", "mode")
_HELP = f"""\
actions:
  show             print the time (the default)
  advance SPAN     move forward by {_VALUES["advance"]}
  to TIMESTAMP     move forward to {_VALUES["to"]}
  next             move forward to the next event
  idle             move forward until all work has finished, except what a scenario stalls
  mode MODE        change the mode: {_VALUES["mode"]}"""


def add_arguments(parser: ArgumentParser) -> None:
    """Take an action and its value."""
    parser.epilog = _HELP
    parser.add_argument("action", nargs="?", default="show", metavar="ACTION", choices=_ACTIONS)
    parser.add_argument("value", nargs="?", metavar="VALUE")
    add_format(parser, "table", "json")
    add_emulator_options(parser)


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Show it, move it or set it. Raises UsageError and EmulatorError."""
    control = control_client(options, environment)
    body = _body(options.action, options.value)
    match options.action:
        case "show":
            clock = control.call("GET", "clock")
        case "mode":
            clock = control.call("PUT", "clock", body)
        case _:
            clock = control.call("POST", "clock/advance", body)
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


def _body(action: str, value: str | None) -> dict[str, Any] | None:
    """Return the body of the request, or None where the clock is only shown. Raises UsageError."""
    if action in _VALUES and value is None:
        raise UsageError(f"clock {action}: expected {_VALUES[action]} after it")
    if action not in _VALUES and value is not None:
        raise UsageError(f"clock {action}: found {value!r}, expected nothing after it")
    try:
        match action:
            case "advance":
                return {"seconds": parse_duration_ms(value or "") / 1000}
            case "to":
                return {"to": format_timestamp(parse_timestamp(value or ""))}
            case "next":
                return {"next_event": True}
            case "idle":
                return {"until_idle": True}
            case "mode":
                return {"mode": value}
            case _:
                return None
    except ValueError:
        raise SettingError(f"clock {action}", value or "", _VALUES[action]) from None
