"""Reads the rules of a scenario, and complains of what no schema can say.

Owns which words go together under `then`.
"""

import json
from collections.abc import Mapping
from typing import Final

from image_workflow_emulator.contract import OperationContract
from image_workflow_emulator.documents.document import Document, Fields
from image_workflow_emulator.documents.violations import Steps
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.kernel.wording import excerpt, first_of
from image_workflow_emulator.scenario.fault_words import FAULTS
from image_workflow_emulator.scenario.faults import NO_FAULT, Fault
from image_workflow_emulator.scenario.match_reader import MatchReader
from image_workflow_emulator.scenario.matching import Kind, Match, Nth, When
from image_workflow_emulator.scenario.outcomes import WorkOutcome
from image_workflow_emulator.scenario.scenario import Rule

THEN_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "problem": ("retry_after", "detail", "at"),
    "hold": (),
    "network": ("at",),
    "deprecated": (),
    "client": (),
    "outputs": ("duration",),
    "fail": ("duration", "scene"),
    "stall": ("scene",),
    "duration": ("scene",),
    "scene": (),
}
"""The words that `then` can say, with the options that go with each. A rule says one of
these words; `duration` and `scene` are options too."""


class RuleReader:
    """Reads the rules of a document whose shape is valid."""

    def __init__(self, document: Document, matches: MatchReader) -> None:
        self._document = document
        self._matches = matches
        self._first_use: dict[str, int] = {}
        """The index of the first rule with a name, by that name."""

    def read(self, index: int, given: Fields) -> Rule:
        """Read a rule; one without a name is called by its place."""
        steps: Steps = ("rules", index)
        then = given["then"]
        self._check_then((*steps, "then"), then)
        name = given.get("name", f"rule {index + 1}")
        self._check_name(steps, name, index)
        fault = _fault(then)
        given_match = given.get("match", {})
        match = self._read_match((*steps, "match"), given_match, fault)
        if "problem" in then and match.kind == "operation":
            self._check_code((*steps, "then", "problem"), then["problem"], match)
        then_as_written = self._document.at(*steps, "then")
        return Rule(
            name=name,
            match=match,
            fault=fault,
            outcome=_outcome(then),
            when=self._when((*steps, "when"), given.get("when", {})),
            file=self._document.file,
            line=self._document.position(*steps).line,
            then=json.dumps(then_as_written, ensure_ascii=False),
        )

    def _read_match(
        self,
        steps: Steps,
        given: Fields,
        fault: Fault,
    ) -> Match:
        """Read what a rule means: work, if it says nothing and has no fault."""
        default: Kind = "operation"
        if fault is NO_FAULT:
            default = "work"
        return self._matches.read(steps, given, default)

    def _check_then(self, steps: Steps, then: Fields) -> None:
        """Complain of what does not go with the word that `then` says."""
        word = next((word for word in THEN_OPTIONS if word in then), None)
        if word is None:
            words = ", ".join(THEN_OPTIONS)
            self._document.complain(steps, f"one of {words}")
            return
        fitting = (word, *THEN_OPTIONS[word])
        expected = f"only {', '.join(fitting)}"
        unfitting = [name for name in then if name not in fitting]
        for name in unfitting:
            self._document.complain(
                (*steps, name),
                expected=expected,
                found="an unknown field",
                at_key=True,
            )

    def _check_name(
        self,
        steps: Steps,
        name: str,
        index: int,
    ) -> None:
        """Complain of a name that another rule has."""
        first = self._first_use.setdefault(name, index)
        if first == index:
            return
        self._document.complain(
            steps,
            expected="a name of its own for each rule",
            found=f"the name {excerpt(name)} again, first given to /rules/{first}",
        )

    def _when(self, steps: Steps, given: Fields) -> When:
        """Read on which matches a rule acts."""
        when = When(
            nth=given.get("nth", Nth()),
            from_ms=given.get("from", 0),
            until_ms=given.get("until"),
            every_ms=given.get("every"),
            for_ms=given.get("for", 0),
            probability=given.get("probability", 1.0),
            per=given.get("per"),
        )
        if when.until_ms is not None and when.until_ms <= when.from_ms:
            expected = f'a time after "from", which is {when.from_ms} ms'
            self._document.complain((*steps, "until"), expected)
        if when.every_ms is not None and not 0 < when.for_ms <= when.every_ms:
            expected = f'a span above 0 and up to "every", which is {when.every_ms} ms'
            self._document.complain((*steps, "for"), expected)
        return when

    def _check_code(
        self,
        steps: Steps,
        code: str,
        match: Match,
    ) -> None:
        """Complain of a code that the contract does not allow for each operation."""
        operations = self._matches.operations(match)
        unable = [
            operation.id for operation in operations if code not in operation.all_codes
        ]
        if not unable:
            return
        codes = ", ".join(_common_codes(operations))
        self._document.complain(
            steps,
            expected=f"a code that every operation of this rule can return: {codes}",
            found=f"{excerpt(code)}, which {first_of(unable, 3)} cannot return",
        )


def _common_codes(operations: list[OperationContract]) -> list[str]:
    """Return the codes that each of some operations can return."""
    codes = frozenset(CATALOGUE)
    for operation in operations:
        codes &= operation.all_codes
    return sorted(codes)


def _fault(then: Fields) -> Fault:
    """Return the fault of requests that `then` asks for; none if it is about work."""
    word = next((word for word in FAULTS if word in then), None)
    if word is None:
        return NO_FAULT
    make_fault = FAULTS[word]
    options = {name: then[name] for name in THEN_OPTIONS[word] if name in then}
    main_value = then[word]
    if isinstance(main_value, dict):
        return make_fault(**main_value, **options)
    return make_fault(main_value, **options)


def _outcome(then: Fields) -> WorkOutcome:
    """Return the outcome of work that `then` asks for."""
    code_by_slot = then.get("outputs", {})
    return WorkOutcome(
        outputs={int(slot): code for slot, code in code_by_slot.items()},
        fail=then.get("fail"),
        duration_ms=then.get("duration"),
        stall="stall" in then,
        scene=then.get("scene"),
    )
