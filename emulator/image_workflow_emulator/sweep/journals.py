"""What the journals of sandboxes show: the calls of a command, and the work they
admitted.

Calls are counted as a scenario counts them: a request counts once its credential and
rate were accepted, for each Team by itself. Work counts once it was admitted. Must not
know which faults are tried.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.domain.problems import CATALOGUE, ENTRANCE_CHECKS, Check


class Entry(RecordedRequest, frozen=True, kw_only=True):
    """A recorded request, with the sandbox to which it was sent."""

    sandbox: str = ""
    """Empty in the journal of a single sandbox."""

    @property
    def name(self) -> str:
        """Its operation, or the byte surface."""
        return self.operation or self.bytes or ""

    @property
    def is_read(self) -> bool:
        """Whether it changes nothing, by its method."""
        return self.method in ("GET", "HEAD")

    @property
    def team_id(self) -> str:
        """The id of the Team whose key it brought; empty if it brought none."""
        if self.credential is None:
            return ""
        return str(self.credential["team"]["id"])

    @property
    def rule_name(self) -> str:
        """The name of the rule that acted on it; empty if none did."""
        if self.rule is None:
            return ""
        return str(self.rule["name"])

    @property
    def is_unanswered(self) -> bool:
        """Whether its client got no answer, or no more than a part of one."""
        return self.lost or self.status is None

    @property
    def answer(self) -> dict[str, Any]:
        """The members of its answer; none if it is no JSON object."""
        if isinstance(self.response_body, dict):
            return self.response_body
        return {}


Journal: TypeAlias = Sequence[Entry]
"""The requests to one sandbox, oldest first."""

_CHECKS_IN_ORDER: Final = tuple(Check)
_FIRST_OF_OPERATION: Final = Check.RESOURCE
"""Before this check a scenario causes `internal_error`, once others have passed."""


class Call(Struct, eq=False):
    """The Nth call of an operation or byte surface."""

    operation: str
    number: int
    number_carried_out: int
    """Which of those that were carried out it is; 0 if it was refused. Rules that act
    after the commit count these alone."""
    entry: Entry

    @property
    def refusal(self) -> str | None:
        """The code with which the service itself refused it."""
        return _refusal(self.entry)

    @property
    def fails_by_rule(self) -> bool:
        """Whether a rule of its sandbox's own scenario lets it fail."""
        is_failed = self.entry.is_unanswered or self.entry.code is not None
        return self.entry.rule is not None and is_failed

    def can_return(self, code: str) -> bool:
        """Tell whether a scenario could have caused a problem. It could not if the
        service itself refused the call by an earlier check.
        """
        if self.refusal is None:
            return True
        check = CATALOGUE[code].check
        if code == "internal_error" and self.entry.operation:
            check = _FIRST_OF_OPERATION
        refusing_check = CATALOGUE[self.refusal].check
        refused_at = _CHECKS_IN_ORDER.index(refusing_check)
        return _CHECKS_IN_ORDER.index(check) <= refused_at


class Work(Struct, eq=False):
    """The Nth work of its kind that was admitted."""

    operation: str
    number: int
    kind: str
    outputs: int
    """How many outputs it has; an Operation has none."""
    entry: Entry


def calls_of(journal: Journal) -> Iterator[Call]:
    """Iterate over the calls in a sandbox."""
    numbers: Counter[tuple[str, str]] = Counter()
    carried_out: Counter[tuple[str, str]] = Counter()
    for entry in filter(_is_counted, journal):
        call = (entry.team_id, entry.name)
        numbers[call] += 1
        number_carried_out = 0
        if _refusal(entry) is None:
            carried_out[call] += 1
            number_carried_out = carried_out[call]
        yield Call(
            operation=entry.name,
            number=numbers[call],
            number_carried_out=number_carried_out,
            entry=entry,
        )


def works_of(journal: Journal) -> Iterator[Work]:
    """Iterate over the work that was admitted in a sandbox."""
    numbers: Counter[str] = Counter()
    for entry in journal:
        if entry.status != 202 or entry.replayed or not entry.answer:
            continue
        kind = str(entry.answer.get("workflow") or entry.answer.get("type"))
        outputs = entry.answer.get("outputs") or ()
        numbers[kind] += 1
        yield Work(
            operation=entry.name,
            number=numbers[kind],
            kind=kind,
            outputs=len(outputs),
            entry=entry,
        )


def by_sandbox(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Divide requests by their sandboxes. A reset begins a journal anew."""
    journals: dict[tuple[str, int], list[Entry]] = {}
    begun: Counter[str] = Counter()
    for entry in entries:
        if entry.sequence == 1:
            begun[entry.sandbox] += 1
        key = (entry.sandbox, begun[entry.sandbox])
        journal = journals.setdefault(key, [])
        journal.append(entry)
    return list(journals.values())


def _refusal(entry: Entry) -> str | None:
    if entry.rule is not None:
        return None
    return entry.code


def _is_counted(entry: Entry) -> bool:
    """Tell whether a scenario counts a request."""
    is_call = entry.bytes or (entry.operation and entry.credential)
    if entry.emulator_fault or not is_call:
        return False
    problem = CATALOGUE.get(entry.code or "")
    if entry.rule is not None or problem is None:
        return True
    return problem.check not in ENTRANCE_CHECKS
