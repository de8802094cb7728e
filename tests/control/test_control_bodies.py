"""What the control plane makes of bodies and queries that are not as they should be: 400 that says what is wrong.

JSON is read as `/v1` reads it, which tests/web claims. Fields are read by the contract; what it cannot say, or says in
words of its own, is tried here once.
"""

from typing import Any

import pytest

from tests.support.contract_check import read_contract
from tests.support.emulator_client import JSON, EmulatorUnderTest

SCHEMAS = read_contract("control-plane.yaml")["components"]["schemas"]
TAKERS = {
    ("POST", "/sandboxes"): "SandboxWrite",
    ("PUT", "/clock"): "ClockSetting",
    ("POST", "/clock/advance"): "ClockAdvance",
    ("POST", "/teams"): "TeamWrite",
    ("PATCH", "/teams/Demo"): "TeamPatch",
    ("POST", "/teams/Demo/credentials"): "CredentialWrite",
    ("PATCH", "/credentials/iwe_demo_full"): "CredentialPatch",
    ("PUT", "/admission"): "AdmissionWrite",
}
"""Endpoints that take a JSON object, each with its schema."""

MALFORMED = [
    (b"", JSON, 400, "found nothing"),
    (b"{", JSON, 400, "not JSON"),
    (b"[" * 300 + b"]" * 300, JSON, 400, "nested too deeply; expected at most 254 levels"),
    (b"[]", JSON, 400, "an array of 0; expected an object"),
    (b"{}", {"Content-Type": "text/plain"}, 400, "Content-Type"),
    (b'{"nonsense": 1}', JSON, 400, "/nonsense: found an unknown field"),
    (b'"' + b"a" * 1024 * 1024 + b'"', JSON, 413, "1048576"),
]

FAULTY: list[tuple[str, str, Any, str]] = [
    ("POST", "/sandboxes", {"id": "Capital"}, '/id: found "Capital"'),
    ("POST", "/sandboxes", {"id": "a\n"}, "/id"),
    ("POST", "/sandboxes", {"clock": "fast"}, '/clock: found "fast"; expected real, manual, auto'),
    ("POST", "/sandboxes", {"clock": {"rate": 2}}, "/clock/mode: found nothing"),
    ("POST", "/sandboxes", {"world": {"teams": {"T": {"credentials": [{"key": "k"}], "credits": "x"}}}}, "/world/teams/T/credits"),
    ("POST", "/sandboxes", {"world": {"team": {}}}, 'did you mean "teams"'),
    ("PUT", "/clock", {"mode": "manual", "rate": 2}, "/rate: found 2; expected no rate, or the mode real"),
    ("PUT", "/clock", {"mode": "x60", "rate": 2}, "/rate"),
    ("POST", "/clock/advance", {"seconds": 1, "next_event": True}, "found the fields next_event, seconds; expected an object with exactly one"),
    ("POST", "/clock/advance", {"seconds": -0.001}, "/seconds"),
    ("POST", "/clock/advance", {"seconds": 1e300}, "the end of the year 9999"),
    ("POST", "/clock/advance", {"to": "2025-12-31T23:59:59.999Z"}, "a clock never runs backwards"),
    ("POST", "/teams", {"name": "T", "credits": 10**30}, "expected a whole number from 0 to 9007199254740991"),
    ("POST", "/sandboxes", {"id": "x", "start": "1969-12-31T23:59:59.999Z"}, "Z, from 1970 to 9999"),
    ("PATCH", "/teams/Demo", {}, "found no fields; expected an object with at least one of credits"),
    ("PUT", "/admission", {"state": "open", "retry_after": 5}, "/state"),
    ("POST", "/reset", {"seed": 1}, "found the fields seed"),
    ("GET", "/health", {}, "body"),
    ("DELETE", "/sandboxes/default", {}, "body"),
    ("GET", "/teams?name=Demo", None, "expected none"),
    ("GET", "/conduct?ended=soon", None, "expected true or false"),
    ("GET", "/scenario?teams=Demo", None, "expected one of: team"),
    ("GET", "/scenario?team=Demo&team=Demo", None, "more than once"),
    ("GET", "/scenario?team=%FF", None, "UTF-8"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path"), TAKERS)
def test_each_field_is_read_by_the_contract(emulator: EmulatorUnderTest, method: str, path: str) -> None:
    for name in SCHEMAS[TAKERS[method, path]]["properties"].keys() - {"scenario"}:
        status, code, detail = emulator.refusal(method, path, {name: [None]})
        assert (status, code) == (400, "invalid_request")
        assert f"/{name}: found an array of 1; expected " in detail


@pytest.mark.parametrize(("content", "headers", "status", "told"), MALFORMED, ids=[row[3] for row in MALFORMED])
def test_a_malformed_body_is_refused(
    emulator: EmulatorUnderTest, content: bytes, headers: dict[str, str], status: int, told: str
) -> None:
    found = emulator.refusal("PUT", "/clock", content=content, headers=headers)
    assert found[:2] == (status, "invalid_request")
    assert told in found[2]


@pytest.mark.parametrize(("method", "path", "body", "told"), FAULTY, ids=[f"{row[1]} {row[2]}" for row in FAULTY])
def test_what_does_not_fit_is_refused(
    emulator: EmulatorUnderTest, method: str, path: str, body: Any, told: str
) -> None:
    before = emulator.told("GET", "/sandboxes")
    status, code, detail = emulator.refusal(method, path, body)
    assert (status, code) == (400, "invalid_request")
    assert told in detail
    assert emulator.told("GET", "/sandboxes") == before


@pytest.mark.parametrize("content", [b"", b"{}"])
def test_a_reset_takes_a_body_that_says_nothing(emulator: EmulatorUnderTest, content: bytes) -> None:
    assert emulator.ask("POST", "/reset", content=content, headers=JSON).status == 200
