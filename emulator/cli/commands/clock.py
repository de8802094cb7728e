"""`clock`: the clock of a running emulator, shown, moved forward, or set to another mode."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from emulator.cli.output import add_format, print_json
from emulator.cli.running_emulator import add_emulator_verbs, control_client
from emulator.kernel.timestamps import format_timestamp, parse_duration_ms, parse_timestamp
from emulator.settings import SettingError
from emulator.testing.sandbox import mode_of

_VALUES = {
    "advance": "a span such as 90s, 250ms, 2m or 1h",
    "to": "a timestamp such as 2026-01-01T00:01:00.000Z",
    "mode": "real, manual, auto, or a rate such as x60",
}


def add_arguments(parser: ArgumentParser) -> None:
    """Take a verb and its value."""
    verbs = add_emulator_verbs(
        parser,
        show="print the time (the default)",
        advance="move forward by a span",
        to="move forward to a timestamp",
        next="move forward to the next event",
        idle="move forward until all work has finished, except what a scenario stalls",
        mode="change the mode",
    )
    for verb in verbs:
        add_format(verb, "table", "json")
        name = verb.prog.rpartition(" ")[2]
        if name in _VALUES:
            verb.add_argument("value", metavar="VALUE", help=_VALUES[name])


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Show it, move it or set it. Raises UsageError and EmulatorError."""
    control = control_client(options, environment)
    match options.action:
        case "show":
            clock = control.call("GET", "clock")
        case "mode":
            clock = control.call("PUT", "clock", {"mode": options.value})
        case _:
            clock = control.call("POST", "clock/advance", _move(options))
    if options.format == "json":
        print_json(clock)
    else:
        _print(clock)
    return 0


def _move(options: Namespace) -> dict[str, Any]:
    """Return how far to move. Raises SettingError."""
    try:
        match options.action:
            case "advance":
                return {"seconds": parse_duration_ms(options.value) / 1000}
            case "to":
                return {"to": format_timestamp(parse_timestamp(options.value))}
            case "next":
                return {"next_event": True}
            case _:
                return {"until_idle": True}
    except ValueError:
        raise SettingError(f"clock {options.action}", options.value, _VALUES[options.action]) from None


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
