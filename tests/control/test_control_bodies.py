"""Bodies and queries of the control plane.

They are read by the contract; what it cannot say, or says in words of its own, is tried
once.
"""

from typing import Any

import pytest

from tests.support.contract_check import read_contract
from tests.support.emulator_client import JSON
from tests.support.emulator_under_test import EmulatorUnderTest

SCHEMAS = read_contract("control-plane.yaml")["components"]["schemas"]
SCHEMA_BY_ENDPOINT = {
    ("POST", "/sandboxes"): "SandboxWrite",
    ("PUT", "/clock"): "ClockSetting",
    ("POST", "/clock/advance"): "ClockAdvance",
    ("POST", "/teams"): "TeamWrite",
    ("PATCH", "/teams/Demo"): "TeamPatch",
    ("POST", "/teams/Demo/credentials"): "CredentialWrite",
    ("PATCH", "/credentials/iwe_demo_full"): "CredentialPatch",
    ("PUT", "/admission"): "AdmissionWrite",
}
"""Endpoints that take a JSON object."""
BROKEN_WORLD = {"teams": {"T": {"credentials": [{"key": "k"}], "credits": "x"}}}

MALFORMED = [
    (b"", JSON, 400, "found nothing"),
    (b"{", JSON, 400, "not JSON"),
    (b"[" * 300 + b"]" * 300, JSON, 400, "nested too deeply; expected at most 254"),
    (b"[]", JSON, 400, "an array of 0; expected an object"),
    (b"{}", {"Content-Type": "text/plain"}, 400, "Content-Type"),
    (b'{"nonsense": 1}', JSON, 400, "/nonsense: found an unknown field"),
    (b'"' + b"a" * 1024 * 1024 + b'"', JSON, 413, "1048576"),
]
"""Bodies with their headers, the status, and a part of the detail."""

REFUSED: list[tuple[str, str, Any, str]] = [
    ("POST", "/sandboxes", {"id": "Capital"}, '/id: found "Capital"'),
    ("POST", "/sandboxes", {"id": "a\n"}, "/id"),
    (
        "POST",
        "/sandboxes",
        {"clock": "fast"},
        '/clock: found "fast"; expected real, manual, auto',
    ),
    ("POST", "/sandboxes", {"clock": {"rate": 2}}, "/clock/mode: found nothing"),
    (
        "POST",
        "/sandboxes",
        {"clock": {"mode": "manual", "rate": 2}},
        "/clock/rate: found 2",
    ),
    ("POST", "/sandboxes", {"world": BROKEN_WORLD}, "/world/teams/T/credits"),
    ("POST", "/sandboxes", {"world": {"team": {}}}, 'did you mean "teams"'),
    (
        "PUT",
        "/clock",
        {"mode": "manual", "rate": 2},
        "/rate: found 2; expected no rate, or the mode real",
    ),
    ("PUT", "/clock", {"mode": "x60", "rate": 2}, "/rate"),
    (
        "POST",
        "/clock/advance",
        {"seconds": 1, "next_event": True},
        "found the fields next_event, seconds; expected an object with exactly one",
    ),
    ("POST", "/clock/advance", {"seconds": -0.001}, "/seconds"),
    ("POST", "/clock/advance", {"seconds": 1e300}, "the end of the year 9999"),
    (
        "POST",
        "/clock/advance",
        {"to": "2025-12-31T23:59:59.999Z"},
        "a clock never runs backwards",
    ),
    (
        "POST",
        "/teams",
        {"name": "T", "credits": 10**30},
        "expected a whole number from 0 to 9007199254740991",
    ),
    (
        "POST",
        "/sandboxes",
        {"id": "x", "start": "1969-12-31T23:59:59.999Z"},
        "Z, from 1970 to 9999",
    ),
    (
        "PATCH",
        "/teams/Demo",
        {},
        "found no fields; expected an object with at least one of credits",
    ),
    ("PUT", "/admission", {"state": "open", "retry_after": 5}, "/state"),
    ("POST", "/reset", {"seed": 1}, "found the fields seed"),
    ("GET", "/health", {}, "body"),
    ("DELETE", "/sandboxes/default", {}, "body"),
    ("GET", "/teams?name=Demo", None, "expected none"),
    ("GET", "/conduct?ended=soon", None, "expected true or false"),
    (
        "GET",
        "/sandboxes?after=nobody",
        None,
        'after: found "nobody"; expected the id of a sandbox',
    ),
    ("GET", "/requests?limit=0", None, "limit"),
    ("GET", "/scenario?teams=Demo", None, "expected one of: team"),
    ("GET", "/scenario?team=Demo&team=Demo", None, "more than once"),
    ("GET", "/scenario?team=%FF", None, "UTF-8"),
]
"""Requests with a part of the detail of their refusal."""


@pytest.mark.parametrize(("method", "path"), SCHEMA_BY_ENDPOINT)
def test_each_field_is_read_by_the_contract(
    emulator: EmulatorUnderTest,
    method: str,
    path: str,
) -> None:
    schema = SCHEMAS[SCHEMA_BY_ENDPOINT[method, path]]
    fields = schema["properties"].keys() - {"scenario"}

    for name in fields:
        answer = emulator.ask(method, path, {name: [None]})

        assert answer.status == 400
        assert answer.code == "invalid_request"
        assert f"/{name}: found an array of 1; expected " in answer.json["detail"]


@pytest.mark.parametrize(
    ("content", "headers", "status", "complaint"),
    MALFORMED,
    ids=[row[3] for row in MALFORMED],
)
def test_a_malformed_body_is_refused(
    emulator: EmulatorUnderTest,
    content: bytes,
    headers: dict[str, str],
    status: int,
    complaint: str,
) -> None:
    answer = emulator.ask("PUT", "/clock", content=content, headers=headers)

    assert answer.status == status
    assert answer.code == "invalid_request"
    assert complaint in answer.json["detail"]


@pytest.mark.parametrize(
    ("method", "path", "body", "complaint"),
    REFUSED,
    ids=[f"{row[1]} {row[2]}" for row in REFUSED],
)
def test_a_value_that_cannot_be_is_refused_and_changes_nothing(
    emulator: EmulatorUnderTest,
    method: str,
    path: str,
    body: Any,
    complaint: str,
) -> None:
    before = emulator.told("GET", "/sandboxes")

    answer = emulator.ask(method, path, body)

    assert answer.status == 400
    assert answer.code == "invalid_request"
    assert complaint in answer.json["detail"]
    assert emulator.told("GET", "/sandboxes") == before


@pytest.mark.parametrize("content", [b"", b"{}"])
def test_a_reset_takes_a_body_that_says_nothing(
    emulator: EmulatorUnderTest,
    content: bytes,
) -> None:
    answer = emulator.ask("POST", "/reset", content=content, headers=JSON)

    assert answer.status == 200
