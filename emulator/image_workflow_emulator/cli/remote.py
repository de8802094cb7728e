"""The commands about a sandbox of a running emulator: most send one request to its control plane, and show the answer.

`requests` and `scenario` have files of their own.
"""

import json
import re
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from image_workflow_emulator.cli.failures import REFUSED_VALUES, naming_scenario
from image_workflow_emulator.cli.invocation import Invocation, print_json
from image_workflow_emulator.cli.table import MOMENT, OF_SANDBOX, SPAN
from image_workflow_emulator.documents.yaml_reader import MAX_BYTES
from image_workflow_emulator.kernel.clock import host_elapsed_ms
from image_workflow_emulator.kernel.printable import printable
from image_workflow_emulator.kernel.timestamps import format_timestamp, parse_duration_ms, parse_timestamp
from image_workflow_emulator.kernel.wording import first_of
from image_workflow_emulator.settings import CommandError, SettingError, UsageError
from image_workflow_emulator.testing.control_client import STATE_SECONDS, YAML, ZIP, mode_of, path_step
from image_workflow_emulator.testing.errors import EmulatorError
from image_workflow_emulator.testing.options import put_in_place, read_file, read_state_file

# The clock ------------------------------------------------------------------------------------------------------------


def clock(call: Invocation) -> None:
    """Show the clock, move it, or change its mode."""
    verb, control = call.options.verb, call.control
    match verb:
        case "show":
            shown = control.call("GET", "clock")
        case "mode":
            shown = control.call("PUT", "clock", {"mode": call.options.value})
        case _:
            shown = control.call("POST", "clock/advance", _move(verb, vars(call.options).get("value", "")))
    columns = {
        "NOW": shown["now"],
        "NEXT EVENT": shown["next_event_at"],
        "MODE": mode_of(shown),
        "PENDING": shown["pending"],
    }
    columns |= {name.upper(): shown[name] for name in ("fired", "stalled") if shown.get(name) is not None}
    call.show(shown, list(columns), [list(columns.values())])


def _move(verb: str, value: str) -> dict[str, Any]:
    """Return how far a clock is to be moved. Raises SettingError."""
    try:
        match verb:
            case "next":
                return {"next_event": True}
            case "idle":
                return {"until_idle": True}
            case "to":
                return {"to": format_timestamp(parse_timestamp(value))}
            case _:
                return {"seconds": parse_duration_ms(value) / 1000}
    except ValueError:
        raise SettingError(f"clock {verb}", value, MOMENT if verb == "to" else SPAN) from None


# Teams and credentials ------------------------------------------------------------------------------------------------

_TEAM_COLUMNS = ("name", "credits", "reserved", "subscription", "concurrency_limit", "requests_per_minute", "id")


def teams(call: Invocation) -> None:
    """List Teams, or change one."""
    if call.options.verb == "list":
        answer = call.control.call("GET", "teams")
        listed = answer["data"]
    else:
        changes = dict(map(_change, call.options.changes))
        answer = call.control.call("PATCH", f"teams/{path_step(call.options.team)}", changes)
        listed = [answer]
    headers = [name.replace("_", " ").upper() for name in _TEAM_COLUMNS]
    call.show(answer, headers, ([team.get(name) for name in _TEAM_COLUMNS] for team in listed))


def _change(text: str) -> tuple[str, Any]:
    """Read `credits=5`; the emulator checks name and value. Raises SettingError."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise SettingError("teams set", text, "NAME=VALUE, such as credits=5")
    return name, _number_or_text(value)


def _number_or_text(text: str) -> int | str:
    """Return a whole number as one, and anything else as it is: the emulator says what is wrong with it."""
    return int(text) if re.fullmatch("-?[0-9]{1,19}", text) else text


def credentials_list(call: Invocation) -> None:
    """List the credentials of all Teams."""
    answer, columns = call.control.call("GET", "teams"), ("key", "profile", "state", "expires_at")
    rows = ((team["name"], *(one[name] for name in columns)) for team in answer["data"] for one in team["credentials"])
    call.show(answer, ("TEAM", "KEY", "PROFILE", "STATE", "EXPIRES AT"), rows)


def credentials_set(call: Invocation) -> None:
    """Revoke a credential, or make it active again."""
    state = {"revoke": "revoked", "restore": "active"}[call.options.verb]
    credential = call.control.credential(call.options.key)
    answer = call.control.call("PATCH", f"credentials/{credential['id']}", {"state": state})
    if call.options.format == "json":
        print_json(answer)
    else:
        print(f"{printable(answer['key'])} is {answer['state']}")


# Sandboxes ------------------------------------------------------------------------------------------------------------


def sandboxes_list(call: Invocation) -> None:
    """List sandboxes, or show one."""
    named = call.options.sandbox
    found = call.control.of(None).call("GET", f"sandboxes/{path_step(named)}" if named else "sandboxes")
    _show_sandboxes(call, found, found.get("data", [found]))


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
        _show_sandboxes(call, made, [made])


def sandboxes_delete(call: Invocation) -> None:
    """Delete a sandbox with all that it holds."""
    call.control.of(None).call("DELETE", f"sandboxes/{path_step(call.options.id)}")
    print(f"deleted {call.options.id}")


def _show_sandboxes(call: Invocation, answer: Any, listed: Sequence[Mapping[str, Any]]) -> None:
    rows = []
    for sandbox in listed:
        keys = [credential["key"] for team in sandbox["teams"] for credential in team["credentials"]]
        clock = sandbox["clock"]
        rows.append((sandbox["id"], sandbox["base_url"], mode_of(clock), clock["now"], first_of(keys, 1)))
    call.show(answer, ("ID", "BASE URL", "CLOCK", "NOW", "KEYS"), rows)


# All of a sandbox -----------------------------------------------------------------------------------------------------


def reset(call: Invocation) -> None:
    """Reset a sandbox."""
    call.control.call("POST", "reset")
    print("reset")


def given(call: Invocation) -> None:
    """Make what a file lists in a sandbox, before clients come."""
    file, query = call.options.file, {"file": call.options.file, "team": call.options.team}
    content = sys.stdin.buffer.read(MAX_BYTES + 1) if file == "-" else read_file(file)
    made = json.loads(call.control.exchange("POST", "given", content, YAML, query=query, seconds=STATE_SECONDS))["data"]
    rows = [(one["object"].replace("_", " "), one["id"], one.get("name") or one.get("status")) for one in made]
    call.show({"data": made}, ("KIND", "ID", "NAME"), rows)


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

_POLL_MS = 50


def wait(call: Invocation) -> None:
    """Return when an emulator is ready, or has a sandbox."""
    options, control = call.options, call.control
    try:
        timeout_ms = parse_duration_ms(options.timeout)
    except ValueError:
        raise SettingError("--timeout", options.timeout, "seconds, such as 30 or 0.5") from None
    deadline = host_elapsed_ms() + timeout_ms
    while True:
        try:
            control.health(max(deadline - host_elapsed_ms(), _POLL_MS) / 1000)
            if options.sandbox is not None:
                control.of(None).call("GET", f"sandboxes/{path_step(options.sandbox)}")
            return
        except EmulatorError as error:
            if host_elapsed_ms() + _POLL_MS >= deadline:
                raise CommandError(f"no emulator is ready after {timeout_ms / 1000:g} s: {error.detail}") from None
        time.sleep(_POLL_MS / 1000)  # noqa: TID251 (another process starts meanwhile, in real time)
