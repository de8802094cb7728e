"""Reads what rules and timelines match, and complains of what no schema can say.

A complaint names operations by the contract, and Teams and keys by the world.
"""

from image_workflow_emulator.contract import Contract, OperationContract
from image_workflow_emulator.documents.document import Document, Fields
from image_workflow_emulator.documents.violations import Steps, Violation
from image_workflow_emulator.scenario.matching import EVERY, KINDS, Kind, Match
from image_workflow_emulator.scenario.world import WorldNames


class MatchReader:
    """Reads every `match` of a document whose shape is valid."""

    def __init__(
        self,
        document: Document,
        contract: Contract,
        world: WorldNames | None,
    ) -> None:
        self._document = document
        self._contract = contract
        self._world = world

    def read(
        self,
        steps: Steps,
        given: Fields,
        default: Kind,
    ) -> Match:
        """Read a match; `default` is its kind if it names none."""
        kind = _named_kind(given) or default
        conditions = dict(given)
        names = conditions.pop(kind, EVERY)
        if isinstance(names, str):
            names = [names]
        match = Match(
            kind=kind,
            names=frozenset(names),
            **conditions,
        )
        self.check_names(steps, given)
        self._check_body(steps, match)
        self._check_query(steps, match)
        return match

    def operations(self, match: Match) -> list[OperationContract]:
        """Return the operations that are meant, in the contract's order."""
        operations = self._contract.operations.values()
        return [operation for operation in operations if match.means(operation.id)]

    def check_names(self, steps: Steps, given: Fields) -> None:
        """Complain of a `team` or `credential` that the world does not have."""
        if self._world is None:
            return
        if "team" in given:
            self._document.check_word(
                (*steps, "team"),
                word=given["team"],
                words=self._world.usable(self._world.teams),
                kind="the name of a Team",
            )
        if "credential" in given:
            self._document.check_word(
                (*steps, "credential"),
                word=given["credential"],
                words=self._world.usable(self._world.keys),
                kind="a key of the world",
            )

    def _check_body(self, steps: Steps, match: Match) -> None:
        """Complain of a part that no body of the operations has."""
        if not match.body:
            return
        for violation in self._body_violations(match):
            self._document.complain(
                (*steps, "body", *violation.steps),
                expected=violation.expected,
                found=violation.found,
                at_key=violation.kind == "unknown",
                suggestions=violation.suggestions,
            )

    def _body_violations(self, match: Match) -> list[Violation]:
        """Return why a part of a body fits no operation, by the one that is nearest."""
        nearest: list[Violation] | None = None
        for operation in self.operations(match):
            if operation.body is None:
                continue
            violations = self._part_violations(operation.body, match.body)
            if nearest is None or _distance(violations) < _distance(nearest):
                nearest = violations
        return nearest or []

    def _part_violations(self, schema: str, part: object) -> list[Violation]:
        """Return the violations of a body of which only a part is there."""
        violations = self._contract.violations(schema, part)
        return [violation for violation in violations if violation.kind != "missing"]

    def _check_query(self, steps: Steps, match: Match) -> None:
        """Complain of a parameter that no operation has, or a value that none takes."""
        if not match.query:
            return
        queries = [operation.query for operation in self.operations(match)]
        for name, value in match.query.items():
            place = (*steps, "query", name)
            parameters = [query[name] for query in queries if name in query]
            if not parameters:
                names = set().union(*queries)
                self._document.check_word(place, name, names, at_key=True)
                continue
            expectations = [parameter.unmet(value) for parameter in parameters]
            is_accepted = None in expectations
            if not is_accepted:
                self._document.complain(place, expected=str(expectations[0]))


def _named_kind(match: Fields) -> Kind | None:
    """Return the kind whose word a match has."""
    return next((kind for kind in KINDS if kind in match), None)


def _distance(violations: list[Violation]) -> tuple[int, int]:
    """Return how far a body is from a schema: unknown fields weigh most."""
    unknown = sum(violation.kind == "unknown" for violation in violations)
    return unknown, len(violations)
