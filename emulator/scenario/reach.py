"""What rules can reach: a rule about requests that the contract excludes is a mistake, of which the document complains."""

from collections.abc import Sequence
from typing import Any

from emulator.contract import Contract, OperationContract
from emulator.documents.document import Document
from emulator.documents.schemas import Steps, Violation
from emulator.scenario.matching import RequestMatch


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
