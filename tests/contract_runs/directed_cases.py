"""Between Schemathesis and the seeded service: which parts of a case are led to what exists, and how answers are checked."""

from collections.abc import Callable
from typing import Any

from schemathesis import Case, Response

from tests.contract_runs.seeded_service import SeededService
from tests.support.contract_check import Exchange, shipped_checker
from tests.support.emulator_client import Json


def direct(case: Case[Any], service: SeededService, resolved_path: Callable[[Json], Json]) -> None:
    """Give a case a key of its own, and let its valid parts refer to what exists; what was made wrong stays wrong."""
    meta = case.meta
    assert meta is not None
    is_valid = meta.generation.mode.is_positive
    negated = {location.container_name for location, part in meta.components.items() if part.mode.is_negative}
    if "headers" not in negated and "Idempotency-Key" in case.headers:
        case.headers["Idempotency-Key"] = service.fresh_key()
    if "path_parameters" not in negated and case.path_parameters:
        case.path_parameters = resolved_path(case.path_parameters)
    if is_valid and case.query:
        case.query = service.resolved_query(case.path, case.query)
    if is_valid and isinstance(case.body, dict):
        case.body = service.resolved_body(case.body, case.path_parameters)


def check_answer(response: Response) -> None:
    """Hold an answer against the contract. Raises ContractViolationError."""
    request: Any = response.request
    path = request.path_url.partition("?")[0].removeprefix("/v1")
    headers = [(name, value) for name, values in response.headers.items() for value in values]
    shipped_checker().check(Exchange(request.method, path, response.status_code, headers, response.content))
