"""Scenario files before they are used: the texts of the library, and which recent requests the rules of a file match."""

from tests.support.emulator_client import OTHER, UPLOAD, EmulatorUnderTest

RULES = """
scenario: mine
rules:
  - {name: uploads of Demo, match: {operation: createUpload, team: Demo}, then: {problem: service_unavailable}}
  - {name: shoots, match: {work: product_photography}, then: {fail: timed_out}}
"""


def checked(emulator: EmulatorUnderTest, text: str) -> list[tuple[str, list[int]]]:
    answer = emulator.ask("POST", "/scenario/check?file=mine.yaml", content=text.encode(), headers={})
    assert answer.status == 200, answer.json
    return [(rule["name"], rule["requests"]) for rule in answer.json["rules"]]


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
    assert checked(emulator, RULES) == [("uploads of Demo", mine), ("shoots", shot)]
    assert emulator.told("GET", "/scenario")["scenario"] is None


def test_a_check_says_where_a_file_is_wrong(emulator: EmulatorUnderTest) -> None:
    answer = emulator.ask("POST", "/scenario/check?file=mine.yaml", content=b"scenario: mine\nrulse: []\n", headers={})
    assert (answer.status, answer.code) == (422, "invalid_scenario")
    assert "mine.yaml:2:1" in answer.json["detail"]


def test_the_text_of_a_scenario_of_the_library_is_served(emulator: EmulatorUnderTest) -> None:
    text = emulator.told("GET", "/scenarios/some-outputs-fail")["text"]
    assert "scenario: some-outputs-fail" in text
    assert emulator.refusal("GET", "/scenarios/none-such")[:2] == (404, "not_found")
