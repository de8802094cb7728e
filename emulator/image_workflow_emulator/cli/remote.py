"""The commands about a running emulator: most are a row, of one request to its control plane and what is shown of the
answer.
"""

import json
import re
import shlex
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from msgspec import convert, to_builtins

from image_workflow_emulator import DEFAULT_URL
from image_workflow_emulator.cli.main import REFUSED_VALUES
from image_workflow_emulator.cli.output import print_json, print_table, show
from image_workflow_emulator.cli.table import MOMENT, OF_SANDBOX, SPAN
from image_workflow_emulator.client import control_client as client
from image_workflow_emulator.client.control_client import MAX_REQUESTS, ControlClient
from image_workflow_emulator.client.local_files import EmulatorError, read_file, read_state_file, write_file
from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.documents.document import MAX_BYTES
from image_workflow_emulator.kernel.clock import host_elapsed_ms
from image_workflow_emulator.kernel.seed import without_signature
from image_workflow_emulator.kernel.timestamps import format_timestamp, parse_duration_ms, parse_timestamp
from image_workflow_emulator.kernel.wording import count_of, first_of, printable, printable_lines
from image_workflow_emulator.report import ReportFinding
from image_workflow_emulator.scenario.named_files import scenario_file
from image_workflow_emulator.settings import CommandError, SettingError, UsageError, local_url, read_settings


def control_client(options: Namespace, environment: Mapping[str, str]) -> client.ControlClient:
    """Return the client of the control plane that a command addresses. Raises SettingError."""
    given = vars(options)
    name, url = ("--url", given["url"]) if given["url"] else ("EMULATOR_URL", environment.get("EMULATOR_URL"))
    if not url:
        served = read_settings({}, {name: environment.get(name, "") for name in ("EMULATOR_HOST", "EMULATOR_PORT")})
        name, url = "EMULATOR_HOST", local_url(served.host, served.port)
    try:
        address = client.emulator_address(url)
    except ValueError:
        raise SettingError(name, url, f"the address of a running emulator, such as {DEFAULT_URL}") from None
    token = given["control_token"] or environment.get("EMULATOR_CONTROL_TOKEN") or None
    return client.ControlClient(address, token, given.get("sandbox") or environment.get("EMULATOR_SANDBOX"))


# One request ----------------------------------------------------------------------------------------------------------


class _Ask(NamedTuple):
    """A request: its path may name options, its body is made of them."""

    method: str
    path: str
    body: Callable[[Any], Mapping[str, Any]] | None = None
    done: str = ""
    """What is printed instead of a table. It may name options, and members of the answer."""


