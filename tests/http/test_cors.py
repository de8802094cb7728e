"""`--cors`: programs of other origins in a browser."""

import warnings
from collections.abc import Mapping
from typing import Any

import pytest
from httpx import Headers

from image_workflow_emulator.testing import EmulatorApplication, create_app

ORIGIN = "http://localhost:5173"
PREFLIGHT: Mapping[str, str] = {
    "Access_Control_Request_Method": "POST",
    "Access_Control_Request_Headers": "authorization,idempotency-key",
}


def browser(app: EmulatorApplication) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it would like to have another HTTP library
        from starlette.testclient import TestClient
    return TestClient(app)


def ask(client: Any, path: str, origin: str = ORIGIN, method: str = "GET", **headers: str) -> tuple[int, Headers]:
    sent = {"Origin": origin, **{name.replace("_", "-"): value for name, value in headers.items()}}
    answer = client.request(method, path, headers=sent)
    return answer.status_code, answer.headers


@pytest.fixture(scope="module")
def allowed() -> Any:
    return browser(create_app(clock="manual", cors=[ORIGIN, "https://app.example"]))


def test_a_program_of_an_allowed_origin_may_read_answers_and_problems(allowed: Any) -> None:
    for key, status in (("iwe_demo_full", 200), ("nothing", 401)):
        found, headers = ask(allowed, "/v1/team", Authorization=f"Bearer {key}")
        assert (status, ORIGIN, "Origin") == (found, headers["access-control-allow-origin"], headers["vary"])
        exposed = {name.strip().lower() for name in headers["access-control-expose-headers"].split(",")}
        assert exposed >= {"request-id", "retry-after", "location"}


def test_any_other_origin_is_told_and_allowed_nothing(allowed: Any) -> None:
    _, headers = ask(allowed, "/v1/team", "https://elsewhere.example", Authorization="Bearer iwe_demo_full")
    assert "access-control-allow-origin" not in headers
    status, headers = ask(allowed, "/v1/uploads", "https://elsewhere.example", "OPTIONS", **PREFLIGHT)
    assert (400, False) == (status, "access-control-allow-origin" in headers)
    assert "access-control-allow-origin" not in ask(browser(create_app()), "/v1/team")[1]  # without the option


@pytest.mark.parametrize("path", ["/v1/uploads", "/direct-uploads/default/x", "/files/x"])
def test_a_preflight_is_answered_and_is_no_request_of_the_journal(allowed: Any, path: str) -> None:
    before = len(allowed.app.sandbox.requests())
    status, headers = ask(allowed, path, method="OPTIONS", **PREFLIGHT, Access_Control_Request_Private_Network="true")
    assert (200, ORIGIN) == (status, headers["access-control-allow-origin"])
    assert "true" == headers["access-control-allow-private-network"]
    assert "authorization,idempotency-key" == headers["access-control-allow-headers"]
    assert "POST" in headers["access-control-allow-methods"]
    assert before == len(allowed.app.sandbox.requests())


def test_the_control_plane_stays_closed() -> None:
    everyone = browser(create_app(clock="manual", cors="*"))
    assert "*" == ask(everyone, "/v1/team", "null")[1]["access-control-allow-origin"]
    for method in ("GET", "OPTIONS"):
        status, headers = ask(everyone, "/_emulator/teams", "https://elsewhere.example", method, **PREFLIGHT)
        assert (403, False) == (status, "access-control-allow-origin" in headers)
