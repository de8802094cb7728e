"""How a scenario file spells faults and outcomes: what stands under `then`.

Owns the spelling of each word and what goes together. A new fault is a noun in `faults`, a reader here and a row in
`_FAULT_READERS`.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, cast

from emulator.documents.complaints import one_of
from emulator.documents.yaml_nodes import MappingNode
from emulator.domain.problems import excerpt
from emulator.domain.resources import WORKFLOWS, Scene
from emulator.scenario.faults import (
    AFTER_COMMIT_CODES,
    FAILURE_CODES,
    FAULTS,
    MAXIMUM_SLOTS,
    MOMENTS,
    NETWORK_KINDS,
    NO_FAULT,
    NO_OUTCOME,
    OUTCOME_WORDS,
    SCENES,
    DeprecatedFault,
    FailureCode,
    Fault,
    HoldFault,
    Moment,
    NetworkFault,
    NetworkKind,
    ProblemFault,
    WorkOutcome,
)
from emulator.scenario.matching import EVERY, RequestMatch, WorkMatch
from emulator.scenario.reading import Cursor, Fields
from emulator.scenario.vocabulary import BACKGROUND_WORKS, CODES, GENERATIONS, RETRY_AFTER_CODES, Vocabulary

_DETAILS: Final = ("retry_after", "detail", "at")
REQUEST_WORDS: Final = (*FAULTS, *_DETAILS)
THEN_WORDS: Final = (*REQUEST_WORDS, *OUTCOME_WORDS)
_ONE_SLOT: Final = GENERATIONS - {"product_photography"}
_SLOT: Final = re.compile(r"[1-9]\d{0,8}", re.ASCII)
_LINK: Final = re.compile(r"https?://[!#-;=?-~]+", re.ASCII)
_NAMED_OPERATIONS: Final = 3


@dataclass(frozen=True, slots=True)
class _Then:
    """What the reader of one word needs: all of `then`, what the rule matches, and the words there are."""

    fields: Fields
    match: RequestMatch
    vocabulary: Vocabulary


def read_fault(cursor: Cursor, match: RequestMatch, vocabulary: Vocabulary) -> Fault:
    """Read what happens to a request."""
    fields = cursor.fields(THEN_WORDS)
    fields.refuse(OUTCOME_WORDS, f"{one_of(REQUEST_WORDS)}, as this rule matches requests, not work")
    words = [word for word in fields if word in FAULTS]
    if not words:
        if fields.is_sound and not any(word in fields for word in OUTCOME_WORDS):
            cursor.complain(one_of(FAULTS), found="no fault")
        return NO_FAULT
    fields.refuse(words[1:], f"one fault in a rule, and {excerpt(words[0])} stands there already")
    return _FAULT_READERS[words[0]](_Then(fields, match, vocabulary))


def read_outcome(cursor: Cursor, match: WorkMatch) -> WorkOutcome:
    """Read what becomes of work."""
    fields = cursor.fields(THEN_WORDS)
    fields.refuse(REQUEST_WORDS, f"{one_of(OUTCOME_WORDS)}, as this rule matches work, not requests")
    if fields.is_sound and not list(fields):
        cursor.complain(one_of(OUTCOME_WORDS), found="no outcome")
        return NO_OUTCOME
    if "fail" in fields:
        fields.refuse(["outputs"], 'either "fail" or "outputs": the whole work, or some of its outputs')
    if "stall" in fields:
        fields.refuse(["outputs", "fail", "duration"], 'nothing beside "stall", as stalled work never ends')
    return WorkOutcome(
        fields.get("outputs", lambda at: _outputs(at, match), NO_OUTCOME.outputs),
        fields.get("fail", _failure_code, None),
        fields.get("duration", Cursor.duration_ms, None),
        fields.get("stall", lambda at: at.word(("true",)), "") == "true",
        fields.get("scene", lambda at: _scene(at, match), None),
    )


def _problem(then: _Then) -> Fault:
    fields = then.fields
    possible = then.vocabulary.common_codes(then.vocabulary.named(then.match.operations))
    kind = f"a code that every operation of this rule can return: {', '.join(sorted(possible))}"
    code = fields.get("problem", lambda at: at.word(CODES, kind), "")
    if not code:
        return NO_FAULT
    _check_possible(code, then, kind)
    if code not in RETRY_AFTER_CODES:
        fields.refuse(["retry_after"], f"it only with {', '.join(sorted(RETRY_AFTER_CODES))}")
    at = _moment(fields)
    if at == "after_commit" and code not in AFTER_COMMIT_CODES:
        words = ", ".join(sorted(AFTER_COMMIT_CODES))
        fields.cursors["at"].complain(f"before_commit; after_commit goes with network and the problems {words}")
    return ProblemFault(
        code,
        fields.get("retry_after", lambda cursor: cursor.integer(minimum=1), None),
        fields.get("detail", Cursor.text, None),
        at,
    )


def _check_possible(code: str, then: _Then, expected: str) -> None:
    """Refuse a code unless the contract lets each operation that is meant return it."""
    unable = then.vocabulary.unable(code, then.vocabulary.named(then.match.operations))
    if not unable:
        return
    names = ", ".join(unable[:_NAMED_OPERATIONS])
    if len(unable) > _NAMED_OPERATIONS:
        names += f" and {len(unable) - _NAMED_OPERATIONS} more"
    then.fields.cursors["problem"].complain(expected, found=f"{excerpt(code)}, which {names} cannot return")


def _hold(then: _Then) -> Fault:
    then.fields.refuse(_DETAILS, 'nothing beside "hold"')
    return HoldFault(then.fields.get("hold", Cursor.duration_ms, 0))


def _network(then: _Then) -> Fault:
    then.fields.refuse(["retry_after", "detail"], '"at" alone beside "network"')
    at = _moment(then.fields)
    cursor = then.fields.cursors["network"]
    if isinstance(cursor.node, MappingNode):
        fields = cursor.fields(("latency",), required=("latency",))
        return NetworkFault("latency", fields.get("latency", Cursor.duration_ms, 0), at)
    kinds = [kind for kind in NETWORK_KINDS if kind != "latency"]
    kind = cursor.word(kinds, also=", or a mapping such as {latency: 250ms}")
    return NO_FAULT if kind is None else NetworkFault(cast(NetworkKind, kind), at=at)


def _deprecated(then: _Then) -> Fault:
    then.fields.refuse(_DETAILS, 'nothing beside "deprecated"')
    fields = then.fields.cursors["deprecated"].fields(("sunset", "link"))
    return DeprecatedFault(fields.get("sunset", Cursor.instant, None), fields.get("link", _link, None))


def _link(cursor: Cursor) -> str | None:
    expected = "an address such as https://docs.example/migration"
    text = cursor.text(expected)
    if text is None or _LINK.fullmatch(text):
        return text
    cursor.complain(expected)
    return None


def _moment(fields: Fields) -> Moment:
    return cast(Moment, fields.get("at", lambda cursor: cursor.word(MOMENTS), "before_commit"))


_FAULT_READERS: Final[Mapping[str, Callable[[_Then], Fault]]] = MappingProxyType(
    {"problem": _problem, "hold": _hold, "network": _network, "deprecated": _deprecated}
)


def _failure_code(cursor: Cursor) -> FailureCode | None:
    return cast(FailureCode | None, cursor.word(FAILURE_CODES))


def _outputs(cursor: Cursor, match: WorkMatch) -> Mapping[int, FailureCode] | None:
    _check_works(cursor, match, GENERATIONS, "outputs", WORKFLOWS)
    slots = 1 if match.works and match.works <= _ONE_SLOT else MAXIMUM_SLOTS
    expected = f"slots from 1 to {slots}" if slots > 1 else "slot 1, the only one of this work"
    named = cursor.named(f"a mapping of {expected}, such as {{1: timed_out}}")
    if named == {}:
        cursor.complain(f"a mapping of {expected}, such as {{1: timed_out}}")
    outputs: dict[int, FailureCode] = {}
    for slot, failure in (named or {}).items():
        if not _SLOT.fullmatch(slot) or int(slot) > slots:
            failure.complain(expected, found=f"the slot {excerpt(slot)}")
        elif code := _failure_code(failure):
            outputs[int(slot)] = code
    return MappingProxyType(outputs)


def _scene(cursor: Cursor, match: WorkMatch) -> Scene | None:
    _check_works(cursor, match, BACKGROUND_WORKS, "a scene", sorted(BACKGROUND_WORKS))
    return cast(Scene | None, cursor.word(SCENES))


def _check_works(cursor: Cursor, match: WorkMatch, able: frozenset[str], what: str, named: Collection[str]) -> None:
    """Refuse a word unless each kind of work that is meant has what it speaks of."""
    unable = sorted(match.works - able)
    if unable:
        works = "every kind of work" if EVERY in unable else ", ".join(unable)
        cursor.complain(f"a rule that matches work with {what}: {', '.join(named)}", found=f"{what} of {works}")
