"""What a scenario file names and what its rules can reach: Teams, keys, rules, and requests that the contract excludes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from image_workflow_emulator.contract import Contract, OperationContract
from image_workflow_emulator.documents.document import Document
from image_workflow_emulator.documents.schemas import Steps, Violation
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.matching import Match
from image_workflow_emulator.scenario.world import WorldNames

# Names ----------------------------------------------------------------------------------------------------------------


def rule_name(rule: Mapping[str, Any], index: int) -> str:
    """Return the name of a rule: one without a name is called by its place, `rule 1`."""
    return str(rule.get("name", f"rule {index + 1}"))


def check_names(document: Document, texts: Mapping[str, Any], names: WorldNames | None) -> None:
    """Complain of names that two rules have, and, if the world is known, of Teams and keys that cannot be named."""
    _check_rule_names(document, texts.get("rules", ()))
    if names is None:
        return
    known = _with_world(names, texts.get("world", {}))
    teams, keys = known.usable(known.teams), known.usable(known.keys)
    for steps, given in _naming(texts):
        if "team" in given:
            document.check_word((*steps, "team"), given["team"], teams, "the name of a Team")
        if "credential" in given:
            document.check_word((*steps, "credential"), given["credential"], keys, "a key of the world")


def _check_rule_names(document: Document, rules: Sequence[Mapping[str, Any]]) -> None:
    taken: dict[str, int] = {}
    for index, rule in enumerate(rules):
        name = rule_name(rule, index)
        if name in taken:
            found = f"the name {excerpt(name)} again, first given to {document.place_of(('rules', taken[name]))}"
            document.complain(("rules", index), "a name of its own for each rule", found)
        taken.setdefault(name, index)


def _with_world(names: WorldNames, world: Mapping[str, Any]) -> WorldNames:
    """Return the names with those that a scenario's world brings along."""
    teams, keys = dict(names.teams), dict(names.keys)
    for name, team in world.get("teams", {}).items():
        teams.setdefault(name, name)
        for credential in team.get("credentials", ()):
            keys.setdefault(credential["key"], teams[name])
    return replace(names, teams=teams, keys=keys)


def _naming(texts: Mapping[str, Any]) -> Iterator[tuple[Steps, Mapping[str, Any]]]:
    """Return the parts of a file that can name a Team or a key, with their places."""
    for index, rule in enumerate(texts.get("rules", ())):
        yield ("rules", index, "match"), rule.get("match", {})
    for index, change in enumerate(texts.get("timeline", ())):
        yield ("timeline", index, "after", "match"), change.get("after", {}).get("match", {})
        yield ("timeline", index, "set"), change["set"]


# Reach ----------------------------------------------------------------------------------------------------------------


def check_request(
    document: Document, steps: Steps, match: Match, operations: Sequence[OperationContract], contract: Contract
) -> None:
    """Complain of a body or query that none of the operations can have."""
    if match.body:
        for violation in _violations(match.body, operations, contract):
            where = (*steps, "body", *violation.steps)
            is_unknown = violation.kind == "unknown"
            document.complain(where, violation.expected, violation.found, violation.suggestions, at_key=is_unknown)
    for name, value in match.query.items():
        parameters = [operation.query[name] for operation in operations if name in operation.query]
        where = (*steps, "query", name)
        if parameters:
            unmet = [parameter.unmet(value) for parameter in parameters]
            if None not in unmet:
                document.complain(where, str(unmet[0]))
        else:
            document.check_word(
                where, name, {known for operation in operations for known in operation.query}, at_key=True
            )


def _violations(body: Any, operations: Sequence[OperationContract], contract: Contract) -> list[Violation]:
    """Return why a part of a body is part of no body, by the operation that comes nearest."""
    schemas = dict.fromkeys(operation.body for operation in operations if operation.body is not None)
    found = (contract.violations(schema, body) for schema in schemas)
    wrong = [[violation for violation in violations if violation.kind != "missing"] for violations in found]
    return min(wrong, key=lambda some: [[violation.kind for violation in some].count("unknown"), len(some)], default=[])
