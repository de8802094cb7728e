"""A request explained, as text and as a verdict for programs."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import convert, to_builtins

from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.kernel.wording import printable
from image_workflow_emulator.report import ReportFinding

_MARKS: Final = {"passed": "✓", "decided": "✗"}
_OTHER_MARK: Final = "·"
_MEMBERS: Final = (
    "request_id",
    "query",
    "idempotency_key",
    "content_type",
    "emulator_fault",
    "user_agent",
    "note",
)
"""The members of an entry that the text shows, where they say something."""


def verdict_on(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Say for programs, as a report does, why a request was refused, if it was."""
    explanation = entry["explanation"]
    summary = explanation["summary"]
    code = entry["code"]
    if code is None:
        return {"ok": True, "summary": summary, "findings": [], "next": []}
    number = entry["sequence"]
    name = entry["operation"] or f"{entry['method']} {entry['path']}"
    command = f"image-workflow-emulator requests show {number} --format curl"
    finding = ReportFinding(
        rule=code,
        severity="error",
        where=f"request {number}: {name}",
        message=summary,
        remedy=explanation["remedy"],
        requests=[number],
        command=command,
    )
    return {
        "ok": False,
        "summary": summary,
        "findings": [to_builtins(finding)],
        "next": [command],
    }


def explanation_lines(entry: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over the explanation of a request for people. Bodies have several lines."""
    explanation = entry["explanation"]
    yield f"{entry['sequence']}  {convert(entry, RecordedRequest)}"
    yield printable(explanation["summary"])
    for check in explanation["checks"]:
        yield _check_line(check)
    for name, text in _notes(entry, explanation):
        yield f"{name}  {printable(text)}"
    for name in ("request_body", "response_body"):
        body = entry[name]
        if body is not None:
            yield f"{name}\n{json.dumps(body, indent=2, ensure_ascii=False)}"


def _check_line(check: Mapping[str, Any]) -> str:
    mark = _MARKS.get(check["result"], _OTHER_MARK)
    line = f"  {mark} {check['check']}: {check['result']}"
    if check["detail"]:
        line += f"  {check['detail']}"
    return printable(line)


def _notes(
    entry: Mapping[str, Any],
    explanation: Mapping[str, Any],
) -> Iterator[tuple[str, str]]:
    """Iterate over what else is known of a request: a name, and a text."""
    if explanation["remedy"]:
        yield "remedy", explanation["remedy"]
    for effect in explanation["effects"]:
        yield "effect", effect
    for rule in explanation["rules"]:
        place = f" ({rule['file']}, line {rule['line']})" if rule["line"] else ""
        yield "rule", f"{rule['name']}{place}: {rule['did']}"
    if explanation["related"]:
        number = explanation["related"]["sequence"]
        yield "related", f"request {number}: its answer was stored, and sent again"
    for name in _MEMBERS:
        if entry.get(name):
            yield name, str(entry[name])
