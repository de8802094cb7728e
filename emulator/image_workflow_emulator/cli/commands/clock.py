"""`clock`: the time of a sandbox."""

import re
from collections.abc import Mapping
from typing import Any, Final

import click

from image_workflow_emulator.cli.addresses import of_sandbox
from image_workflow_emulator.cli.groups import Noun
from image_workflow_emulator.client.control_client import ControlClient, mode_of
from image_workflow_emulator.console.options import form
from image_workflow_emulator.console.tables import cells, show
from image_workflow_emulator.console.values import SPAN, Text
from image_workflow_emulator.settings import CLOCK

_COLUMNS: Final = ("now", "next_event_at", "mode", "pending", "fired", "stalled")


class _Move(click.Command):
    """A verb whose value may be typed with a minus, which is no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put words such as `-5s` behind the options."""
        options = []
        negative_values = []
        for word in args:
            if re.match(r"-\d", word):
                negative_values.append(word)
            else:
                options.append(word)
        if negative_values:
            args = [*options, "--", *negative_values]
        return super().parse_args(ctx, args)


@click.group("clock", cls=Noun, default="show")
def command() -> None:
    """Show or move the clock, or change its mode."""


@command.command("show")
@form("table", "json")
@of_sandbox
def show_clock(control: ControlClient, form: str) -> None:
    """Print the time (the default)."""
    clock = control.call("GET", "clock")
    _show(form, clock)


@command.command("advance", cls=_Move)
@click.argument("seconds", metavar="SPAN", type=SPAN)
@form("table", "json")
@of_sandbox
def advance(
    control: ControlClient,
    seconds: float,
    form: str,
) -> None:
    """Move forward by a span such as 90s, 250ms, 2m or 1h."""
    clock = _moved(control, {"seconds": seconds})
    _show(form, clock)


@command.command("to", cls=_Move)
@click.argument("timestamp", metavar="TIMESTAMP")
@form("table", "json")
@of_sandbox
def advance_to(
    control: ControlClient,
    timestamp: str,
    form: str,
) -> None:
    """Move forward to a timestamp such as 2026-01-01T00:01:00.000Z."""
    clock = _moved(control, {"to": timestamp})
    _show(form, clock)


@command.command("next")
@form("table", "json")
@of_sandbox
def advance_to_next(control: ControlClient, form: str) -> None:
    """Move forward to the next event."""
    clock = _moved(control, {"next_event": True})
    _show(form, clock)


@command.command("idle")
@form("table", "json")
@of_sandbox
def advance_until_idle(control: ControlClient, form: str) -> None:
    """Move forward to the end of all work."""
    clock = _moved(control, {"until_idle": True})
    _show(form, clock)


@command.command("mode")
@click.argument("mode", type=Text(CLOCK))
@form("table", "json")
@of_sandbox
def change_mode(
    control: ControlClient,
    mode: str,
    form: str,
) -> None:
    """Change the mode: real, manual, auto, or a rate such as x60."""
    clock = control.call("PUT", "clock", {"mode": mode})
    _show(form, clock)


def _moved(control: ControlClient, move: Mapping[str, Any]) -> Mapping[str, Any]:
    """Move the clock, and return it."""
    return control.call("POST", "clock/advance", move)


def _show(form: str, clock: Mapping[str, Any]) -> None:
    row = {**clock, "mode": mode_of(clock)}
    rows = cells([row], _COLUMNS)
    show(form, clock, _COLUMNS, rows)
