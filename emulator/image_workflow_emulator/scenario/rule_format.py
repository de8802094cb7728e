"""The rules of a scenario file: checks that a schema cannot express, and their form as data."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from image_workflow_emulator.contract import Contract, OperationContract
from image_workflow_emulator.documents.document import Document
from image_workflow_emulator.documents.schemas import Steps
from image_workflow_emulator.documents.values import optional, parse_span_ms
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.kernel.wording import excerpt, first_of
from image_workflow_emulator.scenario.faults.words import read_fault
from image_workflow_emulator.scenario.matching import ALWAYS, BYTE_SURFACES, EVERY, Nth, RequestMatch, When, WorkMatch
from image_workflow_emulator.scenario.reach import check_request, rule_name
from image_workflow_emulator.scenario.scenario import OUTCOME_WORDS, RequestRule, Rule, WorkOutcome, WorkRule

_NTH: Final = re.compile(r"(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?|>=\s*(?P<least>\d{1,9})|every\s+(?P<step>\d{1,9})")
_PLACES: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBERED: Final = re.compile(r"([1-9]\d{0,8})(?:st|nd|rd|th)", re.ASCII)
_MAX_NAMED_OPERATIONS: Final = 3
"""So many are named of the operations that cannot return a code."""


def read_rules(document: Document, contract: Contract) -> tuple[Rule, ...]:
    """Read the rules, whose shape is valid."""
    rules = enumerate(document.texts.get("rules", ()))
    return tuple(_read_rule(document, index, texts, contract) for index, texts in rules)


def _read_rule(document: Document, index: int, texts: Mapping[str, Any], contract: Contract) -> Rule:
    steps: Steps = ("rules", index)
    name = rule_name(texts, index)
    match, then = texts.get("match", {}), texts["then"]
    when = _when(document, (*steps, "when"), texts["when"]) if "when" in texts else ALWAYS
    place = document.file, document.position(*steps).line, json.dumps(document.at(*steps, "then"), ensure_ascii=False)
    if "work" in match or (not match.keys() - {"team"} and then.keys() <= set(OUTCOME_WORDS)):
        works = WorkMatch(_names(match.get("work", EVERY)), match.get("team"))
        return WorkRule(name, WorkOutcome.read(then), works, when, *place)
    request = read_match(document, (*steps, "match"), match, contract)
    if "problem" in then and not request.bytes:
        _check_code(document, (*steps, "then", "problem"), then["problem"], _meant(request.operations, contract))
    return RequestRule(name, read_fault(then), request, when, *place)


def read_match(document: Document, steps: Steps, match: Mapping[str, Any], contract: Contract) -> RequestMatch:
    """Read which requests are meant; those that the contract excludes are a mistake."""
    given = [match["bytes"]] if "bytes" in match else []
    request = RequestMatch(
        _names(match.get("operation", EVERY)),
        match.get("team"),
        document.at(*steps, "body") if "body" in match else {},
        match.get("credential"),
        optional(match, "resource", _resource),
        match.get("query", {}),
        match.get("idempotency_key"),
        frozenset(BYTE_SURFACES if EVERY in given else given),
    )
    check_request(document, steps, request, _meant(request.operations, contract), contract)
    return request


def _resource(text: str) -> str | int:
    """Return the place that a word such as `first` or `11th` means, else the id."""
    numbered = _NUMBERED.fullmatch(text)
    if numbered:
        return int(numbered[1])
    return _PLACES.index(text) + 1 if text in _PLACES else text


def _meant(names: frozenset[str], contract: Contract) -> list[OperationContract]:
    """Return the operations that are meant, in the contract's order."""
    return [operation for name, operation in contract.operations.items() if name in names or EVERY in names]


def _names(given: str | list[str]) -> frozenset[str]:
    return frozenset([given] if isinstance(given, str) else given)


def _check_code(document: Document, steps: Steps, code: str, operations: Sequence[OperationContract]) -> None:
    """Complain of a code that the contract does not allow for each matched operation."""
    unable = [operation.id for operation in operations if code not in operation.all_codes]
    if unable:
        names = first_of(unable, _MAX_NAMED_OPERATIONS)
        common = sorted(frozenset(CATALOGUE).intersection(*(operation.all_codes for operation in operations)))
        expected = f"a code that every operation of this rule can return: {', '.join(common)}"
        document.complain(steps, expected, f"{excerpt(code)}, which {names} cannot return")


def _when(document: Document, steps: Steps, when: Mapping[str, Any]) -> When:
    from_ms = parse_span_ms(when.get("from", "0"))
    until_ms = optional(when, "until", parse_span_ms)
    if until_ms is not None and until_ms <= from_ms:
        document.complain((*steps, "until"), f'a time after "from", which is {from_ms} ms')
    nth = optional(when, "nth", parse_nth) or ALWAYS.nth
    return When(nth, from_ms, until_ms, float(when.get("probability", 1)), when.get("per"))


def parse_nth(text: str) -> Nth:
    """Read `3`, `2-4`, `>=3` or `every 5`, counted from 1. Raises ValueError."""
    found = _NTH.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    if found["step"]:
        nth = Nth(int(found["step"]), None, max(int(found["step"]), 1))
    elif found["least"]:
        nth = Nth(int(found["least"]))
    else:
        nth = Nth(int(found["first"]), int(found["last"] or found["first"]))
    if nth.first < 1 or (nth.last is not None and nth.last < nth.first):
        raise ValueError(text)
    return nth
