"""The commands about a running emulator. Most are one request, which their row in the table names, and its answer."""

import json
import re
import shlex
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import convert, to_builtins

from image_workflow_emulator import DEFAULT_URL
from image_workflow_emulator.cli.main import REFUSED_VALUES
from image_workflow_emulator.cli.output import print_json, show
from image_workflow_emulator.cli.table import OF_SANDBOX, SPAN
from image_workflow_emulator.client import control_client as client
from image_workflow_emulator.client.local_files import (
    EmulatorError,
    read_file,
    read_state_file,
    write_file,
)
from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.documents.limits import MAX_BYTES
from image_workflow_emulator.kernel.clock import host_elapsed_ms
from image_workflow_emulator.kernel.seed import without_signature
from image_workflow_emulator.kernel.timestamps import parse_duration_ms
from image_workflow_emulator.kernel.wording import (
    count_of,
    first_of,
    printable,
    printable_lines,
)
from image_workflow_emulator.report import ReportFinding
from image_workflow_emulator.settings import (
    CommandError,
    SettingError,
    UsageError,
    local_url,
    read_settings,
)

_POLL_SECONDS: Final = 0.1
"""How often `wait` and `requests --follow` ask."""


def control_client(
    options: Namespace, environment: Mapping[str, str]
) -> client.ControlClient:
    """Return the client of the control plane that a command addresses. Raises SettingError."""
    given = vars(options)
    name, url = (
        ("--url", given["url"])
        if given["url"]
        else ("EMULATOR_URL", environment.get("EMULATOR_URL"))
    )
    if not url:
        served = read_settings(
            {},
            {
                name: environment.get(name, "")
                for name in ("EMULATOR_HOST", "EMULATOR_PORT")
            },
        )
        name, url = "EMULATOR_HOST", local_url(served.host, served.port)
    try:
        address = client.emulator_address(url)
    except ValueError:
        raise SettingError(
            name, url, f"the address of a running emulator, such as {DEFAULT_URL}"
        ) from None
    token = given["control_token"] or environment.get("EMULATOR_CONTROL_TOKEN") or None
    return client.ControlClient(
        address, token, given.get("sandbox") or environment.get("EMULATOR_SANDBOX")
    )


# One request ----------------------------------------------------------------------------------------------------------


def ask(options: Namespace, environment: Mapping[str, str]) -> None:
    """Send the request that the row of a command names, and show the answer. Raises SettingError, EmulatorError."""
    (method, path, *members), control = (
        options.request.split(),
        control_client(options, environment),
    )
    given = dict(vars(options))
    if "key" in given:
        given |= control.credential(given["key"])
    if options.command == "clock advance":
        given["value"] = _seconds(options.command, options.value)
    if path.startswith("sandboxes"):
        control = control.of(None)
    body = dict(
        map(
            _change,
            [
                *(member.format_map(given) for member in members),
                *given.get("changes", ()),
            ],
        )
    )
    steps = {name: client.path_step(str(value)) for name, value in given.items()}
    query = {"team": given["team"]} if path == "scenario" else None
    answer = control.call(method, path.format_map(steps), body or None, query=query)
    if "format" in given:
        _show(options, answer)
    else:
        print("done")


def _seconds(name: str, text: str) -> float:
    try:
        return parse_duration_ms(text) / 1000
    except ValueError:
        raise SettingError(name, text, SPAN) from None


def _change(text: str) -> tuple[str, Any]:
    """Read `credits=5`; the emulator checks name and value. Raises SettingError."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise SettingError("teams set", text, "NAME=VALUE, such as credits=5")
    return name, _value(value)


def _value(text: str) -> Any:
    """Return a number or `true` as JSON has it, and anything else as text: the emulator says what is wrong with it."""
    return (
        json.loads(text)
        if re.fullmatch(r"true|-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,9})?", text)
        else text
    )


_COLUMNS: Final = {
    "clock": ("now", "next_event_at", "mode", "pending", "fired", "stalled"),
    "teams": (
        "name",
        "credits",
        "reserved",
        "subscription",
        "concurrency_limit",
        "requests_per_minute",
        "id",
    ),
    "credentials": ("team", "key", "profile", "state", "expires_at"),
    "sandboxes": ("id", "base_url", "clock", "now", "keys"),
    "given": ("object", "id", "name", "status"),
    "requests": ("#", "time", "status", "request", "duration", "team"),
}


def _show(options: Namespace, answer: Any) -> None:
    """Show an answer: a thing, or a list of things."""
    noun = options.command.partition(" ")[0]
    rows = (row for thing in answer.get("data", [answer]) for row in _rows(noun, thing))
    show(
        options,
        answer,
        _COLUMNS[noun],
        ([row.get(name) for name in _COLUMNS[noun]] for row in rows),
    )


def _rows(noun: str, thing: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Iterate over the rows of a thing, with what its JSON has not."""
    match noun:
        case "clock":
            yield {**thing, "mode": client.mode_of(thing)}
        case "credentials" if "credentials" in thing:
            yield from (
                {"team": thing["name"], **credential}
                for credential in thing["credentials"]
            )
        case "sandboxes":
            keys = first_of(
                (one["key"] for team in thing["teams"] for one in team["credentials"]),
                1,
            )
            yield {
                **thing,
                "clock": client.mode_of(thing["clock"]),
                "now": thing["clock"]["now"],
                "keys": keys,
            }
        case _:
            yield thing


