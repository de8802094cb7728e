"""Scenario files before they are used: the texts of the library, and the recent requests that rules match."""

from typing import Any

import pytest

from tests.support.emulator_client import OTHER, READ_ONLY, UPLOAD, EmulatorUnderTest

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
    uploads = [one["sequence"] for one in requests if one["operation"] == "createUpload"]
    rules = check(emulator, RULES)["rules"]
    shown = [(rule["name"], rule["requests"]) for rule in rules]
    assert shown == [("uploads of Demo", [uploads[0], uploads[2]]), ("shoots", [requests[0]["sequence"]])]
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
def test_a_rule_matches_by_all_of_its_conditions(emulator: EmulatorUnderTest, match: str, matched: list[int]) -> None:
    emulator.post("/uploads", UPLOAD, idempotency_key="order-1")
    emulator.get("/assets?limit=5")
    for body in (b'{"name": oops', b"\xff\xfe", b"[" * 3_000):
        assert emulator.post("/uploads", content=body, key=READ_ONLY).status == 403  # no JSON, which matches no body
    text = f"{{scenario: mine, rules: [{{match: {match}, then: {{problem: internal_error}}}}]}}"
    (rule,) = check(emulator, text)["rules"]
    assert rule["requests"] == matched


def test_a_check_says_where_a_file_is_wrong_and_the_library_has_texts(emulator: EmulatorUnderTest) -> None:
    answer = emulator.ask("POST", "/scenario/check?file=mine.yaml", content=b"scenario: mine\nrulse: []\n", headers={})
    assert (answer.outcome, "mine.yaml:2:1" in answer.json["detail"]) == ((422, "invalid_scenario"), True)
    assert "scenario: some-outputs-fail" in emulator.told("GET", "/scenarios/some-outputs-fail")["text"]
    assert emulator.refusal("GET", "/scenarios/none-such")[:2] == (404, "not_found")
