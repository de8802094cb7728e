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

    def read(self, steps: Steps, given: Fields, default: Kind) -> Match:
        """Read a match; `default` is its kind if it names none."""
        kind = next((kind for kind in KINDS if kind in given), default)
        names = given.get(kind, EVERY)
        if isinstance(names, str):
            names = [names]
        fields = {name: value for name, value in given.items() if name != kind}
        match = Match(kind, frozenset(names), **fields)
        self.check_names(steps, given)
        self._check_body(steps, match)
        self._check_query(steps, match)
        return match

    def operations(self, match: Match) -> list[OperationContract]:
        """Return the operations that are meant, in the contract's order."""
        return [
            operation
            for operation in self._contract.operations.values()
            if not match.names.isdisjoint((operation.id, EVERY))
        ]

    def check_names(self, steps: Steps, given: Fields) -> None:
        """Complain of a `team` or `credential` that the world does not have."""
        if self._world is None:
            return
        if "team" in given:
            teams = self._world.usable(self._world.teams)
            place = (*steps, "team")
            self._document.check_word(place, given["team"], teams, "the name of a Team")
        if "credential" in given:
            keys = self._world.usable(self._world.keys)
            place = (*steps, "credential")
            key = given["credential"]
            self._document.check_word(place, key, keys, "a key of the world")

    def _check_body(self, steps: Steps, match: Match) -> None:
        """Complain of a part that no body of the operations has."""
        if not match.body:
            return
        for violation in self._body_violations(match):
            self._document.complain(
                (*steps, "body", *violation.steps),
                violation.expected,
                violation.found,
                at_key=violation.kind == "unknown",
                suggestions=violation.suggestions,
            )

    def _body_violations(self, match: Match) -> list[Violation]:
        """Return why a part of a body fits no operation, by the one that is nearest."""
        schemas = {
            operation.body: None
            for operation in self.operations(match)
            if operation.body is not None
        }
        by_schema = [self._part_violations(schema, match.body) for schema in schemas]
        return min(by_schema, key=_distance, default=[])

    def _part_violations(self, schema: str, part: object) -> list[Violation]:
        """Return the violations of a body of which only a part is there."""
        return [
            violation
            for violation in self._contract.violations(schema, part)
            if violation.kind != "missing"
        ]

    def _check_query(self, steps: Steps, match: Match) -> None:
        """Complain of a parameter that no operation has, or a value that none takes."""
        if not match.query:
            return
        parameters = [operation.query for operation in self.operations(match)]
        for name, value in match.query.items():
            place = (*steps, "query", name)
            unmet = [query[name].unmet(value) for query in parameters if name in query]
            if not unmet:
                names = set().union(*parameters)
                self._document.check_word(place, name, names, at_key=True)
            elif None not in unmet:
                self._document.complain(place, str(unmet[0]))


def _distance(violations: list[Violation]) -> tuple[int, int]:
    """Return how far a body is from a schema: unknown fields weigh most."""
    unknown = sum(violation.kind == "unknown" for violation in violations)
    return unknown, len(violations)