# Scenarios ------------------------------------------------------------------------------------------------------------


def scenario_use(options: Namespace, environment: Mapping[str, str]) -> None:
    """Run a scenario from now on."""
    shown = control_client(options, environment).use_scenario(
        options.scenario, options.team
    )
    print(f"using {options.scenario}")
    if shown["takes_effect_at_reset"]:
        print(
            f"from the next reset on: its {', '.join(shown['takes_effect_at_reset'])}"
        )


def scenario_status(options: Namespace, environment: Mapping[str, str]) -> None:
    """Show the running scenario with its rules, and the names of those that single Teams have."""
    shown = control_client(options, environment).call(
        "GET", "scenario", query={"team": options.team}
    )
    name, own = (
        shown["scenario"] or "none",
        shown["team_scenarios"] if options.team is None else (),
    )
    rows = [
        (name, rule["name"], rule["matched"], rule["fired"]) for rule in shown["rules"]
    ] or [(name, None, None, None)]
    rows += (
        (one["scenario"], f"(of the Team {one['team']['name']})", None, None)
        for one in own
    )
    show(options, shown, ("scenario", "rule", "matched", "fired"), rows)


# Files ----------------------------------------------------------------------------------------------------------------


def sandboxes_create(options: Namespace, environment: Mapping[str, str]) -> None:
    """Create a sandbox."""
    begin = {name: getattr(options, name) for name in ("id", *OF_SANDBOX)}
    if begin["seed"] is not None:
        begin["seed"] = _value(begin["seed"])
    made = control_client(options, environment).create_sandbox(begin)
    if options.format == "env":
        print(
            "\n".join(
                f"{name}={shlex.quote(value)}" for name, value in made["env"].items()
            )
        )
    else:
        _show(options, made)


def given(options: Namespace, environment: Mapping[str, str]) -> None:
    """Make what a file lists in a sandbox, before clients come."""
    file, query = options.file, {"file": options.file, "team": options.team}
    content = sys.stdin.buffer.read(MAX_BYTES + 1) if file == "-" else read_file(file)
    control, seconds = control_client(options, environment), client.STATE_SECONDS
    _show(
        options,
        json.loads(
            control.exchange(
                "POST", "given", content, client.YAML, query=query, seconds=seconds
            )
        ),
    )


def state_save(options: Namespace, environment: Mapping[str, str]) -> None:
    """Save a sandbox as a file."""
    from image_workflow_emulator.client.exports import saved_sandbox

    content = saved_sandbox(control_client(options, environment), options.file)
    write_file(options.file, content)
    print(f"saved {options.file} ({len(content)} bytes)")


def state_load(options: Namespace, environment: Mapping[str, str]) -> None:
    """Replace a sandbox by what a state file holds."""
    control, content = (
        control_client(options, environment),
        read_state_file(options.file),
    )
    try:
        control.exchange(
            "PUT", "state", content, client.ZIP, seconds=client.STATE_SECONDS
        )
    except EmulatorError as error:
        if (
            error.status in REFUSED_VALUES
        ):  # the control plane knows the file as the body
            raise UsageError(
                f"{options.file}: {error.detail.removeprefix('(body): ')}"
            ) from error
        raise
    print(f"loaded {options.file}")


# Waiting for one ------------------------------------------------------------------------------------------------------


def wait(options: Namespace, environment: Mapping[str, str]) -> None:
    """Return when an emulator is ready."""
    control, patience = (
        control_client(options, environment).of(None),
        _seconds("--timeout", options.timeout),
    )
    began_ms = host_elapsed_ms()
    while True:
        left = patience - (host_elapsed_ms() - began_ms) / 1000
        try:
            control.call("GET", "health", seconds=max(left, _POLL_SECONDS))
            return
        except EmulatorError as error:
            if left <= _POLL_SECONDS:
                raise CommandError(
                    f"no emulator is ready after {patience:g} s: {error.detail}"
                ) from None
        time.sleep(_POLL_SECONDS)  # noqa: TID251 (another process starts meanwhile, in real time)


# Requests -------------------------------------------------------------------------------------------------------------


