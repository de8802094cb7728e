"""`requests`: the journal of a running emulator, listed, followed, explained and cleared."""

import json
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from msgspec import convert

from emulator.cli.events import open_events
from emulator.cli.har import as_har
from emulator.cli.output import BOLD, DIM, GREEN, RED, Style, add_format, out, print_json, print_table
from emulator.cli.running_emulator import add_emulator_verbs, control_client
from emulator.cli.verdict import finding, verdict
from emulator.control.recorded_request import RecordedRequest, request_line
from emulator.kernel.printable import printable, printable_lines
from emulator.kernel.signing import without_signature
from emulator.kernel.wording import count_of
from emulator.settings import UsageError
from emulator.testing.control import ControlClient
from emulator.testing.sandbox import MOST_REQUESTS, explained, recorded

LOOK_AGAIN_SECONDS: Final = 0.2
"""How long to wait after a stream of events has ended."""
NONE: Final = "none"
"""Selects the requests that have no operation, status or code."""
_FILTERS: Final = ("operation", "status", "code", "team", "limit")
_HEADERS: Final = ("SEQUENCE", "TIME", "STATUS", "OPERATION", "CODE", "DURATION", "TEAM")
_RESULTS: Final = {"passed": ("✓", GREEN), "decided": ("✗", RED)}


