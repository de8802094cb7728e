"""The commands about a sandbox of a running emulator: most send one request to its control plane, and show the answer.

Each command is a table of its verbs, or one row if it has none. The journal has a file of its own: `requests`.
"""

import shlex
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from emulator.cli.arguments import number_or_text
from emulator.cli.errors import REFUSED_VALUES, CommandError, naming_scenario
from emulator.cli.output import BOLD, Style, print_json, print_table, show
from emulator.cli.running_emulator import Verb, add_verbs, take
from emulator.kernel.clock import host_elapsed_ms
from emulator.kernel.printable import printable
from emulator.kernel.timestamps import format_timestamp, parse_duration_ms, parse_timestamp
from emulator.settings import OPTIONS, SettingError, UsageError
from emulator.testing.control import STATE_SECONDS, ZIP, ControlClient, path_step
from emulator.testing.emulator import create_sandbox
from emulator.testing.errors import EmulatorError
from emulator.testing.files import put_in_place, read_state_file
from emulator.testing.given import Given
from emulator.testing.sandbox import DEFAULT_SANDBOX, find_credential, mode_of, use_scenario
from emulator.testing.session_file import saved_sandbox

# The clock ------------------------------------------------------------------------------------------------------------

_SPAN = "a span such as 90s, 250ms, 2m or 1h"
_MOMENT = "a timestamp such as 2026-01-01T00:01:00.000Z"


def clock(parser: ArgumentParser) -> None:
    """Show the clock, move it, or set its mode."""
    mode = "real, manual, auto, or a rate such as x60"
    verbs = {
        "show": Verb("print the time (the default)", _show_clock),
        "advance": Verb("move forward by a span", _advance, {"value VALUE": _SPAN}),
        "to": Verb("move forward to a timestamp", _move_to, {"value VALUE": _MOMENT}),
        "next": Verb("move forward to the next event", partial(_move, {"next_event": True})),
        "idle": Verb(
            "move forward until all work has finished, except what a scenario stalls",
            partial(_move, {"until_idle": True}),
        ),
        "mode": Verb("change the mode", _set_mode, {"value VALUE": mode}),
    }
    add_verbs(parser, verbs)


def _show_clock(control: ControlClient, options: Namespace, style: Style) -> None:
    _print_clock(control.call("GET", "clock"), options, style)


def _set_mode(control: ControlClient, options: Namespace, style: Style) -> None:
    _print_clock(control.call("PUT", "clock", {"mode": options.value}), options, style)


def _move(move: Mapping[str, Any], control: ControlClient, options: Namespace, style: Style) -> None:
    _print_clock(control.call("POST", "clock/advance", move), options, style)


def _advance(control: ControlClient, options: Namespace, style: Style) -> None:
    try:
        seconds = parse_duration_ms(options.value) / 1000
    except ValueError:
        raise SettingError("clock advance", options.value, _SPAN) from None
    _move({"seconds": seconds}, control, options, style)


def _move_to(control: ControlClient, options: Namespace, style: Style) -> None:
    try:
        moment = format_timestamp(parse_timestamp(options.value))
    except ValueError:
        raise SettingError("clock to", options.value, _MOMENT) from None
    _move({"to": moment}, control, options, style)


def _print_clock(shown: Mapping[str, Any], options: Namespace, style: Style) -> None:
    row = (
        shown["now"],
        mode_of(shown),
        *(shown.get(name) for name in ("pending", "next_event_at", "fired", "stalled")),
    )
    show(options, style, shown, ("NOW", "MODE", "PENDING", "NEXT EVENT", "FIRED", "STALLED"), [row])


# Teams and credentials ------------------------------------------------------------------------------------------------

_TEAM_COLUMNS = ("name", "id", "credits", "reserved", "subscription", "concurrency_limit", "requests_per_minute")


def teams(parser: ArgumentParser) -> None:
    """List or change Teams."""
    changes = "credits=5, subscription=inactive, concurrency_limit=1 or requests_per_minute=30"
    change = {"team TEAM": "by name or id", "changes NAME=VALUE ...": changes}
    verbs = {
        "list": Verb("list Teams (the default)", _list_teams),
        "set": Verb("change a Team from now on", _set_team, change),
    }
    add_verbs(parser, verbs)


def _list_teams(control: ControlClient, options: Namespace, style: Style) -> None:
    answer = control.call("GET", "teams")
    _show_teams(answer, answer["data"], options, style)


def _set_team(control: ControlClient, options: Namespace, style: Style) -> None:
    team = control.call("PATCH", f"teams/{path_step(options.team)}", dict(map(_change, options.changes)))
    _show_teams(team, [team], options, style)


def _show_teams(answer: Any, listed: Sequence[Mapping[str, Any]], options: Namespace, style: Style) -> None:
    headers = [name.replace("_", " ").upper() for name in _TEAM_COLUMNS]
    show(options, style, answer, headers, ([team.get(name) for name in _TEAM_COLUMNS] for team in listed))