_LIMIT: Final = client.MAX_REQUESTS
_FILTERS: Final = ("operation", "status", "code", "team", "limit")
_MARKS: Final = {"passed": "✓", "decided": "✗"}
_NAMES: Final = (
    "request_id",
    "query",
    "idempotency_key",
    "content_type",
    "emulator_fault",
    "user_agent",
    "note",
)


def requests_list(options: Namespace, environment: Mapping[str, str]) -> None:
    """List recorded requests, or follow them."""
    control = control_client(options, environment)
    query = {name: vars(options)[name] for name in _FILTERS}
    if options.follow:
        for entry in _answered(control, query):
            as_json = json.dumps(entry, ensure_ascii=False)
            line = (
                printable(as_json)
                if options.format == "json"
                else str(convert(entry, RecordedRequest))
            )
            print(line, flush=True)
    answer = control.call("GET", "requests", query=query)
    entries = list(reversed(answer["data"]))
    if options.format == "har":
        from image_workflow_emulator.client.exports import journal_as_har

        print_json(journal_as_har(entries, control.url))
    else:
        show(
            options,
            answer,
            _COLUMNS["requests"],
            map(_cells, convert(entries, list[RecordedRequest])),
        )
    if (left_out := answer["total"] - len(entries)) and options.format == "table":
        print(
            f"{count_of(left_out, 'earlier request')} not shown (--limit N, up to {_LIMIT})",
            file=sys.stderr,
        )


def _cells(request: RecordedRequest) -> tuple[Any, ...]:
    took = None if request.duration_ms is None else f"{request.duration_ms:.1f} ms"
    what = (
        request.operation
        or request.bytes
        or f"{request.method} {without_signature(request.path)}"
    )
    words = what if request.code is None else f"{what} {request.code}"
    return (
        request.sequence,
        request.at[11:23],
        request.status,
        words,
        took,
        request.team,
    )


def _answered(control: client.ControlClient, query: Mapping[str, str]) -> Iterator[Any]:
    """Go through the requests that a query selects, each once it is answered, without end; begin with those
    of a list.
    """
    shown: set[int] = set()
    listed = control.call("GET", "requests", query=query)["data"]
    since = listed[-1]["sequence"] - 1 if listed else 0
    while True:
        unanswered = control.call(
            "GET", "requests", query={"status": "none", "since": since, "limit": _LIMIT}
        )
        in_flight = [
            entry["sequence"]
            for entry in unanswered["data"]
            if entry["duration_ms"] is None
        ]
        if unanswered["last_sequence"] < since:  # it was reset, or started anew
            shown, since = set(), 0
        for entry in control.recorded({**query, "since": since}):
            if entry["duration_ms"] is not None and entry["sequence"] not in shown:
                shown.add(entry["sequence"])
                yield entry
        since = min(in_flight, default=unanswered["last_sequence"] + 1) - 1
        shown = {number for number in shown if number > since}
        time.sleep(_POLL_SECONDS)  # noqa: TID251 (clients of the emulator go on, in real time)


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
    number, why = found["sequence"], found["explanation"]
    verdict = {
        "ok": found["code"] is None,
        "summary": why["summary"],
        "findings": [],
        "next": [],
    }
    if found["code"] is not None:
        command = f"image-workflow-emulator requests show {number} --format curl"
        where = f"request {number}: {found['operation'] or found['method'] + ' ' + found['path']}"
        words = {
            "where": where,
            "message": why["summary"],
            "remedy": why["remedy"],
            "command": command,
        }
        finding = ReportFinding(
            rule=found["code"], severity="error", requests=[number], **words
        )
        verdict |= {"findings": [to_builtins(finding)], "next": [command]}
    return verdict


def _text(found: Mapping[str, Any]) -> Iterator[str]:
    why = found["explanation"]
    yield f"{found['sequence']}  {convert(found, RecordedRequest)}"
    yield printable(why["summary"])
    for check in why["checks"]:
        detail = f"  {check['detail']}" if check["detail"] else ""
        yield printable(
            f"  {_MARKS.get(check['result'], '·')} {check['check']}: {check['result']}{detail}"
        )
    notes = [("remedy", why["remedy"]), *(("effect", text) for text in why["effects"])]
    for rule in why["rules"]:
        place = f" ({rule['file']}, line {rule['line']})" if rule["line"] else ""
        notes.append(("rule", f"{rule['name']}{place}: {rule['did']}"))
    if why["related"]:
        notes.append(
            (
                "related",
                f"request {why['related']['sequence']}: its answer was stored, and sent again",
            )
        )
    notes += ((name, found.get(name)) for name in _NAMES)
    yield from (f"{name}  {printable(str(text))}" for name, text in notes if text)
    for name in ("request_body", "response_body"):
        if found[name] is not None:
            yield f"{name}\n{json.dumps(found[name], indent=2, ensure_ascii=False)}"
