"""`requests`: the journal of a running emulator, listed, followed and explained."""

import json
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import convert, to_builtins

from image_workflow_emulator.cli.output import print_json, show
from image_workflow_emulator.cli.remote import control_client
from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.kernel.printable import printable, printable_lines
from image_workflow_emulator.kernel.signing import without_signature
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.report import ReportFinding
from image_workflow_emulator.settings import UsageError
from image_workflow_emulator.testing.control_client import MAX_REQUESTS, ControlClient

POLL_SECONDS: Final = 0.2
"""How often `--follow` asks for what has been answered since."""
NONE: Final = "none"
"""Selects the requests that have no operation, status or code."""
_FILTERS: Final = ("operation", "status", "code", "team", "limit")
_COLUMNS: Final = ("#", "time", "status", "request", "duration", "team")
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
        from image_workflow_emulator.testing.har import journal_as_har

        print_json(journal_as_har(entries, control.url))
        return
    show(options, answer, _COLUMNS, map(_cells, convert(entries, list[RecordedRequest])))
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
