"""The commands about a running emulator: most are a row, of one request to its control plane and what is shown of the answer.

`requests` and `scenario` have files of their own.
"""

import json
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from image_workflow_emulator.cli.invocation import Invocation, print_json
from image_workflow_emulator.cli.main import REFUSED_VALUES
from image_workflow_emulator.cli.table import MOMENT, OF_SANDBOX, SPAN
from image_workflow_emulator.documents.yaml_reader import MAX_BYTES
from image_workflow_emulator.kernel.clock import host_elapsed_ms
from image_workflow_emulator.kernel.printable import printable
from image_workflow_emulator.kernel.timestamps import format_timestamp, parse_duration_ms, parse_timestamp
from image_workflow_emulator.kernel.wording import first_of
from image_workflow_emulator.scenario.named_files import scenario_file
from image_workflow_emulator.settings import CommandError, SettingError, UsageError
from image_workflow_emulator.testing.control_client import STATE_SECONDS, YAML, ZIP, mode_of, path_step
from image_workflow_emulator.testing.errors import EmulatorError
from image_workflow_emulator.testing.options import put_in_place, read_file, read_state_file

# What is asked ------------------------------------------------------------------------------------------------------------


class _Ask(NamedTuple):
    """A request: its path may name options, its body is made of them."""

    method: str
    path: str
    body: Callable[[Any], Mapping[str, Any]] | None = None
    done: str = ""
    """What is printed instead of a table. It may name options, and members of the answer."""


_ASKED: Final[Mapping[str, _Ask]] = {
    "clock show": _Ask("GET", "clock"),
    "clock advance": _Ask(
        "POST", "clock/advance", lambda given: {"seconds": _seconds(given.command, given.value, SPAN)}
    ),
    "clock to": _Ask("POST", "clock/advance", lambda given: {"to": _timestamp(given.command, given.value)}),
    "clock next": _Ask("POST", "clock/advance", lambda _: {"next_event": True}),
    "clock idle": _Ask("POST", "clock/advance", lambda _: {"until_idle": True}),
    "clock mode": _Ask("PUT", "clock", lambda given: {"mode": given.value}),
    "teams list": _Ask("GET", "teams"),
    "teams set": _Ask("PATCH", "teams/{team}", lambda given: dict(map(_change, given.changes))),
    "credentials list": _Ask("GET", "teams"),
    "credentials revoke": _Ask("PATCH", "credentials/{id}", lambda _: {"state": "revoked"}, "{key} is revoked"),
    "credentials restore": _Ask("PATCH", "credentials/{id}", lambda _: {"state": "active"}, "{key} is active"),
    "sandboxes list": _Ask("GET", "sandboxes/{sandbox}"),
    "sandboxes delete": _Ask("DELETE", "sandboxes/{id}", done="deleted {id}"),
    "requests clear": _Ask("DELETE", "requests", done="cleared"),
    "reset": _Ask("POST", "reset", done="reset"),
}


def ask(call: Invocation) -> None:
    """Send the request of a command, and show the answer."""
    asked, given = _ASKED[call.options.command], vars(call.options)
    control = call.control.of(None) if asked.path.startswith("sandboxes") else call.control
    if "key" in given:
        given = {**given, **control.credential(given["key"])}
    path = asked.path.format_map({name: path_step(str(value or "")) for name, value in given.items()}).rstrip("/")
    answer = control.call(asked.method, path, asked.body and asked.body(call.options))
    if not asked.done:
        _show(call, answer)
    elif given.get("format") == "json":
        print_json(answer)
    else:
        print(printable(asked.done.format_map(given)))


def _seconds(name: str, text: str, expected: str) -> float:
    try:
        return parse_duration_ms(text) / 1000
    except ValueError:
        raise SettingError(name, text, expected) from None


def _timestamp(name: str, text: str) -> str:
    try:
        return format_timestamp(parse_timestamp(text))
    except ValueError:
        raise SettingError(name, text, MOMENT) from None


