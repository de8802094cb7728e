"""What the journal of a run shows: the calls, and what they made. Reads the JSON of recorded requests.

Calls are counted as a scenario counts them: a request counts once its credential and rate were accepted, for each Team
by itself. Work counts once it was admitted. What was made are Products and work; a lost answer must not make more of
them. Work that a fault of the sweep let fail was made in vain. Must not know which faults are tried.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct, field

from image_workflow_emulator.domain.problems import CATALOGUE, Check

Entry: TypeAlias = Mapping[str, Any]
"""A request of the journal, as `requests` shows it."""
MADE_TWICE: Final = "made-twice"
"""The rule that is broken where more was made than in the clean run."""
_UNCOUNTED: Final = (Check.ROUTE, Check.CREDENTIAL, Check.RATE)
_ORDER: Final = tuple(Check)


class Call(Struct, eq=False):
    """The Nth call of an operation or byte surface."""

    operation: str
    number: int
    is_read: bool
    refusal: str | None
    """The code that it was refused with."""

    def can_return(self, code: str) -> bool:
        """Tell whether a scenario could have caused a problem: an earlier refusal still comes first."""
        if self.refusal is None or code == "internal_error":
            return True
        return _ORDER.index(CATALOGUE[code].check) <= _ORDER.index(CATALOGUE[self.refusal].check)


class Work(Struct, eq=False):
    """The Nth work that an operation admitted, with its kind and its outputs; an Operation has none."""

    operation: str
    number: int
    kind: str
    outputs: int


class Evidence(Struct):
    """What the journals of a number of sandboxes show together."""

    calls: dict[str, Call] = {}
    works: dict[str, Work] = {}
    made: Counter[str] = field(default_factory=Counter)
    """How many Products and works were made by each operation, in the sandbox that had most."""
    left: Counter[str] = field(default_factory=Counter)
    """The same, without Products that were deleted."""
    journals: int = 0


def evidence_of(journals: Sequence[Sequence[Entry]]) -> Evidence:
    """Read the journals of sandboxes, each since the sandbox began."""
    found = Evidence(journals=len(journals))
    for journal in journals:
        for call in _calls(journal):
            known = found.calls.setdefault(f"{call.operation}#{call.number}", call)
            known.refusal = known.refusal and call.refusal
        for work in _works(journal):
            known_work = found.works.setdefault(f"{work.operation}#{work.number}", work)
            known_work.outputs = max(known_work.outputs, work.outputs)
        made = Counter(filter(None, map(_made_by, journal)))
        gone = Counter({"createProduct": made.pop("deleteProduct", 0)})
        found.made |= made
        found.left |= made - gone
    return found


def lives_of(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Divide the requests to all sandboxes by sandbox; a reset begins the journal of one again."""
    lives: dict[tuple[str, int], list[Entry]] = {}
    begun: Counter[str] = Counter()
    for entry in entries:
        begun[entry["sandbox"]] += entry["sequence"] == 1
        lives.setdefault((entry["sandbox"], begun[entry["sandbox"]]), []).append(entry)
    return [*lives.values()]


def made_twice(clean: Evidence, run: Evidence) -> Iterator[dict[str, Any]]:
    """Yield a finding if more was made than in the clean run, and not taken back."""
    if max(clean.journals, run.journals) > 1 and clean.journals != run.journals:
        return  # tests shared sandboxes in another way
    excess = [
        f"{name} {run.left[name]} times instead of {clean.left[name]}"
        for name in run.left
        if run.left[name] > clean.left[name] and run.made[name] > clean.made[name]
    ]
    if excess:
        yield {
            "rule": MADE_TWICE,
            "severity": "error",
            "message": f"more was made than without the fault: {', '.join(excess)}",
            "remedy": "repeat a write whose effect is unknown with the Idempotency-Key of its first attempt",
        }


def _calls(journal: Sequence[Entry]) -> Iterator[Call]:
    numbers: Counter[tuple[str, str]] = Counter()
    for entry in filter(_is_counted, journal):
        name, credential = entry["operation"] or entry["bytes"], entry["credential"]
        team = credential["team"]["id"] if credential else ""
        numbers[team, name] += 1
        is_read, code = entry["method"] in ("GET", "HEAD"), entry["code"]
        yield Call(name, numbers[team, name], is_read, None if entry["rule"] else code)


def _works(journal: Sequence[Entry]) -> Iterator[Work]:
    numbers: Counter[str] = Counter()
    for entry in journal:
        body = entry.get("response_body")
        if entry["status"] == 202 and not entry["replayed"] and isinstance(body, Mapping):
            kind = body.get("workflow") or body.get("type")
            numbers[str(kind)] += 1
            outputs = len(body.get("outputs") or ())
            yield Work(entry["operation"], numbers[str(kind)], str(kind), outputs)


def _is_counted(entry: Entry) -> bool:
    """Tell whether a scenario counts a request."""
    is_bytes, code = bool(entry["bytes"]), entry["code"]
    if entry["emulator_fault"] or not (is_bytes or (entry["operation"] and entry["credential"])):
        return False
    return entry["rule"] is not None or code not in CATALOGUE or CATALOGUE[code].check not in _UNCOUNTED


def _made_by(entry: Entry) -> str | None:
    """Return the operation that made a Product or work, or deleted a Product; None if the request did neither."""
    was_in_vain = entry["rule"] is not None and ":fail-" in entry["rule"]["name"]
    is_counted = entry["work"] or entry["operation"] in ("createProduct", "deleteProduct")
    return entry["operation"] if entry["committed"] and is_counted and not was_in_vain else None
