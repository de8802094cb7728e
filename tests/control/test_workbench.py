"""Scenario files before they are used: the texts of the library, and the recent requests that rules match."""

from typing import Any

import pytest

from tests.support.emulator_client import OTHER, UPLOAD, EmulatorUnderTest

RULES = """
scenario: mine
rules:
  - {name: uploads of Demo, match: {operation: createUpload, team: Demo}, then: {problem: service_unavailable}}
  - {name: shoots, match: {work: product_photography}, then: {fail: timed_out}}
"""


def check(emulator: EmulatorUnderTest, text: str) -> Any:
    answer = emulator.ask("POST", "/scenario/check?file=mine.yaml", content=text.encode(), headers={})
    assert answer.status == 200, answer.json
    return answer.json


def test_a_check_names_the_requests_that_each_rule_matches_and_uses_nothing(emulator: EmulatorUnderTest) -> None:
    emulator.post("/uploads", UPLOAD)
    emulator.post("/uploads", UPLOAD, OTHER)
    (asset,) = emulator.assets(1)
    emulator.photograph(asset_ids=[asset])
    requests = emulator.told("GET", "/requests")["data"]
    mine = [
        one["sequence"]
        for one in requests
        if one["operation"] == "createUpload" and one["credential"]["team"]["name"] == "Demo"
    ]
    shot = [one["sequence"] for one in requests if one["operation"] == "createProductPhotographyGeneration"]
    rules = check(emulator, RULES)["rules"]
    assert [(rule["name"], rule["requests"]) for rule in rules] == [("uploads of Demo", mine), ("shoots", shot)]
    assert emulator.told("GET", "/scenario")["scenario"] is None


@pytest.mark.parametrize(
    ("match", "matched"),
    [
        ("{operation: createUpload, team: Lapsed}", []),
        ("{operation: createUpload, body: {size_bytes: 9}}", []),
        ("{operation: createUpload, body: {size_bytes: 5}}", [1]),
        ("{operation: createUpload, idempotency_key: 'order-2*'}", []),
        ("{operation: createUpload, idempotency_key: 'order-?'}", [1]),
        ("{operation: createUpload, credential: iwe_other_full}", []),
        ("{operation: createUpload, credential: iwe_demo_full}", [1]),
        ("{operation: listAssets, query: {limit: '9'}}", []),
        ("{operation: listAssets, query: {limit: '5'}}", [2]),
        ("{operation: listAssets, query: {after: a, limit: '5'}}", []),
    ],
)
def test_a_rule_matches_the_requests_that_meet_all_of_its_conditions(
    emulator: EmulatorUnderTest, match: str, matched: list[int]
) -> None:
    emulator.post("/uploads", UPLOAD, idempotency_key="order-1")
    emulator.get("/assets?limit=5")
    text = f"{{scenario: mine, rules: [{{match: {match}, then: {{problem: internal_error}}}}]}}"
    (rule,) = check(emulator, text)["rules"]
    assert rule["requests"] == matched


@pytest.mark.parametrize("body", [b'{"name": oops', b"\xff\xfe", b"[" * 3_000])
def test_a_request_whose_body_is_no_json_matches_no_body(emulator: EmulatorUnderTest, body: bytes) -> None:
    assert emulator.post("/uploads", content=body).status == 400
    rule = "rules: [{match: {operation: createUpload, body: {size_bytes: 5}}, then: {problem: internal_error}}]"
    (checked,) = check(emulator, f"scenario: mine\n{rule}")["rules"]
    assert [] == checked["requests"]


def test_a_check_says_where_a_file_is_wrong(emulator: EmulatorUnderTest) -> None:
    answer = emulator.ask("POST", "/scenario/check?file=mine.yaml", content=b"scenario: mine\nrulse: []\n", headers={})
    assert (answer.status, answer.code) == (422, "invalid_scenario")
    assert "mine.yaml:2:1" in answer.json["detail"]


def test_the_text_of_a_scenario_of_the_library_is_served(emulator: EmulatorUnderTest) -> None:
    text = emulator.told("GET", "/scenarios/some-outputs-fail")["text"]
    assert "scenario: some-outputs-fail" in text
    assert emulator.refusal("GET", "/scenarios/none-such")[:2] == (404, "not_found")
