"""What rules can reach: requests that the contract excludes, and rules that never act since an earlier one always does.

The first are mistakes, of which the document complains; the second are warnings, since nothing breaks.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from emulator.contract import Contract, OperationContract
from emulator.documents.document import Document
from emulator.documents.schemas import Steps, Violation
from emulator.scenario.matching import ALWAYS, EVERY, RequestMatch
from emulator.scenario.scenario import Rule, Scenario, WorkRule
from emulator.scenario.world import TeamChange


def check_request(
    document: Document, steps: Steps, match: RequestMatch, operations: Sequence[OperationContract], contract: Contract
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
        if before is not None:
            place = f"{rule.file}:{rule.line}: " if rule.line else ""
            yield f'{place}the rule "{rule.name}" can never act: "{before.name}" acts on every request that it matches'
    if not has_rate_limits and _limits_rates(scenario):
        yield f"the scenario {scenario.name} limits requests per minute, but rate limits are off here"


def _always_precedes(one: Rule, other: Rule) -> bool:
    """Whether a rule acts on everything that a later one matches."""
    if one.when != ALWAYS or type(one) is not type(other):
        return False
    if isinstance(one, WorkRule) and one.outcome.outputs:  # work without these slots is left to the next rule
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
    return any(isinstance(change, TeamChange) and "requests_per_minute" in change.values for change in changes)