_ASKED: Final[Mapping[str, _Ask]] = {
    "clock show": _Ask("GET", "clock"),
    "clock advance": _Ask("POST", "clock/advance", lambda given: {"seconds": _span_ms(given.value) / 1000}),
    "clock to": _Ask("POST", "clock/advance", lambda given: {"to": format_timestamp(_moment(given.value))}),
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


def ask(options: Namespace, environment: Mapping[str, str]) -> None:
    """Send the request of a command, and show the answer."""
    asked, given, control = _ASKED[options.command], vars(options), control_client(options, environment)
    if "key" in given:
        given = {**given, **control.credential(given["key"])}
    if asked.path.startswith("sandboxes"):
        control = control.of(None)
    steps = {name: client.path_step(str(value or "")) for name, value in given.items()}
    answer = control.call(asked.method, asked.path.format_map(steps).rstrip("/"), asked.body and asked.body(options))
    if not asked.done:
        _show(options, answer)
    elif given.get("format") == "json":
        print_json(answer)
    else:
        print(printable(asked.done.format_map(given)))


def _span_ms(text: str) -> int:
    return _read("clock advance", text, parse_duration_ms, SPAN)


def _moment(text: str) -> int:
    return _read("clock to", text, parse_timestamp, MOMENT)


def _read(name: str, text: str, parse: Callable[[str], int], expected: str) -> int:
    try:
        return parse(text)
    except ValueError:
        raise SettingError(name, text, expected) from None


def _change(text: str) -> tuple[str, Any]:
    """Read `credits=5`; the emulator checks name and value. Raises SettingError."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise SettingError("teams set", text, "NAME=VALUE, such as credits=5")
    return name, _number_or_text(value)


def _number_or_text(text: str) -> int | str:
    """Return a whole number as one, and anything else as it is: the emulator says what is wrong with it."""
    return int(text) if re.fullmatch("-?[0-9]{1,19}", text) else text


_COLUMNS: Final = {
    "clock": ("now", "next_event_at", "mode", "pending", "fired", "stalled"),
    "teams": ("name", "credits", "reserved", "subscription", "concurrency_limit", "requests_per_minute", "id"),
    "credentials": ("team", "key", "profile", "state", "expires_at"),
    "sandboxes": ("id", "base_url", "clock", "now", "keys"),
    "given": ("kind", "id", "name"),
    "requests": ("#", "time", "status", "request", "duration", "team"),
}


def _show(options: Namespace, answer: Any) -> None:
    """Show an answer: a thing, or a list of things."""
    noun = options.command.partition(" ")[0]
    rows = (row for thing in answer.get("data", [answer]) for row in _rows(noun, thing))
    show(options, answer, _COLUMNS[noun], ([row.get(name) for name in _COLUMNS[noun]] for row in rows))


def _rows(noun: str, thing: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Iterate over the rows of a thing, with what its JSON has not."""
    match noun:
        case "clock":
            yield {**thing, "mode": client.mode_of(thing)}
        case "credentials":
            yield from ({"team": thing["name"], **credential} for credential in thing["credentials"])
        case "sandboxes":
            keys = first_of((one["key"] for team in thing["teams"] for one in team["credentials"]), 1)
            yield {**thing, "clock": client.mode_of(thing["clock"]), "now": thing["clock"]["now"], "keys": keys}
        case "given":
            yield {**thing, "kind": thing["object"].replace("_", " "), "name": thing.get("name") or thing.get("status")}
        case _:
            yield thing


# Scenarios ------------------------------------------------------------------------------------------------------------


def scenario_use(options: Namespace, environment: Mapping[str, str]) -> None:
    """Run a scenario from now on."""
    with _naming_scenario(options.scenario):
        shown = control_client(options, environment).use_scenario(options.scenario, options.team)
    print(f"using {options.scenario}{_for(options.team)}")
    if shown["takes_effect_at_reset"]:
        print(f"from the next reset on: its {', '.join(shown['takes_effect_at_reset'])}")


def scenario_off(options: Namespace, environment: Mapping[str, str]) -> None:
    """End the running scenario."""
    control = control_client(options, environment)
    control.call("DELETE", "scenario", query={"team": options.team})
    print(f"off{_for(options.team)}")
    if options.team is None:
        _print_those_of_teams(control.call("GET", "scenario"))


def scenario_status(options: Namespace, environment: Mapping[str, str]) -> None:
    """Show the running scenario."""
    shown = control_client(options, environment).call("GET", "scenario", query={"team": options.team})
    if options.format == "json":
        print_json(shown)
        return
    if shown["scenario"] is None:
        print(f"none{_for(options.team)}")
    else:
        print(printable(f"{shown['scenario']} since {shown['began_at']}{_for(options.team)}"))
        print(printable(" ".join((shown["description"] or "").split())))
        rules = [(rule["name"], rule["matched"], rule["fired"]) for rule in shown["rules"]]
        changes = [(_when(change), _words(change["set"]), change["done_at"]) for change in shown["timeline"]]
        for columns, rows in ((("rule", "matched", "fired"), rules), (("at", "sets", "done_at"), changes)):
            if rows:
                print_table(columns, rows)
    if options.team is None:
        _print_those_of_teams(shown)


def _for(team: str | None) -> str:
    return "" if team is None else printable(f" for the Team {team}")


def _print_those_of_teams(shown: Mapping[str, Any]) -> None:
    for own in shown["team_scenarios"]:
        print(printable(f"the Team {own['team']['name']} has one of its own: {own['scenario']}"))


def _when(change: Mapping[str, Any]) -> str:
    """Say when a change is made: at a time, or after a request."""
    after = change.get("after")
    return f"after {_words({**after['match'], 'nth': after['nth']})}" if after else str(change["at"])


def _words(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {' or '.join(v) if isinstance(v, list) else v}" for name, v in facts.items())


@contextmanager
def _naming_scenario(scenario: str | None) -> Iterator[None]:
    """Report a name that the library of the running emulator does not have. Raises CommandError."""
    try:
        yield
    except EmulatorError as error:
        if error.code == "invalid_scenario" and scenario is not None and scenario_file(scenario) is None:
            raise CommandError(error.detail) from None
        raise


# Files ----------------------------------------------------------------------------------------------------------------


def sandboxes_create(options: Namespace, environment: Mapping[str, str]) -> None:
    """Create a sandbox."""
    begin = {name: getattr(options, name) for name in ("id", *OF_SANDBOX)}
    if begin["seed"] is not None:
        begin["seed"] = _number_or_text(begin["seed"])
    with _naming_scenario(begin["scenario"]):
        made = control_client(options, environment).create_sandbox(begin)
    if options.format == "env":
        print("\n".join(f"{name}={shlex.quote(value)}" for name, value in made["env"].items()))
    else:
        _show(options, made)


def given(options: Namespace, environment: Mapping[str, str]) -> None:
    """Make what a file lists in a sandbox, before clients come."""
    file, query = options.file, {"file": options.file, "team": options.team}
    content = sys.stdin.buffer.read(MAX_BYTES + 1) if file == "-" else read_file(file)
    control, seconds = control_client(options, environment), client.STATE_SECONDS
    _show(options, json.loads(control.exchange("POST", "given", content, client.YAML, query=query, seconds=seconds)))


def state_save(options: Namespace, environment: Mapping[str, str]) -> None:
    """Save a sandbox as a file."""
    from image_workflow_emulator.client.exports import saved_sandbox

    content = saved_sandbox(control_client(options, environment), options.file)
    write_file(options.file, content)
    print(f"saved {options.file} ({len(content)} bytes)")


def state_load(options: Namespace, environment: Mapping[str, str]) -> None:
    """Replace a sandbox by what a state file holds."""
    control, content = control_client(options, environment), read_state_file(options.file)
    try:
        control.exchange("PUT", "state", content, client.ZIP, seconds=client.STATE_SECONDS)
    except EmulatorError as error:
        if error.status in REFUSED_VALUES:  # the control plane knows the file as the body
            raise UsageError(f"{options.file}: {error.detail.removeprefix('(body): ')}") from error
        raise
    print(f"loaded {options.file}")


# Waiting for one ------------------------------------------------------------------------------------------------------

_POLL_MS: Final = 50


def wait(options: Namespace, environment: Mapping[str, str]) -> None:
    """Return when an emulator is ready, or has a sandbox."""
    control = control_client(options, environment).of(None)
    patience_ms = _read("--timeout", options.timeout, parse_duration_ms, "seconds, such as 30 or 0.5")
    deadline = host_elapsed_ms() + patience_ms
    while True:
        left_ms = deadline - host_elapsed_ms()
        try:
            control.of(None).call("GET", "health", seconds=max(left_ms, _POLL_MS) / 1000)
            if options.sandbox is not None:
                control.call("GET", f"sandboxes/{client.path_step(options.sandbox)}")
            return
        except EmulatorError as error:
            if left_ms <= _POLL_MS:
                raise CommandError(f"no emulator is ready after {patience_ms / 1000:g} s: {error.detail}") from None
        time.sleep(_POLL_MS / 1000)  # noqa: TID251 (another process starts meanwhile, in real time)


# Requests -------------------------------------------------------------------------------------------------------------


POLL_SECONDS: Final = 0.2
"""How often `--follow` asks for what has been answered since."""
NONE: Final = "none"
"""Selects the requests that have no operation, status or code."""
_FILTERS: Final = ("operation", "status", "code", "team", "limit")
_MARKS: Final = {"passed": "✓", "decided": "✗"}
_NAMES: Final = ("request_id", "query", "idempotency_key", "content_type", "emulator_fault", "user_agent", "note")


def requests_list(options: Namespace, environment: Mapping[str, str]) -> None:
    """List recorded requests, or follow them."""
    control = control_client(options, environment)
    query = {name: getattr(options, name) for name in _FILTERS if getattr(options, name) is not None}
    if options.follow:
        if options.format == "har":
            raise UsageError("--follow: found --format har, expected table or json: a HAR file has an end")
        for entry in _answered(control, query):
            as_json = json.dumps(entry, ensure_ascii=False)
            line = printable(as_json) if options.format == "json" else str(convert(entry, RecordedRequest))
            print(line, flush=True)
    answer = control.call("GET", "requests", query=query)
    entries = list(reversed(answer["data"]))
    if options.format == "har":
        from image_workflow_emulator.client.exports import journal_as_har

        print_json(journal_as_har(entries, control.url))
        return
    show(options, answer, _COLUMNS["requests"], map(_cells, convert(entries, list[RecordedRequest])))
    left_out = answer["total"] - len(entries)
    if left_out and options.format == "table":
        more = f" (--limit N, up to {MAX_REQUESTS})" if len(entries) < MAX_REQUESTS else ""
        print(f"{count_of(left_out, 'earlier request')} not shown{more}", file=sys.stderr)


def _cells(request: RecordedRequest) -> tuple[Any, ...]:
    took = None if request.duration_ms is None else f"{request.duration_ms:.1f} ms"
    what = request.operation or request.bytes or f"{request.method} {without_signature(request.path)}"
    words = what if request.code is None else f"{what} {request.code}"
    return request.sequence, request.at[11:23], request.status, words, took, request.team


def _answered(control: ControlClient, query: Mapping[str, str]) -> Iterator[Any]:
    """Go through the requests that a query selects, each once it is answered, without end; begin with those
    of a list.
    """
    shown: set[int] = set()
    listed = control.call("GET", "requests", query=query)["data"]
    since = listed[-1]["sequence"] - 1 if listed else 0
    while True:
        unanswered = control.call("GET", "requests", query={"status": NONE, "since": since, "limit": MAX_REQUESTS})
        in_flight = [entry["sequence"] for entry in unanswered["data"] if entry["duration_ms"] is None]
        if unanswered["last_sequence"] < since:  # it was reset, or started anew
            shown, since = set(), 0
        for entry in control.recorded({**query, "since": since}):
            if entry["duration_ms"] is not None and entry["sequence"] not in shown:
                shown.add(entry["sequence"])
                yield entry
        since = min(in_flight, default=unanswered["last_sequence"] + 1) - 1
        shown = {number for number in shown if number > since}
        time.sleep(POLL_SECONDS)  # noqa: TID251 (clients of the emulator go on, in real time)


def requests_show(options: Namespace, environment: Mapping[str, str]) -> None:
    """Explain one request."""
    found = control_client(options, environment).explained(options.request)
    if options.format == "json":
        print_json(_verdict_on(found) | dict(found))
    elif options.format == "curl":
        print(found["curl"])
    else:
        print("\n".join(map(printable_lines, _text(found))))


def _verdict_on(found: Mapping[str, Any]) -> dict[str, Any]:
    """Say for programs, as a report does, why a request was refused, if it was."""
    code, number, why = found["code"], found["sequence"], found["explanation"]
    if code is None:
        return {"ok": True, "summary": why["summary"], "findings": [], "next": []}
    where = f"request {number}: {found['operation'] or found['method'] + ' ' + found['path']}"
    command = f"image-workflow-emulator requests show {number} --format curl"
    words = {"where": where, "message": why["summary"], "remedy": why["remedy"], "command": command}
    refused = ReportFinding(rule=code, severity="error", requests=[number], **words)
    return {"ok": False, "summary": why["summary"], "findings": [to_builtins(refused)], "next": [command]}


def _text(found: Mapping[str, Any]) -> Iterator[str]:
    why = found["explanation"]
    yield f"{found['sequence']}  {convert(found, RecordedRequest)}"
    yield printable(why["summary"])
    if why["remedy"]:
        yield f"remedy  {printable(why['remedy'])}"
    yield ""
    for check in why["checks"]:
        detail = printable(f"  {check['detail']}") if check["detail"] else ""
        yield f"  {_MARKS.get(check['result'], '·')} {check['check']}: {check['result']}{detail}"
    yield ""
    notes = [("effect", text) for text in why["effects"]]
    for rule in why["rules"]:
        place = f" ({rule['file']}, line {rule['line']})" if rule["line"] else ""
        notes.append(("rule", f"{rule['name']}{place}: {rule['did']}"))
    if why["related"]:
        notes.append(("related", f"request {why['related']['sequence']}: its answer was stored, and sent again"))
    notes += [(name, str(found[name])) for name in _NAMES if found.get(name)]
    yield from (f"{name}  {printable(text)}" for name, text in notes)
    for name in ("request_body", "response_body"):
        if found[name] is not None:
            yield f"{name}\n{json.dumps(found[name], indent=2, ensure_ascii=False)}"
