"""The check of a scenario against the journal: which requests its rules would match."""

from typing import Any

import pytest

from tests.support.emulator_client import OTHER, READ_ONLY, UPLOAD, Answer
from tests.support.emulator_under_test import EmulatorUnderTest

RULES = """
scenario: mine
rules:
  - name: uploads of Demo
    match: {operation: createUpload, team: Demo}
    then: {problem: service_unavailable}
  - name: shoots
    match: {work: product_photography}
    then: {fail: timed_out}
"""


def ask_for_check(emulator: EmulatorUnderTest, text: str) -> Answer:
    path = "/scenario/check?file=mine.yaml"
    return emulator.ask("POST", path, content=text.encode(), headers={})


def checked_rules(emulator: EmulatorUnderTest, text: str) -> list[Any]:
    answer = ask_for_check(emulator, text)
    assert answer.status == 200, answer.body
    return list(answer.json["rules"])


def test_a_check_names_the_requests_that_each_rule_matches(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.post("/uploads", UPLOAD)
    emulator.post("/uploads", UPLOAD, OTHER)
    emulator.photograph(asset_ids=emulator.assets(1))  # 3 to 5: the Asset's upload

    uploads, shoots = checked_rules(emulator, RULES)

    assert uploads["name"] == "uploads of Demo"
    assert uploads["requests"] == [3, 1]
    assert shoots["name"] == "shoots"
    assert shoots["requests"] == [6]


def test_a_check_uses_no_scenario(emulator: EmulatorUnderTest) -> None:
    ask_for_check(emulator, RULES)

    assert emulator.told("GET", "/scenario")["scenario"] is None


def text_of_rule(match: str) -> str:
    rule = f"{{match: {match}, then: {{problem: internal_error}}}}"
    return f"scenario: mine\nrules: [{rule}]\n"


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
def test_a_rule_matches_by_all_of_its_conditions(
    emulator: EmulatorUnderTest,
    match: str,
    matched: list[int],
) -> None:
    emulator.post("/uploads", UPLOAD, idempotency_key="order-1")
    emulator.get("/assets?limit=5")

    (rule,) = checked_rules(emulator, text_of_rule(match))

    assert rule["requests"] == matched


@pytest.mark.parametrize("content", [b'{"name": oops', b"\xff\xfe", b"[" * 3_000])
def test_what_is_not_json_matches_no_body(
    emulator: EmulatorUnderTest,
    content: bytes,
) -> None:
    refused = emulator.post("/uploads", content=content, key=READ_ONLY)
    match = "{operation: createUpload, body: {size_bytes: 5}}"

    (rule,) = checked_rules(emulator, text_of_rule(match))

    assert refused.status == 403
    assert rule["requests"] == []


def test_a_check_says_where_a_file_is_wrong(emulator: EmulatorUnderTest) -> None:
    answer = ask_for_check(emulator, "scenario: mine\nrulse: []\n")

    assert answer.status == 422
    assert answer.code == "invalid_scenario"
    assert "mine.yaml:2:1" in answer.json["detail"]