def _change(text: str) -> tuple[str, Any]:
    """Read `credits=5`; the emulator checks name and value. Raises SettingError."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise SettingError("teams set", text, "NAME=VALUE, such as credits=5")
    return name, number_or_text(value)


def credentials(parser: ArgumentParser) -> None:
    """List, revoke or restore credentials."""
    key = {"key KEY": "the sandbox's form of a key, or the world's"}
    revoke, restore = partial(_set_state, "revoked"), partial(_set_state, "active")
    verbs = {
        "list": Verb("list the credentials of all Teams (the default)", _list_credentials),
        "revoke": Verb("revoke a credential: its next request is refused", revoke, key),
        "restore": Verb("make a revoked credential active again", restore, key),
    }
    add_verbs(parser, verbs)


def _list_credentials(control: ControlClient, options: Namespace, style: Style) -> None:
    answer = control.call("GET", "teams")
    rows = (
        [team["name"], one["key"], one["profile"], one["state"], one["expires_at"]]
        for team in answer["data"]
        for one in team["credentials"]
    )
    show(options, style, answer, ("TEAM", "KEY", "PROFILE", "STATE", "EXPIRES AT"), rows)


def _set_state(state: str, control: ControlClient, options: Namespace, _style: Style) -> None:
    credential = find_credential(control, control.sandbox or DEFAULT_SANDBOX, options.key)
    answer = control.call("PATCH", f"credentials/{credential['id']}", {"state": state})
    if options.format == "json":
        print_json(answer)
    else:
        print(f"{printable(answer['key'])} is {answer['state']}")


# The scenario ---------------------------------------------------------------------------------------------------------


def scenario(parser: ArgumentParser) -> None:
    """Show, replace or end the running scenario."""
    team = {"--team TEAM": "for one Team only, by name or id"}
    named = {"scenario NAME|FILE": "a scenario of the library, or a YAML file", **team}
    verbs = {
        "show": Verb("show the running scenario (the default)", _show_scenario, team),
        "use": Verb("run a scenario from now on", _use_scenario, named, formats=()),
        "off": Verb("end the running scenario", _end_scenario, team, formats=()),
    }
    add_verbs(parser, verbs)


def _use_scenario(control: ControlClient, options: Namespace, _style: Style) -> None:
    with naming_scenario(options.scenario):
        shown = use_scenario(control, options.scenario, options.team)
    print(f"using {options.scenario}{_for(options.team)}")
    for warning in shown["warnings"]:
        print(printable(f"warning: {warning}"))
    if shown["takes_effect_at_reset"]:
        print(f"from the next reset on: its {', '.join(shown['takes_effect_at_reset'])}")


def _end_scenario(control: ControlClient, options: Namespace, _style: Style) -> None:
    control.call("DELETE", "scenario", query={"team": options.team})
    print(f"off{_for(options.team)}")
    if options.team is None:
        _print_those_of_teams(control.call("GET", "scenario"))


def _show_scenario(control: ControlClient, options: Namespace, style: Style) -> None:
    shown = control.call("GET", "scenario", query={"team": options.team})
    if options.format == "json":
        print_json(shown)
        return
    if shown["scenario"] is None:
        print(f"none{_for(options.team)}")
    else:
        print(style(printable(shown["scenario"]), BOLD), f"since {shown['began_at']}{_for(options.team)}")
        print(printable(" ".join((shown["description"] or "").split())))
        if shown["rules"]:
            rules = ((rule["name"], rule["matched"], rule["fired"]) for rule in shown["rules"])
            print_table(("RULE", "MATCHED", "FIRED"), rules, style)
        if shown["timeline"]:
            changes = ((_when(entry), _words(entry["set"]), entry["done_at"]) for entry in shown["timeline"])
            print_table(("AT", "SETS", "DONE AT"), changes, style)
    if options.team is None:
        _print_those_of_teams(shown)


def _for(team: str | None) -> str:
    return "" if team is None else printable(f" for the Team {team}")


def _print_those_of_teams(shown: Mapping[str, Any]) -> None:
    for own in shown["team_scenarios"]:
        print(printable(f"the Team {own['team']['name']} has one of its own: {own['scenario']}"))


def _when(entry: Mapping[str, Any]) -> str:
    """Say when a change is made: at a time, or after a request."""
    if "after" not in entry:
        return str(entry["at"])
    return f"after {_words({**entry['after']['match'], 'nth': entry['after']['nth']})}"


def _words(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {' or '.join(v) if isinstance(v, list) else v}" for name, v in facts.items())


# Sandboxes ------------------------------------------------------------------------------------------------------------

_SANDBOX_OPTIONS = ("clock", "seed", "start", "world", "scenario", "rate_limits", "evolution", "readings")
"""The options of `serve` that a sandbox has for itself."""


def sandboxes(parser: ArgumentParser) -> None:
    """List, create or delete sandboxes."""
    own = {f"{option.flag} {option.kind.placeholder}": option for option in OPTIONS if option.field in _SANDBOX_OPTIONS}
    begin = {
        "id ID ?": "1 to 40 of a-z, 0-9 and hyphens (default: a free one)",
        **{name: option.description for name, option in own.items()},
    }
    create = "create a sandbox; options that are not given are those of the server"
    one = {"--sandbox ID": "show this one alone"}
    verbs = {
        "list": Verb("list sandboxes (the default)", _list_sandboxes, one),
        "create": Verb(create, _create_sandbox, begin, ("table", "json", "env")),
        "delete": Verb("delete a sandbox with all that it holds", _delete_sandbox, {"id ID": "which"}, formats=()),
    }
    add_verbs(parser, verbs, with_sandbox=False)


def _list_sandboxes(control: ControlClient, options: Namespace, style: Style) -> None:
    path = f"sandboxes/{path_step(options.sandbox)}" if options.sandbox else "sandboxes"
    found = control.of(None).call("GET", path)
    _show_sandboxes(found, found.get("data", [found]), options, style)


def _create_sandbox(control: ControlClient, options: Namespace, style: Style) -> None:
    begin = {name: vars(options)[name] for name in ("id", *_SANDBOX_OPTIONS)}
    if options.seed is not None:
        begin["seed"] = number_or_text(options.seed)
    with naming_scenario(options.scenario):
        made = create_sandbox(control, begin)
    if options.format == "env":
        for name, value in made["env"].items():
            print(f"{name}={shlex.quote(value)}")
    else:
        _show_sandboxes(made, [made], options, style)


def _delete_sandbox(control: ControlClient, options: Namespace, _style: Style) -> None:
    control.of(None).call("DELETE", f"sandboxes/{path_step(options.id)}")
    print(f"deleted {options.id}")


def _show_sandboxes(answer: Any, listed: Sequence[Mapping[str, Any]], options: Namespace, style: Style) -> None:
    rows = []
    for sandbox in listed:
        keys = [credential["key"] for team in sandbox["teams"] for credential in team["credentials"]]
        shown = ", ".join([*keys[:1], *([f"and {len(keys) - 1} more"] if len(keys) > 1 else [])])
        rows.append((sandbox["id"], sandbox["base_url"], mode_of(sandbox["clock"]), sandbox["clock"]["now"], shown))
    show(options, style, answer, ("ID", "BASE URL", "CLOCK", "NOW", "KEYS"), rows)


# All of a sandbox -----------------------------------------------------------------------------------------------------


def reset(parser: ArgumentParser) -> None:
    """Reset a sandbox."""
    take(parser, Verb("", _reset, formats=()))


def _reset(control: ControlClient, _options: Namespace, _style: Style) -> None:
    control.call("POST", "reset")
    print("reset")


def seed(parser: ArgumentParser) -> None:
    """Make what a file lists in a sandbox, before clients come."""
    parser.epilog = "FILE: given: [{product: {name: Linen shirt, photos: 2}}, {photoshoot: {products: [Linen shirt]}}]"
    team = "whose it will be, by name or id (default: the first Team)"
    take(parser, Verb("", _seed, {"file FILE": "what to make, as YAML or JSON", "--team TEAM": team}))


def _seed(control: ControlClient, options: Namespace, style: Style) -> None:
    made = Given(control).file(options.file, team=options.team)
    rows = [(one["object"].replace("_", " "), one["id"], one.get("name") or one.get("status")) for one in made]
    show(options, style, {"data": made}, ("KIND", "ID", "NAME"), rows)


def state(parser: ArgumentParser) -> None:
    """Save a sandbox as a file, or load one."""
    save = "save a sandbox to a state file, or as a session for the page to FILE.json"
    verbs = {
        "save": Verb(save, _save, {"file FILE": "what to write"}, formats=()),
        "load": Verb("replace a sandbox by what a state file holds", _load, {"file FILE": "what to read"}, formats=()),
    }
    add_verbs(parser, verbs)


def _save(control: ControlClient, options: Namespace, _style: Style) -> None:
    content = saved_sandbox(control, options.file)
    put_in_place(options.file, content)
    print(f"saved {options.file} ({len(content)} bytes)")


def _load(control: ControlClient, options: Namespace, _style: Style) -> None:
    content = read_state_file(options.file)
    try:
        control.exchange("PUT", "state", content, ZIP, seconds=STATE_SECONDS)
    except EmulatorError as error:
        if error.status in REFUSED_VALUES:  # the control plane knows the file as the body
            raise UsageError(f"{options.file}: {error.detail.removeprefix('(body): ')}") from error
        raise
    print(f"loaded {options.file}")


# Waiting for one ------------------------------------------------------------------------------------------------------

_POLL_MS = 50


def wait(parser: ArgumentParser) -> None:
    """Return when an emulator is ready, or has a sandbox."""
    arguments = {
        "--timeout SECONDS": "seconds before it gives up (default: 30)",
        "--sandbox ID": "until it has this sandbox (default: until it is ready)",
    }
    take(parser, Verb("", _wait, arguments, formats=()), with_sandbox=False)
    parser.set_defaults(timeout="30")


def _wait(control: ControlClient, options: Namespace, _style: Style) -> None:
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
                raise CommandError(f"no emulator is ready after {timeout_ms / 1000:g} s: {error}") from None
        time.sleep(_POLL_MS / 1000)  # noqa: TID251 (another process starts meanwhile, in real time)
