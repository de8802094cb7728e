"""What a recorded answer and the emulator's differ in, layer by layer: status and code, shape, values, headers.

Compared is what the specification gives a meaning to. Never ids, cursors, links, absolute times, wording or pixels; and
more members than ours are not a difference (section 9). What the specification itself settles is a breach, with its
sentence; everything else is a difference that a reading may explain.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from msgspec import Struct

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.drift.calls import RecordedCall
from image_workflow_emulator.drift.replay import Replay, Replayed, is_name

_NEVER: Final = frozenset(
    {"created_at", "updated_at", "started_at", "expires_at", "title", "detail", "message"}
    | {"size_bytes", "prefix", "used", "credits", "initiated_by", "output_summary", "request", "headers", "credential"}
    | {"target", "width", "height", "format", "charged", "reserved", "resolved_asset_ids", "name", "retryable", "code"}
    | {"response", "previews", "limit", "description"}
)
"""Members that are not compared one by one: wording, absolute times, and what an observation judges by itself."""
_TEXTS: Final = {"product": ("name", "description"), "photography_style": ("name", "description")}
"""By kind: the texts that a client gave, which are compared. Of other ingredients that is the name."""
_ORIGIN: Final = frozenset({"source", "source_generation_id", "source_asset_ids", "scope"})
"""Where a resource comes from: not the same for one that was there before the recording."""
_OPEN: Final = frozenset({"queued", "processing", "pending"})


class Difference(Struct, frozen=True, omit_defaults=True):
    """One thing in which a recorded answer is not the emulator's. `sentence` is the one it contradicts, if it is a breach."""

    exchange: str
    operation: str
    where: str
    recorded: str
    expected: str
    sentence: str = ""

    @property
    def place(self) -> str:
        """The exchange, the operation, and the place in the answer."""
        return f"{self.exchange} {self.operation} {self.where}"

    @property
    def words(self) -> str:
        """What was found there, and what was expected."""
        return f"recorded {self.recorded}; expected {self.expected}" + (f"; {self.sentence}" if self.sentence else "")

    def __str__(self) -> str:
        return f"{self.place}: {self.words}"


_Found: TypeAlias = tuple[str, str, str, str]
"""Where something is found, what was recorded there, what was expected, and the sentence that it contradicts."""
_PROBLEM: Final = "application/problem+json"
_SUCCESSES: Final = (("completeUpload", 201), ("createProduct", 201))
"""The calls that make something at once."""


def compare(replayed: Replayed, replay: Replay, contract: Contract) -> Iterator[Difference]:
    """Iterate over the differences of one call. A different status ends the comparison: nothing else can be compared."""
    yield from breaches(replayed.call, contract)
    for where, recorded, expected, sentence in _differences(replayed, replay):
        yield Difference(replayed.call.where, replayed.call.name, where, recorded, expected, sentence)


def _differences(replayed: Replayed, replay: Replay) -> Iterator[_Found]:
    call, answered = replayed
    if answered is None or _is_unknown(call):
        return
    if call.surface is not None:
        if (call.status or 0) // 100 not in (answered.status // 100, 3):
            yield "status", str(call.status), str(answered.status), ""
        return
    recorded, expected = _outcome(call.status, call.code), _outcome(answered.status, answered.json.get("code"))
    if recorded != expected:
        yield "status", recorded, expected, ""
    elif call.is_success and not call.is_partial:
        yield from _values("", call.answer, answered.json, replay)


def _outcome(status: int | None, code: object) -> str:
    return f"{status} {code}" if status is not None and status >= 400 else str(status)


# Breaches -------------------------------------------------------------------------------------------------------------


def breaches(call: RecordedCall, contract: Contract) -> Iterator[Difference]:
    """Iterate over what contradicts a sentence of the specification, whatever reading one takes."""
    for where, recorded, expected, sentence in _breaches(call, contract):
        yield Difference(call.where, call.name, where, recorded, expected, sentence)


def _breaches(call: RecordedCall, contract: Contract) -> Iterator[_Found]:
    if call.operation is None or call.status is None:
        return
    if not call.response_headers.get("request-id"):
        yield "Request-Id", "none", "one", "Every response carries a Request-Id (section 4)"
    if _is_unknown(call):
        declared = f"one of {', '.join(map(str, sorted(call.operation.statuses)))}, or a default problem"
        yield "status", str(call.status), declared, "The list of endpoints declares the statuses of each (section 4)"
    if call.status >= 400:
        yield from _breaches_of_problem(call)
    elif not call.is_partial:
        yield from _breaches_of_success(call, contract)


def _is_unknown(call: RecordedCall) -> bool:
    """Whether a status can come neither from the operation nor from the default problem."""
    if call.operation is None or call.status is None:
        return False
    return call.status not in call.operation.statuses and (call.status < 400 or call.code not in CATALOGUE)


