"""What a scenario file names and what its rules can reach: Teams, keys, rules, and requests that the contract excludes.

What cannot be is a mistake, of which the document complains. Rules that never act since an earlier one always does are
warnings, since nothing breaks.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from image_workflow_emulator.contract import Contract, OperationContract
from image_workflow_emulator.documents.document import Document
from image_workflow_emulator.documents.schemas import Steps, Violation
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.matching import ALWAYS, EVERY, Match
from image_workflow_emulator.scenario.scenario import Rule, Scenario
from image_workflow_emulator.scenario.world import WorldNames, WorldTeam

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
    kinds = (("team", known.teams, "the name of a Team"), ("credential", known.keys, "a key of the world"))
    for steps, given in _naming(texts):
        for field, there_are, kind in kinds:
            if field in given:
                document.check_word((*steps, field), given[field], known.usable(there_are), kind)


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


def warnings_of(scenario: Scenario, has_rate_limits: bool = True) -> Iterator[str]:
    """Return what of a scenario cannot have an effect, in words that name file and line."""
    for index, rule in enumerate(scenario.rules):
        before = next((earlier for earlier in scenario.rules[:index] if _always_precedes(earlier, rule)), None)
        never = f"{rule.file}:{rule.line}: " if rule.line else ""
        never += f'the rule "{rule.name}" can never act'
        if rule.when.probability == 0:
            yield f"{never}: its probability is 0"
        elif before is not None:
            yield f'{never}: "{before.name}" acts on all that it matches'
    if not has_rate_limits and _limits_rates(scenario):
        yield f"the scenario {scenario.name} limits requests per minute, but rate limits are off here"


def _always_precedes(one: Rule, other: Rule) -> bool:
    """Whether a rule acts on everything that a later one matches."""
    if one.when != ALWAYS:
        return False
    if one.outcome.outputs:  # work without these slots is left to the next rule
        return False
    return all(
        _is_as_wide(getattr(one.match, name), getattr(other.match, name)) for name in one.match.__struct_fields__
    )


def _is_as_wide(one: Any, other: Any) -> bool:
    """Whether one field of a match lets everything through that the same field of another one does."""
    if isinstance(one, frozenset):
        return one == other or EVERY in one or (bool(other) and other <= one)
    return not one or bool(one == other)


def _limits_rates(scenario: Scenario) -> bool:
    changes = [*scenario.world.teams, *(timed.change for timed in scenario.timeline)]
    return any(isinstance(change, WorldTeam) and change.requests_per_minute is not None for change in changes)