def _change(text: str) -> tuple[str, Any]:
    """Read `credits=5`; the emulator checks name and value. Raises SettingError."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise SettingError("teams set", text, "NAME=VALUE, such as credits=5")
    return name, _number_or_text(value)


def _number_or_text(text: str) -> int | str:
    """Return a whole number as one, and anything else as it is: the emulator says what is wrong with it."""
    return int(text) if re.fullmatch("-?[0-9]{1,19}", text) else text


# What is shown ------------------------------------------------------------------------------------------------------------

_COLUMNS: Final = {
    "clock": ("now", "next_event_at", "mode", "pending", "fired", "stalled"),
    "teams": ("name", "credits", "reserved", "subscription", "concurrency_limit", "requests_per_minute", "id"),
    "credentials": ("team", "key", "profile", "state", "expires_at"),
    "sandboxes": ("id", "base_url", "clock", "now", "keys"),
    "given": ("object", "id", "name"),
}


def _show(call: Invocation, answer: Any) -> None:
    """Show an answer: a thing, or a list of things."""
    noun = call.options.command.partition(" ")[0]
    rows = (row for thing in answer.get("data", [answer]) for row in _rows(noun, thing))
    call.show(answer, _COLUMNS[noun], ([row.get(name) for name in _COLUMNS[noun]] for row in rows))


def _rows(noun: str, thing: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """Return the rows of a thing, with what its JSON has not."""
    match noun:
        case "clock":
            return [{**thing, "mode": mode_of(thing)}]
        case "credentials":
            return [{"team": thing["name"], **credential} for credential in thing["credentials"]]
        case "sandboxes":
            keys = first_of((one["key"] for team in thing["teams"] for one in team["credentials"]), 1)
            return [{**thing, "clock": mode_of(thing["clock"]), "now": thing["clock"]["now"], "keys": keys}]
        case "given":
            return [
                {**thing, "object": thing["object"].replace("_", " "), "name": thing.get("name") or thing.get("status")}
            ]
        case _:
            return [thing]


# Files --------------------------------------------------------------------------------------------------------------------


def sandboxes_create(call: Invocation) -> None:
    """Create a sandbox."""
    begin = {name: getattr(call.options, name) for name in ("id", *OF_SANDBOX)}
    if begin["seed"] is not None:
        begin["seed"] = _number_or_text(begin["seed"])
    with naming_scenario(begin["scenario"]):
        made = call.control.create_sandbox(begin)
    if call.options.format == "env":
        for name, value in made["env"].items():
            print(f"{name}={shlex.quote(value)}")
    else:
        _show(call, made)


@contextmanager
def naming_scenario(scenario: str | None) -> Iterator[None]:
    """Report a name that the library of the running emulator does not have. Raises CommandError."""
    try:
        yield
    except EmulatorError as error:
        if error.code == "invalid_scenario" and scenario is not None and scenario_file(scenario) is None:
            raise CommandError(error.detail) from None
        raise


def given(call: Invocation) -> None:
    """Make what a file lists in a sandbox, before clients come."""
    file, query = call.options.file, {"file": call.options.file, "team": call.options.team}
    content = sys.stdin.buffer.read(MAX_BYTES + 1) if file == "-" else read_file(file)
    _show(call, json.loads(call.control.exchange("POST", "given", content, YAML, query=query, seconds=STATE_SECONDS)))


def state_save(call: Invocation) -> None:
    """Save a sandbox as a file."""
    from image_workflow_emulator.testing.session_file import saved_sandbox

    content = saved_sandbox(call.control, call.options.file)
    put_in_place(call.options.file, content)
    print(f"saved {call.options.file} ({len(content)} bytes)")


def state_load(call: Invocation) -> None:
    """Replace a sandbox by what a state file holds."""
    file = call.options.file
    try:
        call.control.exchange("PUT", "state", read_state_file(file), ZIP, seconds=STATE_SECONDS)
    except EmulatorError as error:
        if error.status in REFUSED_VALUES:  # the control plane knows the file as the body
            raise UsageError(f"{file}: {error.detail.removeprefix('(body): ')}") from error
        raise
    print(f"loaded {file}")


# Waiting for one ------------------------------------------------------------------------------------------------------

_POLL_SECONDS = 0.05


def wait(call: Invocation) -> None:
    """Return when an emulator is ready, or has a sandbox."""
    options, control = call.options, call.control.of(None)
    patience_seconds = _seconds("--timeout", options.timeout, "seconds, such as 30 or 0.5")
    deadline = host_elapsed_ms() / 1000 + patience_seconds
    while True:
        left_seconds = deadline - host_elapsed_ms() / 1000
        try:
            control.health(max(left_seconds, _POLL_SECONDS))
            if options.sandbox is not None:
                control.call("GET", f"sandboxes/{path_step(options.sandbox)}")
            return
        except EmulatorError as error:
            if left_seconds <= _POLL_SECONDS:
                raise CommandError(f"no emulator is ready after {patience_seconds:g} s: {error.detail}") from None
        time.sleep(_POLL_SECONDS)  # noqa: TID251 (another process starts meanwhile, in real time)