def _breaches_of_problem(call: RecordedCall) -> Iterator[_Found]:
    headers, request_id = call.response_headers, call.answer.get("request_id")
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in ("", _PROBLEM):
        yield "Content-Type", media_type, _PROBLEM, f"Errors use media type {_PROBLEM} (section 7)"
    if call.is_partial:
        return
    if call.answer and request_id != headers.get("request-id"):
        same = "request_id equals the header Request-Id (section 7)"
        yield "/request_id", str(request_id), "that of the header", same
    kind = CATALOGUE.get(call.code or "")
    if kind is None or (kind.status != call.status and call.code != "invalid_request"):
        yield "/code", f"{call.status} {call.code}", "a code with its status", "The table of errors (section 7)"
    if call.status == 429 and "retry-after" not in headers:
        yield "Retry-After", "none", "one", "Every 429 carries Retry-After (section 7)"
    if call.code == "resource_operation_in_progress" and not call.answer.get("active_operation_id"):
        carries = "A 409 resource_operation_in_progress carries active_operation_id (section 7)"
        yield "/active_operation_id", "none", "an id", carries


def _breaches_of_success(call: RecordedCall, contract: Contract) -> Iterator[_Found]:
    admits = call.status == 202 and call.answer.get("object") == "operation"
    if (admits or (call.name, call.status) in _SUCCESSES) and "location" not in call.response_headers:
        yield "Location", "none", "one", "A 201 of an Asset or Product and an authoring 202 carry Location (section 4)"
    schema = answer_schema(contract, call)
    for violation in contract.violations(schema, call.answer) if schema else ():
        if violation.kind != "unknown":  # more members may come within v1 (section 9)
            yield violation.where, violation.found, violation.expected, "The fields of the resource (section 2)"


def answer_schema(contract: Contract, call: RecordedCall) -> str | None:
    """Return the name of the schema of a successful answer; None if it has no body."""
    assert call.operation is not None
    operation = contract.document["paths"][call.operation.path][call.operation.method.lower()]
    content = operation["responses"].get(str(call.status), {}).get("content", {}).get("application/json", {})
    return str(content.get("schema", {}).get("$ref", "")).rpartition("/")[2] or None


# Values ---------------------------------------------------------------------------------------------------------------


def _values(where: str, recorded: Any, expected: Any, replay: Replay) -> Iterator[_Found]:
    """Compare two values of one place; `recorded` is what the service sent."""
    if isinstance(recorded, dict) and isinstance(expected, dict):
        if _ends_between(recorded, expected):
            return
        passed_over = _NEVER - set(_texts_of(expected)) | (_ORIGIN if recorded.get("id") in replay.beginning else set())
        for name in (name for name in recorded if name in expected and name not in passed_over):
            compared = _lists if name == "data" else _values
            yield from compared(f"{where}/{name}", recorded[name], expected[name], replay)
    elif isinstance(recorded, list) and isinstance(expected, list):
        if len(recorded) != len(expected):
            yield where, f"{len(recorded)} items", f"{len(expected)}", ""
            return
        for index, (one, other) in enumerate(zip(recorded, expected, strict=True)):
            yield from _values(f"{where}/{index}", one, other, replay)
    elif not _is_same(where, recorded, expected, replay):
        yield where, _shown(recorded), _shown(expected), ""


def _is_same(where: str, recorded: Any, expected: Any, replay: Replay) -> bool:
    name = next((step for step in reversed(where.split("/")) if not step.isdecimal()), "")
    if name == "next_cursor" or (name == "status" and {recorded, expected} <= _OPEN):
        return True
    if name in ("finished_at", "error"):
        return (recorded is None) == (expected is None)
    if is_name(name) and isinstance(recorded, str) and isinstance(expected, str):
        is_known = replay.mapped.get(recorded, expected) == expected
        return is_known and replay.stands_for.get(expected, recorded) == recorded
    return bool(recorded == expected)


def _lists(where: str, recorded: Any, expected: Any, replay: Replay) -> Iterator[_Found]:
    """Compare the items of a list that both sides know. What else a Team has, nobody can tell."""
    if not isinstance(recorded, list) or not isinstance(expected, list):
        return
    items = [item for item in recorded if isinstance(item, dict)]
    times = [str(item.get("created_at")) for item in items]
    if times != sorted(times, reverse=True):
        sentence = "Lists are ordered by created_at, descending (section 4)"
        yield where, "another order", "created_at descending", sentence
    own = {item.get("id"): item for item in expected if isinstance(item, dict)}
    for item in items:
        counterpart = own.get(replay.mapped.get(str(item.get("id"))))
        if counterpart is not None:
            yield from _values(f"{where}/{item['id']}", item, counterpart, replay)


def _shown(value: Any) -> str:
    return "null" if value is None else str(value)


def _texts_of(shown: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the members of a resource that hold what a client wrote."""
    of_team = ("name",) if shown.get("scope") == "team" else ()
    return () if shown.get("scope") == "global" else _TEXTS.get(str(shown.get("object")), of_team)


def _ends_between(recorded: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    """Whether work ended a moment earlier or later than in the replay: nobody knows when, between two looks."""
    statuses = {str(recorded.get("status")), str(expected.get("status"))}
    return bool(statuses & _OPEN) and bool(statuses & TERMINAL)
