"""The control plane's paths, methods, bodies, queries and form of answers, and what it says of itself.

Bodies are read by the contract; what it cannot say, or says in words of its own, is tried once.
"""

from typing import Any

import pytest

from image_workflow_emulator import __version__
from image_workflow_emulator.documents.shipped import shipped_document, shipped_path
from tests.support.contract_check import read_contract
from tests.support.emulator_client import JSON, EmulatorUnderTest, MakeEmulator

PICTURE = "sty_0000000001c8a523a1b0421ce2.1.0"
"""A premade one, with the seed 0."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW")


PAGES = {"": ["GET"], "/reference": ["GET"], "/page/{file}": ["GET"]}
CONTRACT = read_contract("control-plane.yaml")
PATHS = CONTRACT["paths"]
OF_A_SANDBOX = {path: item for path, item in PATHS.items() if "servers" not in item}


def _filled(path: str) -> str:
    names = {
        "sandbox": "default",
        "team": "Demo",
        "credential": "none",
        "request": "1",
        "scenario": "rate-limited",
    }
    return path.format(
        **names, file="icon.svg", path="reference/sweep.md", picture=PICTURE
    )


def _all_paths() -> list[tuple[str, list[str]]]:
    below = {
        f"/sandboxes/{{sandbox}}{path}": item for path, item in OF_A_SANDBOX.items()
    }
    methods = {
        path: [name.upper() for name in item if name != "servers"]
        for path, item in (PATHS | below).items()
    }
    return [(_filled(path), sorted(found)) for path, found in (PAGES | methods).items()]


FINITE = [
    path
    for path, methods in _all_paths()
    if "GET" in methods and not path.endswith("/events")
]
"""What can be read to its end."""


@pytest.mark.parametrize(("path", "methods"), _all_paths())
def test_another_method_is_405_with_those_allowed(
    emulator: EmulatorUnderTest, path: str, methods: list[str]
) -> None:
    allowed = sorted([*methods, "HEAD"] if "GET" in methods else methods)
    for method in METHODS:
        if method not in allowed:
            answer = emulator.ask(method, path)
            assert (answer.status, answer.headers["allow"]) == (405, ", ".join(allowed))
            assert method == "HEAD" or answer.code == "invalid_request"


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "/clock/",
        "/Clock",
        "/contract.toml",
        "/teams/Demo/nothing",
        "/sandboxes/default/health",
        "/sandboxes/default/sandboxes",
        "/sandboxes//clock",
        "/sandboxes/a%2Fb/clock",
    ],
)
def test_an_unknown_path_is_404(emulator: EmulatorUnderTest, path: str) -> None:
    assert emulator.ask("GET", path).outcome == (404, "not_found")


@pytest.mark.parametrize("path", OF_A_SANDBOX)
def test_every_path_of_an_unknown_sandbox_is_404(
    emulator: EmulatorUnderTest, path: str
) -> None:
    for method, operation in OF_A_SANDBOX[path].items():
        body: dict[str, str] | None = {} if "requestBody" in operation else None
        status, code, detail = emulator.refusal(
            method.upper(), _filled(path), body, sandbox="nobody"
        )
        assert (status, code) == (404, "not_found")
        assert '"nobody": there is no such sandbox' in detail


@pytest.mark.parametrize("path", FINITE)
def test_head_answers_as_get_does_without_the_body(
    emulator: EmulatorUnderTest, path: str
) -> None:
    emulator.get("/team")  # the first request
    got, headed = emulator.ask("GET", path), emulator.ask("HEAD", path)
    assert (headed.status, headed.body) == (200, b"")
    length = (
        None if path.endswith("/state") else str(len(got.body))
    )  # a state is sent as it is written
    assert headed.headers.get("content-length") == length


def test_request_ids_are_the_same_in_every_run(
    emulator: EmulatorUnderTest, make_emulator: MakeEmulator
) -> None:
    paths = ("/health", "/nowhere", "/clock")
    answers = [emulator.ask("GET", path) for path in paths]
    assert answers[-1].headers["cache-control"] == "no-store"
    first = [answer.headers["request-id"] for answer in answers]
    assert all(identifier.startswith("ctl_") for identifier in first)
    assert first == sorted(set(first))
    other = make_emulator(seed=5)
    assert first == [other.ask("GET", path).headers["request-id"] for path in paths]


def test_looking_at_a_sandbox_leaves_it_as_it_was(
    emulator: EmulatorUnderTest, make_emulator: MakeEmulator
) -> None:
    for path in (*FINITE, "/nowhere"):
        emulator.ask("GET", path)
    assert emulator.told("GET", "/requests")["data"] == []
    looked_at, left_alone = emulator.get("/team"), make_emulator().get("/team")
    assert looked_at.raw_headers == left_alone.raw_headers
    assert looked_at.body == left_alone.body


@pytest.mark.emulator(
    world="teams: {Demo: {requests_per_minute: 1, credentials: [{key: iwe_demo_full}]}}"
)
def test_the_control_plane_costs_no_rate_limit(emulator: EmulatorUnderTest) -> None:
    for _ in range(20):
        assert emulator.ask("GET", "/teams").status == 200
    assert [emulator.get("/team").status for _ in range(2)] == [200, 429]


def test_the_emulator_tells_its_versions_contract_and_schemas(
    emulator: EmulatorUnderTest,
) -> None:
    assert emulator.told("GET", "/health") == {
        "status": "ok",
        "version": __version__,
        "contract_version": "1.0.0",
    }
    for path in ("/contract", "/contract.json"):
        answer = emulator.ask("GET", path, headers={"Host": "localhost:9"})
        assert answer.headers["content-type"] == "application/json"
        (server,) = answer.json["servers"]
        assert server["url"] == "http://localhost:9/v1"
        assert answer.json == {
            **shipped_document("contract/openapi.yaml"),
            "servers": [server],
        }
    for kind in ("scenario", "world"):
        answer = emulator.ask("GET", f"/{kind}.schema.json")
        assert answer.headers["content-type"] == "application/schema+json"
        assert answer.json == shipped_document(f"contract/{kind}.schema.json")


def test_the_contract_is_served_as_yaml_line_for_line_but_for_its_servers(
    emulator: EmulatorUnderTest,
) -> None:
    answer = emulator.ask("GET", "/contract.yaml")
    assert answer.headers["content-type"] == "application/yaml"
    shipped, served = (
        shipped_path("contract/openapi.yaml").read_text().splitlines(),
        answer.body.decode().splitlines(),
    )
    own = [line for line in served if line not in shipped]
    assert own == ["  - url: http://emulator.test/v1", "    description: This emulator"]
    assert len(served) == len(shipped)


SCHEMAS = CONTRACT["components"]["schemas"]
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
    (
        b"[" * 300 + b"]" * 300,
        JSON,
        400,
        "nested too deeply; expected at most 254 levels",
    ),
    (b"[]", JSON, 400, "an array of 0; expected an object"),
    (b"{}", {"Content-Type": "text/plain"}, 400, "Content-Type"),
    (b'{"nonsense": 1}', JSON, 400, "/nonsense: found an unknown field"),
    (b'"' + b"a" * 1024 * 1024 + b'"', JSON, 413, "1048576"),
]

FAULTY: list[tuple[str, str, Any, str]] = [
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
        {"world": {"teams": {"T": {"credentials": [{"key": "k"}], "credits": "x"}}}},
        "/world/teams/T/credits",
    ),
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
    ("GET", "/scenario?teams=Demo", None, "expected one of: team"),
    ("GET", "/scenario?team=Demo&team=Demo", None, "more than once"),
    ("GET", "/scenario?team=%FF", None, "UTF-8"),
]


@pytest.mark.parametrize(("method", "path"), TAKERS)
def test_each_field_is_read_by_the_contract(
    emulator: EmulatorUnderTest, method: str, path: str
) -> None:
    for name in SCHEMAS[TAKERS[method, path]]["properties"].keys() - {"scenario"}:
        status, code, detail = emulator.refusal(method, path, {name: [None]})
        assert (status, code) == (400, "invalid_request")
        assert f"/{name}: found an array of 1; expected " in detail


@pytest.mark.parametrize(
    ("content", "headers", "status", "told"),
    MALFORMED,
    ids=[row[3] for row in MALFORMED],
)
def test_a_malformed_body_is_refused(
    emulator: EmulatorUnderTest,
    content: bytes,
    headers: dict[str, str],
    status: int,
    told: str,
) -> None:
    found = emulator.refusal("PUT", "/clock", content=content, headers=headers)
    assert found[:2] == (status, "invalid_request")
    assert told in found[2]


@pytest.mark.parametrize(
    ("method", "path", "body", "told"),
    FAULTY,
    ids=[f"{row[1]} {row[2]}" for row in FAULTY],
)
def test_what_cannot_be_is_refused(
    emulator: EmulatorUnderTest, method: str, path: str, body: Any, told: str
) -> None:
    before = emulator.told("GET", "/sandboxes")
    status, code, detail = emulator.refusal(method, path, body)
    assert (status, code) == (400, "invalid_request")
    assert told in detail
    assert emulator.told("GET", "/sandboxes") == before


@pytest.mark.parametrize("content", [b"", b"{}"])
def test_a_reset_takes_a_body_that_says_nothing(
    emulator: EmulatorUnderTest, content: bytes
) -> None:
    assert emulator.ask("POST", "/reset", content=content, headers=JSON).status == 200
