"""The check of answers against the contract notices what it is there to notice; what it accepts, all other tests show."""

import copy
import json
from typing import Any

import pytest

from tests.support.contract_check import ContractChecker, ContractViolationError, Exchange, shipped_checker

REQUEST_ID = ("Request-Id", "req_1")
JSON = ("Content-Type", "application/json")
PROBLEM_TYPE = ("Content-Type", "application/problem+json")
TIMES = dict.fromkeys(("created_at", "updated_at"), "2026-01-01T00:00:00.000Z")
PHOTOS = {"asset_ids": ["ast_1"], "primary_asset_id": "ast_1"}
PRODUCT = {"object": "product", "id": "prd_1", "name": "Shirt", **PHOTOS, **TIMES}
LOCATION = ("Location", "http://emulator.test/v1/products/prd_1")
EXAMPLES = shipped_checker()._document["components"]["examples"]


def example(name: str, **changes: Any) -> dict[str, Any]:
    """An example of the contract, with other fields in its `request`; None leaves a field out."""
    value: dict[str, Any] = copy.deepcopy(EXAMPLES[name]["value"])
    if changes:
        value["request"] = {k: v for k, v in {**value["request"], **changes}.items() if v is not None}
    return value


@pytest.fixture
def checker() -> ContractChecker:
    return shipped_checker()


def problem(status: int, code: str, **changes: Any) -> dict[str, Any]:
    words = {"type": "about:blank", "title": "A title", "detail": "A detail"}
    return {**words, "status": status, "code": code, "request_id": "req_1", **changes}


def exchange(method: str, path: str, status: int, body: Any, *headers: tuple[str, str]) -> Exchange:
    content = b"" if body is None else json.dumps(body).encode()
    media_type = PROBLEM_TYPE if status >= 400 else JSON
    return Exchange(method, path, status, [REQUEST_ID, *([] if body is None else [media_type]), *headers], content)


REFUSED = {
    "an undeclared status": exchange("GET", "/products/prd_1", 410, problem(410, "upload_expired")),
    "an undeclared success": exchange("GET", "/products/prd_1", 202, PRODUCT),
    "404 by default on a known path": exchange("GET", "/team", 404, problem(404, "not_found")),
    "405 on an operation": exchange("GET", "/team", 405, problem(405, "invalid_request"), ("Allow", "GET")),
    "success on an unknown path": exchange("GET", "/nothing", 200, PRODUCT),
    "404 on an unknown method": exchange("PUT", "/team", 404, problem(404, "not_found")),
    "405 without Allow": exchange("PUT", "/team", 405, problem(405, "invalid_request")),
    "a missing field": exchange("GET", "/products/p", 200, {k: v for k, v in PRODUCT.items() if k != "name"}),
    "an undeclared field": exchange("GET", "/products/p", 200, PRODUCT | {"colour": "red"}),
    "a wrong type": exchange("GET", "/products/p", 200, PRODUCT | {"name": None}),
    "a timestamp without milliseconds": exchange(
        "GET", "/products/p", 200, PRODUCT | {"created_at": "2026-01-01T00:00:00Z"}
    ),
    "a day that is none": exchange("GET", "/products/p", 200, PRODUCT | {"created_at": "2026-02-30T00:00:00.000Z"}),
    "an undeclared field further in": exchange(
        "GET", "/products", 200, {"data": [], "page": {"has_more": False, "next_cursor": "", "total": 0}}
    ),
    "a missing Location": exchange("POST", "/products", 201, PRODUCT),
    "an undeclared Location": exchange("GET", "/products/p", 200, PRODUCT, LOCATION),
    "an undeclared Retry-After": exchange("GET", "/products/p", 200, PRODUCT, ("Retry-After", "1")),
    "a missing Retry-After": exchange("GET", "/team", 429, problem(429, "rate_limited")),
    "a pause without Retry-After": exchange("POST", "/products", 503, problem(503, "service_unavailable")),
    "a Retry-After that is no number": exchange(
        "GET", "/team", 429, problem(429, "rate_limited"), ("Retry-After", "1.5")
    ),
    "two Request-Ids": exchange("GET", "/products/p", 200, PRODUCT, REQUEST_ID),
    "another request_id": exchange("GET", "/nothing", 404, problem(404, "not_found", request_id="req_2")),
    "another status": exchange("GET", "/nothing", 404, problem(400, "not_found")),
    "another type": exchange("GET", "/nothing", 404, problem(404, "not_found", type="https://errors.example/1")),
    "a code of another status": exchange("GET", "/products/p", 404, problem(404, "asset_not_found")),
    "an undeclared member": exchange("GET", "/nothing", 404, problem(404, "not_found", recovery="none")),
    "no active_operation_id": exchange("PATCH", "/poses/p", 409, problem(409, "resource_operation_in_progress")),
    "an active_operation_id elsewhere": exchange(
        "PATCH", "/poses/p", 409, problem(409, "idempotency_in_progress", active_operation_id="op_1")
    ),
    "a body where none belongs": exchange("DELETE", "/products/p", 204, PRODUCT),
    "no body": exchange("GET", "/products/p", 200, None),
    "no Request-Id": Exchange("DELETE", "/products/p", 204, [], b""),
    "another media type": Exchange("GET", "/team", 401, [REQUEST_ID, JSON], b"{}"),
    "what is not JSON": Exchange("GET", "/products/p", 200, [REQUEST_ID, JSON], b"{"),
    "a wrong Content-Length": exchange("GET", "/products/p", 200, PRODUCT, ("Content-Length", "1")),
    "an Operation at once": exchange("PATCH", "/poses/p", 200, example("poseUpdateQueued")),
    "a Pose by an Operation": exchange("PATCH", "/poses/p", 202, example("pose"), LOCATION),
    "a field of another echo": exchange("GET", "/generations/g", 200, example("upscaleQueued", instructions="x")),
    "an echo without a field": exchange("GET", "/generations/g", 200, example("upscaleQueued", asset_id=None)),
    "an echo without a default": exchange("GET", "/generations/g", 200, example("photoshootQueued", background=None)),
    "a field of another Operation": exchange("GET", "/operations/o", 200, example("operationQueued", gender="male")),
    "an unknown code": exchange("GET", "/nothing", 404, problem(404, "gone_fishing")),
    "a Deprecation that is no date": exchange("GET", "/products/p", 200, PRODUCT, ("Deprecation", "true")),
    "a key twice": Exchange("GET", "/products/p", 200, [REQUEST_ID, JSON], b'{"object": 1, "object": 1}'),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_refuses(checker: ContractChecker, case: str) -> None:
    with pytest.raises(ContractViolationError):
        checker.check(REFUSED[case])


def test_it_tells_everything_that_is_wrong(checker: ContractChecker) -> None:
    wrong = Exchange("POST", "/products", 201, [JSON], json.dumps(PRODUCT | {"name": 7, "colour": "red"}).encode())
    with pytest.raises(ContractViolationError) as caught:
        checker.check(wrong)
    for part in ("request-id is missing", "location is missing", "/name", "colour"):
        assert part in str(caught.value)
