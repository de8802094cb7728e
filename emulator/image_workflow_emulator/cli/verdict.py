"""What a command that judges or refuses answers programs: whether all is well, what is not, and what to do next.

One object for all commands, beside whatever else each of them prints as JSON:

- `ok`: whether there is nothing to mend; `summary`: the outcome in a sentence.
- `findings`: each with `rule`, `severity` (`error`, `warning` or `note`), `where`, `remedy`, and the `command` that shows more or
  helps; null where there is none.
- `next`: the commands to run next.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import orjson

from image_workflow_emulator.kernel.printable import printable
from image_workflow_emulator.kernel.wording import count_of

MAX_BYTES: Final = 4096
"""Limit of the one object that `exec` prints."""
MAX_TEXT: Final = 240
"""Limit of the characters of a text in it."""
_PLACE: Final = re.compile(r"\A(.+?:\d+(?::\d+)?): (.+)\Z", re.DOTALL)


def verdict(
    summary: str, findings: Iterable[Mapping[str, Any]] = (), *, ok: bool, commands: Iterable[str | None] = ()
) -> dict[str, Any]:
    """Return the object; `commands` are those to run next, before those of the findings."""
    found = list(findings)
    steps = dict.fromkeys([*commands, *(one["command"] for one in found)])
    return {"ok": ok, "summary": summary, "findings": found, "next": [step for step in steps if step]}


def finding(
    rule: str, severity: str, where: str | None, remedy: str | None = None, command: str | None = None
) -> dict[str, Any]:
    """Return one thing that was found."""
    return {"rule": rule, "severity": severity, "where": where, "remedy": remedy, "command": command}


def refusal(error: object) -> dict[str, Any]:
    """Return the object of a command that did nothing: its complaint, and each line of it as a finding."""
    rule = getattr(error, "code", None) or "usage"
    return verdict(str(error), (complaint(rule, "error", line) for line in str(error).splitlines()), ok=False)


def complaint(rule: str, severity: str, line: str) -> dict[str, Any]:
    """Return a line of a message as a finding: the place that it begins with, and what it says."""
    place = _PLACE.match(line)
    return finding(rule, severity, *(place.groups() if place else (None, line)))


def asks_for_json(arguments: Sequence[str]) -> bool:
    """Tell whether arguments that could not be read ask for JSON."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--format=json" in own or ("--format", "json") in pairwise(own)


def print_compact(answer: Mapping[str, Any]) -> None:
    """Print an object on one line."""
    print(orjson.dumps(answer, default=str).decode("utf-8", "replace"), file=sys.stdout)


def gaps_of(coverage: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Find what is not covered of the operations that were called."""
    for name, operation in coverage["operations"].items():
        points = operation["points"]
        for point in points if any(point["met"] for point in points) else ():
            if not point["met"]:
                yield finding("not-covered", "note", f"{name} {point['point']}", *_closing(point["closed_by"]))


def _closing(closed_by: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return what closes a gap, and the command that does."""
    match closed_by:
        case {"scenario": scenario}:
            command = f"image-workflow-emulator exec --scenario {scenario} -- CMD"
            return f"run it with the scenario {scenario}", command
        case {"request": request}:
            return str(request), None
        case {"rule": rule}:
            return f"write this rule in a scenario file: {orjson.dumps(rule).decode()}", None
    return "call it so that it answers this", None


def coverage_verdict(coverage: Mapping[str, Any], *, ok: bool) -> dict[str, Any]:
    """Return the object of a coverage, with the gaps of the operations that were called."""
    gaps = list(gaps_of(coverage))
    summary = (
        f"{coverage['percent']:g} % of the contract covered; {count_of(len(gaps), 'gap')} in the operations in use"
    )
    return verdict(summary, gaps, ok=ok)


def shortened(answer: dict[str, Any], lists: Sequence[list[Any]]) -> dict[str, Any]:
    """Return an object that fits MAX_BYTES: texts are cut, then the ends of these lists of it, the longest first.

    `data.left_out` counts the entries that are left out.
    """
    for entries in lists:
        entries[:] = [_cut(entry) for entry in entries]
    answer["summary"] = _cut(answer["summary"])
    while len(orjson.dumps(answer)) >= MAX_BYTES and any(lists):
        max(lists, key=len).pop()
        answer["data"]["left_out"] += 1
    return answer


def _cut(entry: Any) -> Any:
    if isinstance(entry, dict):
        return {name: _cut(value) for name, value in entry.items()}
    text = printable(entry) if isinstance(entry, str) else entry
    return f"{text[: MAX_TEXT - 1]}…" if isinstance(text, str) and len(text) > MAX_TEXT else text
