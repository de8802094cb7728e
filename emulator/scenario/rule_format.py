"""How a scenario file spells rules: their `match` and `when`; what stands under `then` is read by `faults` and `outcome_format`."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, cast

from emulator.documents.complaints import NOWHERE
from emulator.documents.yaml_nodes import ListNode, MappingNode, json_value
from emulator.domain.problems import excerpt
from emulator.scenario.faults.registry import read_fault
from emulator.scenario.matching import ALWAYS, EVERY, Nth, RequestMatch, When, WorkMatch
from emulator.scenario.outcome_format import read_outcome
from emulator.scenario.outcomes import OUTCOME_WORDS
from emulator.scenario.reading import Cursor, Fields, Report
from emulator.scenario.rules import RequestRule, Rule, WorkRule
from emulator.scenario.vocabulary import WORKS, Vocabulary

_RULE_KEYS: Final = ("name", "match", "when", "then")
_MATCH_KEYS: Final = ("operation", "work", "team", "body")
_WHEN_KEYS: Final = ("nth", "from", "until", "probability")
_NTH: Final = re.compile(r"(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?|>=\s*(?P<least>\d{1,9})|every\s+(?P<step>\d{1,9})")
_NTH_EXPECTED: Final = '"3", "2-4", ">=3" or "every 5", counted from 1 to 999999999'


def read_rules(cursor: Cursor, vocabulary: Vocabulary) -> tuple[Rule, ...]:
    """Read the list of rules; a rule without a name is called by its place, `rule 1`."""
    items = cursor.items("a list of rules") or []
    rules: list[Rule] = []
    taken: dict[str, str] = {}
    for number, item in enumerate(items, start=1):
        rule = _read_rule(item, f"rule {number}", vocabulary)
        if rule.name in taken:
            found = f"the name {excerpt(rule.name)} again, first given to {taken[rule.name]}"
            item.complain("a name of its own for each rule", found=found)
        taken.setdefault(rule.name, item.path)
        rules.append(rule)
    return tuple(rules)


def _read_rule(cursor: Cursor, default_name: str, vocabulary: Vocabulary) -> Rule:
    fields = cursor.fields(_RULE_KEYS, required=("then",))
    name = fields.get("name", lambda at: at.line("a name"), default_name)
    when = fields.get("when", _when, ALWAYS)
    file, line = cursor.report.filename, cursor.position.line
    nothing = Cursor(Report(file), MappingNode((), NOWHERE), "")  # an absent `then` has been complained of
    then = fields.cursors.get("then", nothing)
    match = fields.cursors.get("match", nothing).fields(_MATCH_KEYS)
    if _is_about_work(match, then):
        work = _work_match(match, vocabulary)
        return WorkRule(name, read_outcome(then, work), work, when, file, line)
    request = _request_match(match, vocabulary)
    return RequestRule(name, read_fault(then, request, vocabulary), request, when, file, line)


def _is_about_work(match: Fields, then: Cursor) -> bool:
    """Tell which kind of rule is meant: by what it matches, or if it matches everything by what then happens."""
    if "work" in match:
        return True
    if "operation" in match or "body" in match or not isinstance(then.node, MappingNode):
        return False
    words = [key.text for key, _ in then.node.entries]
    return bool(words) and all(word in OUTCOME_WORDS for word in words)


def _request_match(fields: Fields, vocabulary: Vocabulary) -> RequestMatch:
    operations = vocabulary.operations
    return RequestMatch(
        fields.get("operation", lambda at: _names(at, operations, "an operation id of the contract"), _unnamed(fields)),
        fields.get("team", lambda at: read_team(at, vocabulary), None),
        fields.get("body", _body, {}),
    )


def _work_match(fields: Fields, vocabulary: Vocabulary) -> WorkMatch:
    fields.refuse(["operation", "body"], '"work" and "team" alone: work has neither an operation nor a body')
    return WorkMatch(
        fields.get("work", lambda at: _names(at, WORKS, "a workflow or an Operation type"), _unnamed(fields)),
        fields.get("team", lambda at: read_team(at, vocabulary), None),
    )


def _unnamed(fields: Fields) -> frozenset[str]:
    """Return what a match means that names nothing: everything; but after a misspelled key, nothing that is sure."""
    return frozenset({EVERY} if fields.is_sound else ())


def _names(cursor: Cursor, known: Collection[str], kind: str) -> frozenset[str]:
    """Read one name, a list of them, or `*`; what was complained of is left out."""
    if not isinstance(cursor.node, ListNode):
        words = [cursor.word((*known, EVERY), f'{kind}, a list of them, or "*"')]
    else:
        words = [item.word(tuple(known), kind) for item in cursor.items() or ()]
        if not words:
            cursor.complain(f"at least one name: {kind}")
    return frozenset(word for word in words if word is not None)


def read_team(cursor: Cursor, vocabulary: Vocabulary) -> str | None:
    """Read the name or id of a Team, one of the world's where the world is known."""
    kind = "the name of a Team"
    return cursor.text(kind) if vocabulary.world is None else cursor.word(vocabulary.world.teams, kind)


def _body(cursor: Cursor) -> Mapping[str, Any] | None:
    if not isinstance(cursor.node, MappingNode):
        cursor.complain("a mapping of fields that the body must have")
        return None
    _check_keys_once(cursor)
    return cast(Mapping[str, Any], json_value(cursor.node))


def _check_keys_once(cursor: Cursor) -> None:
    children: Iterable[Cursor] = ()
    if isinstance(cursor.node, MappingNode):
        children = (cursor.named() or {}).values()
    elif isinstance(cursor.node, ListNode):
        children = cursor.items() or ()
    for child in children:
        _check_keys_once(child)


def _when(cursor: Cursor) -> When:
    fields = cursor.fields(_WHEN_KEYS)
    from_ms = fields.get("from", Cursor.duration_ms, 0)
    until_ms = fields.get("until", Cursor.duration_ms, None)
    if until_ms is not None and until_ms <= from_ms:
        fields.cursors["until"].complain(f'a time after "from", which is {from_ms} ms')
    return When(
        fields.get("nth", _nth, ALWAYS.nth),
        from_ms,
        until_ms,
        fields.get("probability", lambda at: at.number(0, 1), 1.0),
    )


def _nth(cursor: Cursor) -> Nth | None:
    text = cursor.text(_NTH_EXPECTED)
    if text is None:
        return None
    found = _NTH.fullmatch(text.strip())
    nth = _counted(found) if found else None
    if nth is None or nth.first < 1 or (nth.last is not None and nth.last < nth.first):
        cursor.complain(_NTH_EXPECTED)
        return None
    return nth


def _counted(found: re.Match[str]) -> Nth:
    if found["step"]:
        return Nth(int(found["step"]), None, max(int(found["step"]), 1))
    if found["least"]:
        return Nth(int(found["least"]))
    first = int(found["first"])
    return Nth(first, int(found["last"] or first))
