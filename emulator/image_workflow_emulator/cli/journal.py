"""`requests`: the journal of a running emulator, listed, followed, explained and cleared."""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final, NoReturn

from msgspec import convert, to_builtins

from image_workflow_emulator.cli.invocation import BOLD, DIM, GREEN, RED, Invocation, Style, print_json
from image_workflow_emulator.control.recorded_request import RecordedRequest, request_line
from image_workflow_emulator.kernel.printable import printable, printable_lines
from image_workflow_emulator.kernel.signing import without_signature
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.report import ReportFinding
from image_workflow_emulator.settings import UsageError
from image_workflow_emulator.testing.control_client import MAX_REQUESTS, ControlClient

LOOK_AGAIN_SECONDS: Final = 0.2
"""How often `--follow` asks for what has been answered since."""
NONE: Final = "none"
"""Selects the requests that have no operation, status or code."""
_FILTERS: Final = ("operation", "status", "code", "team", "limit")
_COLUMNS: Final = ("#", "time", "status", "request", "duration", "team")
_RESULTS: Final = {"passed": ("✓", GREEN), "decided": ("✗", RED)}


def requests_list(call: Invocation) -> None:
    """List recorded requests, or follow them."""
    options, control = call.options, call.control
    query = {name: getattr(options, name) for name in _FILTERS if getattr(options, name) is not None}
    if options.follow:
        _follow(call, query)
    answer = control.call("GET", "requests", query=query)
    entries = list(reversed(answer["data"]))
    if options.format == "har":
        from image_workflow_emulator.testing.har import journal_as_har

        print_json(journal_as_har(entries, control.url))
        return
    call.show(answer, _COLUMNS, map(_cells, convert(entries, list[RecordedRequest])))
    left_out = answer["total"] - len(entries)
    if left_out and options.format == "table":
        more = f" (--limit N, up to {MAX_REQUESTS})" if len(entries) < MAX_REQUESTS else ""
        print(f"{count_of(left_out, 'earlier request')} not shown{more}", file=sys.stderr)


def _cells(request: RecordedRequest) -> tuple[Any, ...]:
    took = None if request.duration_ms is None else f"{request.duration_ms:.1f} ms"
    what = request.operation or request.bytes or f"{request.method} {without_signature(request.path)}"
    words = what if request.code is None else f"{what} {request.code}"
    return request.sequence, request.at[11:23], request.status, words, took, request.team


def _follow(call: Invocation, query: Mapping[str, str]) -> NoReturn:
    form, style = call.options.format, call.style
    if form == "har":
        raise UsageError("--follow: found --format har, expected table or json: a HAR file has an end")
    for entry in _answered(call.control, query):
        request = convert(entry, RecordedRequest)
        line = style.status(request_line(request), request.status)
        print(printable(json.dumps(entry, ensure_ascii=False)) if form == "json" else line, flush=True)
    raise AssertionError("it goes on until it is interrupted")


def _answered(control: ControlClient, query: Mapping[str, str]) -> Iterator[Any]:
    """Go through the requests that a query selects, those that a list shows first, each once it is answered; without end."""
    told: set[int] = set()
    listed = control.call("GET", "requests", query=query)["data"]
    since = listed[-1]["sequence"] - 1 if listed else 0
    while True:
        unanswered = control.call("GET", "requests", query={"status": NONE, "since": since, "limit": MAX_REQUESTS})
        in_flight = [entry["sequence"] for entry in unanswered["data"] if entry["duration_ms"] is None]
        if unanswered["last_sequence"] < since:  # it was reset, or started anew
            told, since = set(), 0
        for entry in control.recorded({**query, "since": since}):
            if entry["duration_ms"] is not None and entry["sequence"] not in told:
                told.add(entry["sequence"])
                yield entry
        since = min(in_flight, default=unanswered["last_sequence"] + 1) - 1
        told = {number for number in told if number > since}
        time.sleep(LOOK_AGAIN_SECONDS)  # noqa: TID251 (clients of the emulator go on, in real time)


# One request ----------------------------------------------------------------------------------------------------------


def requests_show(call: Invocation) -> None:
    """Explain one request."""
    found = call.control.explained(call.options.request)
    if call.options.format == "json":
        print_json(_verdict_on(found) | dict(found))
    elif call.options.format == "curl":
        print(found["curl"])
    else:
        print("\n".join(_text(found, call.style)))


def _verdict_on(found: Mapping[str, Any]) -> dict[str, Any]:
    """Say for programs, as a report does, why a request was refused, if it was."""
    why, code, number = found["explanation"], found["code"], found["sequence"]
    refused = []
    if code is not None:
        where = f"request {number}: {found['operation'] or found['method'] + ' ' + found['path']}"
        repeat = f"image-workflow-emulator requests show {number} --format curl"
        refused = [
            ReportFinding(
                rule=code,
                severity="error",
                where=where,
                message=why["summary"],
                remedy=why["remedy"],
                requests=[number],
                command=repeat,
            )
        ]
    commands = [finding.command for finding in refused]
    return {"ok": not refused, "summary": why["summary"], "findings": to_builtins(refused), "next": commands}


def _text(found: Mapping[str, Any], style: Style) -> Iterator[str]:
    request, why = convert(found, RecordedRequest), found["explanation"]
    yield style.status(f"{request.sequence}  {request_line(request)}", request.status)
    yield printable(why["summary"])
    if why["remedy"]:
        yield f"{style('remedy', BOLD)}  {printable(why['remedy'])}"
    yield ""
    for check in why["checks"]:
        mark, colour = _RESULTS.get(check["result"], ("·", DIM))
        detail = printable(f"  {check['detail']}") if check["detail"] else ""
        yield f"  {style(mark, colour)} {check['check']}: {check['result']}{detail}"
    notes = [("effect", text) for text in why["effects"]]
    notes += [("rule", f"{rule['name']}{_place(rule)}: {rule['did']}") for rule in why["rules"]]
    if why["related"]:
        notes.append(("related", f"request {why['related']['sequence']}: its answer was stored, and sent again"))
    names = ("request_id", "query", "idempotency_key", "content_type", "emulator_fault", "user_agent", "note")
    notes += [(name, str(found[name])) for name in names if found.get(name)]
    yield ""
    for name, text in notes:
        yield f"{style(name, BOLD)}  {printable(text)}"
    for name in ("request_body", "response_body"):
        if found[name] is not None:
            yield style(name, BOLD)
            yield printable_lines(json.dumps(found[name], indent=2, ensure_ascii=False))


def _place(rule: Mapping[str, Any]) -> str:
    return f" ({rule['file']}, line {rule['line']})" if rule["line"] else ""
