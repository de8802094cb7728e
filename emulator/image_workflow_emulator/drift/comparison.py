"""The differences between a recorded answer and the emulator's, layer by layer: status and code, shape, values,
headers.

Values that the specification gives a meaning to are compared: never ids, cursors, links, absolute times, wording or
pixels. Additional members are no difference (section 9). A difference that contradicts a sentence of the specification
is a breach; a reading may explain any other.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from msgspec import Struct

from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.domain.resources import TERMINAL
from image_workflow_emulator.drift.replay import Replay, Replayed, is_name
from image_workflow_emulator.drift.traffic import RecordedCall, Traffic

_NEVER: Final = frozenset(
    {"created_at", "updated_at", "started_at", "expires_at", "message"}
    | {"size_bytes", "prefix", "used", "limit", "initiated_by", "output_summary", "headers", "credential"}
    | {"target", "width", "height", "format", "resolved_asset_ids", "retryable", "code", "response", "previews"}
)
"""Members that are not compared one by one: wording, absolute times, and what an observation judges by itself."""
_NEVER_OF: Final = {
    "team": _NEVER | {"name", "credits"},  # whose changes of Credits are observed (D29)
    "product": _NEVER | {"asset_ids"},  # whose order may be that of the service's own ids (D22)
    **dict.fromkeys(("background", "pose", "fashion_model"), _NEVER | {"description"}),
}
"""By kind, where there are more: texts that the service gives, and what is observed by itself."""
_WITH_LOCATION: Final = ((201, "asset"), (201, "product"), (202, "operation"))
_PAGE_SIZE: Final = 25
_OPEN: Final = frozenset({"queued", "processing", "pending"})
_PROBLEM: Final = "application/problem+json"
_MAX_SHOWN: Final = 80
"""The characters of a value that a difference shows."""


class Difference(Struct, frozen=True, omit_defaults=True):
    """One thing in which a recorded answer is not the emulator's. `sentence` is the one it contradicts, if it is a
    breach.
    """

    exchange: str
    operation: str
    where: str
    recorded: str
    expected: str
    sentence: str = ""
    times: int = 1
    """How many calls show it, of which `exchange` is the first."""

    @property
    def verdict(self) -> str:
        """What it is: `breach`, `bug` (a defect of the emulator), or `neither` (no reading explains it, and no sentence
        forbids it).
        """
        is_bug = self.where == "status" and self.expected.startswith("500")
        return "breach" if self.sentence else "bug" if is_bug else "neither"


Found: TypeAlias = tuple[str, str, str, str]
"""Where something is found, what was recorded there, what was expected, and the sentence that it contradicts."""


def compare(replayed: Replayed, replay: Replay) -> Iterator[Found]:
    """Iterate over the differences of one call, breaches included. A different status ends the comparison: nothing
    else can be compared.
    """
    found = list(breaches(replayed.call))
    yield from found
    if all(where not in ("status", "/code") for where, *_ in found):
        yield from _differences(replayed, replay)


def _differences(replayed: Replayed, replay: Replay) -> Iterator[Found]:
    call, answered = replayed
    recorded = _outcome(call.status, call.code)
    if call.surface == "upload" and recorded.startswith("4") and call.code not in CATALOGUE:
        yield "status", recorded, "200", ""
    if answered is None or call.name == "completeUpload":
        return
    expected = _outcome(answered.status, answered.json.get("code"))
    if not (recorded == expected if call.operation else recorded[0] in (expected[0], "3")):
        yield "status", recorded, expected, ""
    elif call.operation and call.is_success and not call.is_partial:
        yield from _values("", call.answer, answered.json, replay)


def _outcome(status: int | None, code: object) -> str:
    return f"{status} {code}" if status is not None and status >= 400 else str(status)


def sizes(traffic: Traffic) -> Iterator[Difference]:
    """Iterate over the Assets whose size changes, or is not that of the file that was downloaded."""
    first: dict[str, int | None] = {}
    files = (call for call in traffic.whole("download") if call.status == 200 and call.response_body)
    lengths = {call.url: len(call.response_body or b"") for call in files}
    for looks in (looks for (kind, _), looks in traffic.shown.items() if kind == "asset"):
        for call, asset in looks:
            size = asset.get("size_bytes")
            expected = first.setdefault(asset["id"], lengths.get(asset.get("url", ""), size))
            if size is not None and size != expected:
                yield Difference(call.where, call.name, "/size_bytes", str(size), f"{expected}, as elsewhere")


# Breaches -------------------------------------------------------------------------------------------------------------


def breaches(call: RecordedCall) -> Iterator[Found]:
    """Iterate over what contradicts a sentence of the specification, whatever reading one takes."""
    status = call.status
    if call.operation is None or status is None:
        return
    if not call.response_headers.get("request-id"):
        yield "Request-Id", "none", "one", "Every response carries a Request-Id (section 4)"
    if status not in call.operation.statuses and (status < 400 or call.code not in CATALOGUE):
        declared = f"one of {', '.join(map(str, sorted(call.operation.statuses)))}, or a default problem"
        yield "status", str(status), declared, "The list of endpoints declares the statuses of each (section 4)"
    elif status >= 400:
        yield from _breaches_of_problem(call)
    if status < 400 and not call.is_partial:
        yield from _breaches_of_success(call)


def _breaches_of_problem(call: RecordedCall) -> Iterator[Found]:
    headers = call.response_headers
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in ("", _PROBLEM):
        yield "Content-Type", media_type, _PROBLEM, f"Errors use media type {_PROBLEM} (section 7)"
    if call.is_partial:
        return
    request_id = call.answer.get("request_id", "none")
    if call.answer and request_id != headers.get("request-id", request_id):
        yield "/request_id", request_id, "that of the header", "request_id equals the header Request-Id (section 7)"
    kind = CATALOGUE.get(call.code or "")
    if kind is None or (kind.status != call.status and call.code != "invalid_request"):
        yield "/code", f"{call.status} {call.code}", "a code with its status", "The table of errors (section 7)"
    if call.status == 429 and "retry-after" not in headers:
        yield "Retry-After", "none", "one", "Every 429 carries Retry-After (section 7)"
    if call.code == "resource_operation_in_progress" and not call.answer.get("active_operation_id"):
        carries = "A 409 resource_operation_in_progress carries active_operation_id (section 7)"
        yield "/active_operation_id", "none", "an id", carries


def _breaches_of_success(call: RecordedCall) -> Iterator[Found]:
    assert call.operation is not None
    makes = (call.status, call.answer.get("object")) in _WITH_LOCATION
    if makes and "location" not in call.response_headers:
        yield "Location", "none", "one", "A 201 of an Asset or Product and an authoring 202 carry Location (section 4)"
    for violation in call.violations:
        yield violation.where, violation.found, violation.expected, "The fields of the resource (section 2)"
    if call.operation.kind == "list":
        yield from _breaches_of_list(call)


def _breaches_of_list(call: RecordedCall) -> Iterator[Found]:
    times = [str(resource.get("created_at")) for resource in call.resources]
    if times != sorted(times, reverse=True):
        sentence = "Lists are ordered by created_at, descending (section 4)"
        yield "/data", "another order", "created_at descending", sentence
    has_more = call.answer.get("page", {}).get("has_more") is True
    if "limit" not in call.query and (len(times) > _PAGE_SIZE or (has_more and len(times) < _PAGE_SIZE)):
        yield "/data", f"{len(times)} items", f"{_PAGE_SIZE} items", "The default page size is 25 (section 8)"


# Values ---------------------------------------------------------------------------------------------------------------


def _values(where: str, recorded: Any, expected: Any, replay: Replay) -> Iterator[Found]:
    """Compare two values of one place; `recorded` is what the service sent."""
    if isinstance(recorded, dict) and isinstance(expected, dict):
        if _ends_between(recorded, expected) or str(recorded.get("id")) in replay.beginning:
            return
        is_order = "request" in where.split("/")  # of which everything is compared
        passed_over = () if is_order else _NEVER_OF.get(str(expected.get("object")), _NEVER)
        for name in (name for name in recorded if name in expected and name not in passed_over):
            yield from _values(f"{where}/{name}", recorded[name], expected[name], replay)
    elif where == "/data":  # the items that both sides know: nobody can tell what else a Team has
        own = {replay.stands_for.get(item.get("id", "")): item for item in expected}
        for item in (item for item in recorded if item.get("id", "") in own):
            yield from _values("/data/*", item, own[item["id"]], replay)
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
    if name in ("finished_at", "error"):
        return (recorded is None) == (expected is None)
    if name == "charged" and expected == 0 and recorded == 1:  # a Background's, which depends on its picture (D30)
        return True
    if isinstance(recorded, str) and isinstance(expected, str):
        if name == "next_cursor" or (name == "status" and {recorded, expected} <= _OPEN):
            return True
        if is_name(name):
            is_known = replay.mapped.get(recorded, expected) == expected
            return is_known and replay.stands_for.get(expected, recorded) == recorded
    return bool(recorded == expected)


def _shown(value: Any) -> str:
    text = "null" if value is None else str(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"


def _ends_between(recorded: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    """Whether work ended a moment earlier or later than in the replay: nobody knows when, between two looks."""
    statuses = {str(recorded.get("status")), str(expected.get("status"))}
    return bool(statuses & _OPEN) and bool(statuses & TERMINAL)
