"""The bodies of recorded calls, as far as the contract allows what is in them.

Nobody who reads them has to check types again.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from image_workflow_emulator.contract import Contract, OperationContract
from image_workflow_emulator.documents.schemas import MAX_COMPLAINTS
from image_workflow_emulator.documents.violations import Steps, Violation
from image_workflow_emulator.drift.exchanges import RecordedExchange
from image_workflow_emulator.drift.json_values import json_of
from image_workflow_emulator.scenario.matching import ByteSurface

WITHOUT_MILLISECONDS: Final = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(Z|[+-]\d\d:\d\d)"
)
"""A timestamp as the specification does not have it, whose meaning is clear."""
_OF_PROBLEMS: Final = ("code", "request_id", "active_operation_id")
_MAX_ROUNDS: Final = 10
"""How often an answer is searched for violations, which are reported a hundred at once."""


class Bodies(NamedTuple):
    """The bodies of a call, as far as the contract allows them."""

    body: Mapping[str, Any]
    answer: Mapping[str, Any]
    violations: Sequence[Violation]
    is_partial: bool
    """Whether the recording lacks one of them."""


class BodyReader:
    """Reads the bodies of exchanges by the contract."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract

    def read(
        self,
        exchange: RecordedExchange,
        operation: OperationContract | None,
        surface: ByteSurface | None,
    ) -> Bodies:
        """Return the bodies of a call of an operation or of a byte surface."""
        takes_body = surface == "upload"
        schema = None
        if surface == "upload":
            schema = "DirectUploadResponseBody"
        if operation is not None:
            takes_body = operation.body is not None
            schema = self._contract.schema_of_success(operation, exchange.status or 0)
        lacks_body = takes_body and exchange.request_body is None
        lacks_answer = False
        answer: Mapping[str, Any]
        violations: Sequence[Violation] = ()
        recorded_answer = json_of(exchange.response_body)
        if not isinstance(recorded_answer, dict):
            recorded_answer = {}
        if schema is None or not _is_success(exchange):
            answer = _problem_members(recorded_answer)
        elif exchange.response_body is None:
            answer = {}
            lacks_answer = True
        else:
            answer, violations = self._by_the_contract(schema, recorded_answer)
        return Bodies(
            body=self._request_body(exchange, operation),
            answer=answer,
            violations=violations,
            is_partial=lacks_body or lacks_answer,
        )

    def _request_body(
        self,
        exchange: RecordedExchange,
        operation: OperationContract | None,
    ) -> Mapping[str, Any]:
        if operation is None or operation.body is None:
            return {}
        body: Mapping[str, Any] | None = json_of(exchange.request_body)
        if body is None or self._contract.violations(operation.body, body):
            return {}
        return body

    def _by_the_contract(
        self,
        schema: str,
        answer: dict[str, Any],
    ) -> tuple[Mapping[str, Any], Sequence[Violation]]:
        """Return an answer without what breaks the contract, and what that was.

        Nothing is left of an answer that breaks it in more ways than are searched for.
        """
        violations: list[Violation] = []
        removed: set[Steps] = set()
        is_cut = True
        for _ in range(_MAX_ROUNDS):
            current = self._contract.violations(schema, answer)
            # A further round only shows what follows from the removals, unless the one
            # before was cut.
            if is_cut:
                violations += [
                    violation
                    for violation in current
                    if violation.steps not in removed and violation not in violations
                ]
            invalid = [
                violation for violation in current if violation.kind != "missing"
            ]
            is_cut = len(current) > MAX_COMPLAINTS
            if not invalid and not is_cut:
                return answer, violations
            removed |= _mend(answer, invalid)
        return {}, violations


def _is_success(exchange: RecordedExchange) -> bool:
    return exchange.status is not None and 200 <= exchange.status < 300


def _problem_members(answer: Mapping[str, Any]) -> dict[str, str]:
    """Return the members of a problem that have a meaning."""
    members = {name: answer.get(name) for name in _OF_PROBLEMS}
    return {name: text for name, text in members.items() if isinstance(text, str)}


def _mend(answer: dict[str, Any], violations: Sequence[Violation]) -> set[Steps]:
    """Remove the values that break the contract, and return their places.

    Timestamps that lack only milliseconds get them: their meaning is clear.
    """
    places = dict.fromkeys(
        violation.steps for violation in violations if violation.steps
    )
    for *steps, last in reversed(places):  # the last items of a list first
        holder: Any = answer
        for step in steps:
            holder = holder[step]
        mended = _with_milliseconds(holder[last])
        if mended is None:
            del holder[last]
        else:
            holder[last] = mended
    return set(places)


def _with_milliseconds(value: object) -> str | None:
    """Return a timestamp that lacks only these; None for any other value."""
    if not isinstance(value, str):
        return None
    match = WITHOUT_MILLISECONDS.fullmatch(value)
    if match is None:
        return None
    until_seconds, offset = match.groups()
    return f"{until_seconds}.000{offset}"
