"""How a scenario file spells what becomes of work: what stands under `then` of a rule that matches work."""

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final, cast

from emulator.documents.complaints import one_of
from emulator.domain.problems import excerpt
from emulator.domain.resources import WORKFLOWS, Scene
from emulator.scenario.faults.registry import REQUEST_WORDS, THEN_WORDS
from emulator.scenario.matching import EVERY, WorkMatch
from emulator.scenario.outcomes import (
    FAILURE_CODES,
    MAXIMUM_SLOTS,
    NO_OUTCOME,
    OUTCOME_WORDS,
    SCENES,
    FailureCode,
    WorkOutcome,
)
from emulator.scenario.reading import Cursor
from emulator.scenario.vocabulary import BACKGROUND_WORKS, GENERATIONS

_ONE_SLOT: Final = GENERATIONS - {"product_photography"}
_SLOT: Final = re.compile(r"[1-9]\d{0,8}", re.ASCII)


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