def add_arguments(parser: ArgumentParser) -> None:
    """Take a verb, filters, and what to show."""
    parser.epilog = "`list` can be left out: requests --status 4xx --follow"
    listing, show, _clear = add_emulator_verbs(
        parser,
        list="list recorded requests, the newest last (the default)",
        show="explain one request",
        clear="forget all recorded requests",
    )
    listing.add_argument("--operation", metavar="ID", help="only requests of this operation, or `none`")
    listing.add_argument(
        "--status", metavar="STATUS", help="only requests with this status, class (such as 4xx), or `none`"
    )
    listing.add_argument("--code", metavar="CODE", help="only requests refused with this problem code, or `none`")
    listing.add_argument("--team", metavar="TEAM", help="only requests of this Team, by name or id")
    listing.add_argument("--limit", metavar="N", help="show at most N requests, the newest (default: 100)")
    listing.add_argument("--follow", action="store_true", help="keep printing requests as they are answered")
    add_format(listing, "table", "json", "har")
    show.add_argument("request", metavar="REQUEST", help="`last`, a sequence number, or the Request-Id of its answer")
    add_format(show, "text", "json", "curl")


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Run the command and return its exit status. Raises UsageError and EmulatorError."""
    control = control_client(options, environment)
    match options.action:
        case "clear":
            control.call("DELETE", "requests")
            print("cleared")
        case "show":
            _show(explained(control, options.request), options.format, out(environment))
        case _ if options.follow:
            _follow(control, options, out(environment))
        case _:
            _list(control, options, out(environment))
    return 0


# The list -------------------------------------------------------------------------------------------------------------


def _query(options: Namespace) -> dict[str, str]:
    return {name: vars(options)[name] for name in _FILTERS if vars(options)[name] is not None}


def _list(control: ControlClient, options: Namespace, style: Style) -> None:
    answer = control.call("GET", "requests", query=_query(options))
    entries = list(reversed(answer["data"]))
    if options.format == "json":
        print_json(answer)
    elif options.format == "har":
        print_json(as_har(entries, control.transport.url))
    else:
        print_table(_HEADERS, map(_cells, convert(entries, list[RecordedRequest])), style)
        left_out = answer["total"] - len(entries)
        if left_out:
            more = f" (--limit N, up to {MOST_REQUESTS})" if len(entries) < MOST_REQUESTS else ""
            print(f"{count_of(left_out, 'earlier request')} not shown{more}", file=sys.stderr)


def _cells(request: RecordedRequest) -> tuple[Any, ...]:
    took = None if request.duration_ms is None else f"{request.duration_ms:.1f} ms"
    what = request.operation or f"{request.method} {without_signature(request.path)}"
    return request.sequence, request.at, request.status, what, request.code, took, request.team


def _follow(control: ControlClient, options: Namespace, style: Style) -> None:
    if options.format == "har":
        raise UsageError("--follow: found --format har, expected table or json: a HAR file has an end")
    query = _query(options)
    for entry in _answered(control, query):
        if not _is_wanted(entry, query):
            continue
        request = convert(entry, RecordedRequest)
        line = (
            printable(json.dumps(entry, ensure_ascii=False))
            if options.format == "json"
            else style.status(request_line(request), request.status)
        )
        print(line, flush=True)


def _answered(control: ControlClient, query: dict[str, str]) -> Iterator[Any]:
    """Go through those requests once they are answered that a query lists now, and then through all others, without end.

    Left out are those that a reset makes the emulator forget before it has sent their events.
    """
    events = open_events(control)  # before the lists, so that nothing falls between them
    seen = _Seen.of(control)
    for entry in reversed(control.call("GET", "requests", query=query)["data"]):
        if entry["duration_ms"] is not None and entry["sequence"] <= seen.last:  # events tell of the later ones
            seen.in_flight.discard(entry["sequence"])
            yield entry
    while True:
        for kind, data in events:
            match kind:
                case "request":
                    if seen.is_news(data):
                        yield data
                case "reset":
                    seen = _Seen(0, set())
                case "gap":
                    yield from seen.missed(control)
        time.sleep(LOOK_AGAIN_SECONDS)  # noqa: TID251 (the stream ended; clients of the emulator go on, in real time)
        events = open_events(control)
        if _Seen.of(control).last < seen.last:  # the emulator was started anew
            seen = _Seen(0, set())
        yield from seen.missed(control)


@dataclass(slots=True)
class _Seen:
    """The requests that are known: all up to the sequence number `last`; those in `in_flight` had no answer then."""

    last: int
    in_flight: set[int]

    @classmethod
    def of(cls, control: ControlClient) -> "_Seen":
        """Know all requests that have come."""
        unanswered = control.call("GET", "requests", query={"status": NONE, "limit": MOST_REQUESTS})
        return cls(unanswered["last_sequence"], _in_flight(unanswered["data"]))

    def is_news(self, entry: Mapping[str, Any]) -> bool:
        """Take note of a request, and tell whether it has been answered since."""
        number = entry["sequence"]
        if number > self.last:
            self.last = number
            self.in_flight.add(number)
        if entry["duration_ms"] is None or number not in self.in_flight:
            return False
        self.in_flight.remove(number)
        return True

    def missed(self, control: ControlClient) -> list[Any]:
        """Return the requests that have been answered since, though no event told of them."""
        entries = recorded(control, {"since": min(self.in_flight, default=self.last + 1) - 1})
        news = [entry for entry in entries if self.is_news(entry)]
        self.in_flight = _in_flight(entries)
        return news


def _in_flight(entries: Iterable[Mapping[str, Any]]) -> set[int]:
    return {entry["sequence"] for entry in entries if entry["duration_ms"] is None}


def _is_wanted(entry: Mapping[str, Any], query: Mapping[str, str]) -> bool:
    """Tell whether filters select an entry, as the emulator does with those of a list."""
    team = (entry["credential"] or {}).get("team") or {}
    status = str(entry["status"] or NONE)
    facts = {
        "operation": (entry["operation"] or NONE,),
        "status": (status, f"{status[0]}xx"),
        "code": (entry["code"] or NONE,),
        "team": (team.get("id"), team.get("name")),
    }
    return all(query[name] in values for name, values in facts.items() if name in query)


# One request ----------------------------------------------------------------------------------------------------------


def _show(found: Mapping[str, Any], form: str, style: Style) -> None:
    if form == "json":
        print_json(_verdict_on(found) | dict(found))
    elif form == "curl":
        print(found["curl"])
    else:
        for line in _text(found, style):
            print(line)


def _verdict_on(found: Mapping[str, Any]) -> dict[str, Any]:
    """Say for programs why a request was refused, if it was."""
    why, code = found["explanation"], found["code"]
    if code is None:
        return verdict(why["summary"], ok=True)
    number = found["sequence"]
    where = f"request {number}: {found['operation'] or found['method'] + ' ' + found['path']}"
    repeat = f"image-workflow-emulator requests show {number} --format curl"
    return verdict(why["summary"], [finding(code, "error", where, why["remedy"], repeat)], ok=False)


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
    notes += [("reading", f"{one['reading']}: {one['emulator']}") for one in why["readings"]]
    if why["related"]:
        notes.append(("related", f"request {why['related']['sequence']}: {why['related']['why']}"))
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
