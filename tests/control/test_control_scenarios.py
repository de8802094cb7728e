"""Scenarios over the control plane: checked, loaded whole or not at all, shown, ended, begun anew."""

import json
from typing import Any

import pytest

from image_workflow_emulator.domain.problems import CATALOGUE
from tests.support.emulator_client import (
    FULL,
    OTHER,
    READ_ONLY,
    UPLOAD,
    EmulatorUnderTest,
    Json,
    control_call,
)

NOTHING: Json = {
    "scenario": None,
    "description": None,
    "team": None,
    "began_at": None,
    "rules": [],
    "timeline": [],
    "text": None,
    "file": None,
    "team_scenarios": [],
}
"""What is shown where no scenario runs."""
FAILING = """\
scenario: reads fail
description: Each second read of the Team fails.
rules:
  - name: second
    match: {operation: getTeam}
    when: {nth: every 2}
    then: {problem: internal_error}
"""
CHANGES = """\
scenario: pause
timeline:
  - {at: 10s, set: {admission: paused, retry_after: 7}}
  - {at: 20s, set: {admission: open}}
"""


def _reads(emulator: EmulatorUnderTest, key: str = FULL, count: int = 4) -> list[int]:
    return [emulator.get("/team", key).status for _ in range(count)]


def test_a_scenario_is_put_as_yaml(emulator: EmulatorUnderTest) -> None:
    emulator.advance(5)

    shown = emulator.told(
        "PUT",
        "/scenario",
        content=FAILING.encode(),
        headers={"Content-Type": "application/yaml"},
    )

    assert shown == {
        "scenario": "reads fail",
        "description": "Each second read of the Team fails.",
        "team": None,
        "began_at": "2026-01-01T00:00:05.000Z",
        "rules": [{"name": "second", "matched": 0, "fired": 0}],
        "timeline": [],
        "text": FAILING,
        "file": "scenario",
        "takes_effect_at_reset": [],
    }
    assert _reads(emulator) == [200, 500, 200, 500]
    assert emulator.told("GET", "/scenario")["rules"] == [
        {"name": "second", "matched": 4, "fired": 2}
    ]


def test_the_library_is_listed_with_descriptions_and_each_of_it_can_run_by_name(
    emulator: EmulatorUnderTest,
) -> None:
    listed = emulator.told("GET", "/scenarios")["data"]
    names = [entry["name"] for entry in listed]
    files = [name for name in names if ":" not in name]
    assert names == [*sorted(files), *(f"problem:{code}" for code in CATALOGUE)]
    for entry in listed:
        assert entry["description"]
        for text in (json.dumps({"use": entry["name"]}), f"use: {entry['name']}\n"):
            shown = emulator.use(text)
            assert entry == {
                "name": shown["scenario"],
                "description": shown["description"],
            }


SET_BACK = b"{scenario: open, timeline: [{at: 0s, set: {admission: open}}]}"
"""The scenario that README names for this."""


INVALID, MALFORMED = (422, "invalid_scenario"), (400, "invalid_request")
THIEF = b"{scenario: thief, world: {teams: {New: {credentials: [{key: iwe_demo_full_mine}]}}}}"
BAD = [
    (
        INVALID,
        b"scenario: x\nrules:\n  - match: {operation: getTeams}\n    then: {problem: nonsense}\n",
        ["scenario:3:24:", "scenario:4:21:"],
    ),
    (INVALID, b"- a", ["found an array of 1; expected an object"]),
    (INVALID, b"scenario: x\nworld: {teams: {Nobody: {credits: 1}}}\n", ['"Nobody"']),
    (
        INVALID,
        b"scenario: x\ntimeline: [{at: 1s, set: {credential: nokey, state: revoked}}]\n",
        ['"nokey"'],
    ),
    (INVALID, b'{"use": "no-such-scenario"}', ["no-such-scenario"]),
    (INVALID, b'{"use": "\\ud800"}', ["found invalid Unicode character escape"]),
    (INVALID, b'{"use": "problem:not_fond"}', ['did you mean "problem:not_found"?']),
    (INVALID, b'{"use": 7}', ["/use: found an unknown field"]),
    (INVALID, THIEF, ["another sandbox"]),
    (MALFORMED, b"", []),
    (MALFORMED, b" \n", []),
    ((413, "invalid_request"), b"#" * (1024 * 1024 + 1), []),
]


@pytest.mark.parametrize(
    ("outcome", "content", "told"), BAD, ids=[repr(row[1][:60]) for row in BAD]
)
def test_a_bad_scenario_is_refused_with_all_complaints_and_the_running_one_stays(
    emulator: EmulatorUnderTest,
    outcome: tuple[int, str],
    content: bytes,
    told: list[str],
) -> None:
    emulator.told("POST", "/sandboxes", {"id": "mine"})
    emulator.use(FAILING + CHANGES.partition("\n")[2])
    assert _reads(emulator, count=1) == [200]
    before = [emulator.told("GET", path) for path in ("/scenario", "/clock", "/teams")]
    refused = emulator.ask("PUT", "/scenario", content=content)
    assert (outcome, []) == (
        refused.outcome,
        [part for part in told if part not in refused.json["detail"]],
    )
    assert before == [
        emulator.told("GET", path) for path in ("/scenario", "/clock", "/teams")
    ]
    assert _reads(emulator, count=1) == [500]
    emulator.advance(10)
    assert emulator.post("/uploads", UPLOAD).outcome == (503, "service_unavailable")


@pytest.mark.parametrize("end", [("DELETE", b""), ("PUT", b"scenario: another")])
@pytest.mark.parametrize(
    "undo", [("POST", "/reset", b""), ("PUT", "/scenario", SET_BACK)]
)
def test_a_pause_outlives_its_scenario(
    emulator: EmulatorUnderTest, end: tuple[str, bytes], undo: tuple[str, str, bytes]
) -> None:
    emulator.use(CHANGES)
    emulator.advance(10)
    emulator.ask(end[0], "/scenario", content=end[1])
    emulator.advance(60)
    assert emulator.post("/uploads", UPLOAD).outcome == (503, "service_unavailable")
    assert emulator.ask(undo[0], undo[1], content=undo[2]).status == 200
    assert emulator.post("/uploads", UPLOAD).status == 201


def test_a_timeline_is_shown_with_lines_and_when_each_change_was_made(
    emulator: EmulatorUnderTest,
) -> None:
    paused = {"admission": "paused", "retry_after": 7}
    emulator.advance(100)
    credential = "  - {at: 1.5s, set: {credential: iwe_demo_full, expires_at: 2026-02-01T00:00:00.000Z}}\n"
    shown = emulator.use(
        f"{CHANGES}{credential}  - {{at: 30s, set: {{team: Demo, credits: 0}}}}\n"
    )
    emulator.advance(10)
    timeline = emulator.told("GET", "/scenario")["timeline"]
    assert timeline == [
        {
            "at": "1.5s",
            "set": {
                "credential": "iwe_demo_full",
                "expires_at": "2026-02-01T00:00:00.000Z",
            },
            "line": 5,
            "done_at": "2026-01-01T00:01:41.500Z",
        },
        {"at": "10s", "set": paused, "line": 3, "done_at": "2026-01-01T00:01:50.000Z"},
        {"at": "20s", "set": {"admission": "open"}, "line": 4, "done_at": None},
        {
            "at": "30s",
            "set": {"team": "Demo", "credits": 0},
            "line": 6,
            "done_at": None,
        },
    ]
    assert shown["timeline"] == [{**change, "done_at": None} for change in timeline]


def test_complaints_and_rules_cite_the_file_that_a_scenario_is_said_to_be(
    emulator: EmulatorUnderTest,
) -> None:
    detail = emulator.refusal(
        "PUT", "/scenario?file=mine.yaml", content=b"scenario: x\nrule: []\n"
    )[2]
    assert detail.startswith("mine.yaml:2:1:")
    emulator.use(FAILING, "/scenario?file=mine.yaml")
    _reads(emulator, count=2)
    assert (
        emulator.told("GET", "/requests?limit=1")["data"][0]["rule"]["file"]
        == "mine.yaml"
    )
    assert emulator.refusal("PUT", "/scenario?file=", content=FAILING.encode())[:2] == (
        400,
        "invalid_request",
    )


def test_the_scenario_of_a_new_sandbox_is_cited_by_the_name_of_its_file(
    emulator: EmulatorUnderTest,
) -> None:
    path = f"/tests/{'deep/' * 100}mine.yaml"
    refused = emulator.refusal(
        "POST", f"/sandboxes?file={path}", {"scenario": "scenario: x\nrule: []\n"}
    )
    assert refused[1] == "invalid_scenario"
    assert refused[2].startswith(f"{path}:2:1:")
    for name in ("a.yaml", "scenario"):  # a text from a file is never a name
        detail = emulator.refusal(
            "POST", f"/sandboxes?file={name}", {"scenario": "rate-limited"}
        )[2]
        assert detail.startswith(f"{name}:1:1:")
    paused = "scenario: x\ntimeline:\n  - at: 0s\n    set: {admission: paused}\n"
    emulator.told(
        "POST", f"/sandboxes?file={path}", {"id": "named", "scenario": paused}
    )
    emulator.post("/uploads", UPLOAD, key="iwe_demo_full_named")
    explanation = emulator.told("GET", "/requests/1", sandbox="named")["explanation"]
    assert f"({path}, line 3)" in explanation["summary"]
    assert explanation["decided_by"]["timeline"]["file"] == path


CLOCKED = {
    "scenario": "clocked",
    "seed": 7,
    "clock": {"mode": "auto", "start": "2026-03-01T00:00:00.000Z"},
    "world": {"teams": {"Demo": {"credits": 5}}, "premade": False},
    "rules": [
        {
            "name": "r",
            "match": {"operation": "getTeam"},
            "when": {"nth": "1"},
            "then": {"problem": "rate_limited"},
        }
    ],
}


def test_its_readings_wait_for_a_reset_and_give_way_to_those_of_the_sandbox(
    emulator: EmulatorUnderTest,
) -> None:
    scenario = {"scenario": "read", "readings": {"D26": "always-a-cursor"}, "rules": []}
    emulator.told("POST", "/sandboxes", {"id": "mine"})
    emulator.told("POST", "/sandboxes", {"id": "fixed", "readings": "D66=silent"})
    assert emulator.told("PUT", "/scenario", scenario, sandbox="mine")[
        "takes_effect_at_reset"
    ] == ["readings"]
    assert (
        emulator.told("PUT", "/scenario", scenario, sandbox="fixed")[
            "takes_effect_at_reset"
        ]
        == []
    )
    assert emulator.told("GET", "/sandboxes/mine")["readings"] == []
    assert emulator.told("POST", "/reset", sandbox="mine")["readings"] == [
        "D26=always-a-cursor"
    ]
    assert emulator.told("POST", "/reset", sandbox="fixed")["readings"] == [
        "D66=silent"
    ]


@pytest.mark.parametrize(
    "options",
    [{}, {"seed": 3, "clock": "manual", "start": "2026-02-01T00:00:00.000Z"}],
    ids=str,
)
def test_its_seed_clock_and_premade_ingredients_wait_for_a_reset(
    emulator: EmulatorUnderTest, options: Any
) -> None:
    emulator.told("POST", "/sandboxes", {"id": "mine", **options})
    before = emulator.told("GET", "/sandboxes/mine")
    shown = emulator.told("PUT", "/scenario", CLOCKED, sandbox="mine")
    assert shown["takes_effect_at_reset"] == ["seed", "clock", "premade"]
    assert emulator.count("/poses", "iwe_demo_full_mine") == 4
    assert emulator.told("GET", "/sandboxes/mine")["clock"] == before["clock"]
    team = emulator.team(sandbox="mine")
    assert team == {**before["teams"][0], "credits": 5}
    reset = emulator.told("POST", "/reset", sandbox="mine")
    assert (reset["clock"]["now"], reset["clock"]["mode"]) == (
        "2026-03-01T00:00:00.000Z",
        "auto",
    )
    assert reset["teams"][0]["credits"] == 5
    assert emulator.count("/poses", "iwe_demo_full_mine") == 0
    assert reset["teams"][0]["id"] != before["teams"][0]["id"]
    emulator.ask("DELETE", "/scenario", sandbox="mine")
    assert emulator.told("POST", "/reset", sandbox="mine") == before


@pytest.mark.parametrize("by", ["name", "id"])
def test_a_scenario_can_be_limited_to_one_team(
    emulator: EmulatorUnderTest, by: str
) -> None:
    team_id = emulator.team()["id"]
    path = f"/scenario?team={'Demo' if by == 'name' else team_id}"
    shown = emulator.use(FAILING, path)
    assert (shown["scenario"], shown["team"]) == ("reads fail", team_id)
    assert (_reads(emulator), _reads(emulator, OTHER)) == (
        [200, 500, 200, 500],
        [200] * 4,
    )
    assert emulator.told("GET", path)["rules"][0]["fired"] == 2
    own = [{"team": {"id": team_id, "name": "Demo"}, "scenario": "reads fail"}]
    assert emulator.told("GET", "/scenario") == NOTHING | {"team_scenarios": own}
    assert emulator.ask("DELETE", "/scenario").status == 204
    assert emulator.told("GET", path)["scenario"] == "reads fail"
    assert emulator.ask("DELETE", path).status == 204
    assert _reads(emulator) == [200] * 4


def test_a_teams_scenario_is_loaded_again_at_a_reset_as_long_as_there_is_the_team(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.told("POST", "/teams", {"name": "Passing"})
    for team in ("Demo", "Passing"):
        emulator.use(
            FAILING + f"world: {{teams: {{{team}: {{credits: 5}}}}}}\n",
            f"/scenario?team={team}",
        )
    emulator.told("POST", "/reset")
    assert (emulator.credits(), _reads(emulator, count=2)) == (5, [500, 200])
    assert emulator.refusal("GET", "/scenario?team=Passing")[:2] == (404, "not_found")


def test_a_scenario_that_is_read_while_the_sandbox_is_reset_does_not_run(
    emulator: EmulatorUnderTest,
) -> None:
    late = {"scenario": "late", "description": "a large one " * 500}
    put, _ = emulator.together(
        control_call("PUT", "/scenario", late), control_call("POST", "/reset")
    )
    assert ((409, "invalid_request"), NOTHING) == (
        put.outcome,
        emulator.told("GET", "/scenario"),
    )


@pytest.mark.parametrize("key", ["iwe_demo_full", "iwe_demo_full_mine"])
def test_keys_are_named_as_the_world_has_them_or_as_the_sandbox_has_them(
    emulator: EmulatorUnderTest, key: str
) -> None:
    emulator.told("POST", "/sandboxes", {"id": "mine"})
    scenario = {
        "scenario": "revoke",
        "timeline": [{"at": "1s", "set": {"credential": key, "state": "revoked"}}],
    }
    emulator.told("PUT", "/scenario", scenario, sandbox="mine")
    emulator.told("POST", "/clock/advance", {"seconds": 1}, sandbox="mine")
    assert emulator.get("/team", "iwe_demo_full_mine").outcome == (
        401,
        "credential_revoked",
    )
    assert emulator.get("/team").status == 200


@pytest.mark.parametrize(
    ("scenario", "name"),
    [
        (CLOCKED, "clocked"),
        (FAILING, "reads fail"),
        ("problem:not_found", "problem:not_found"),
        ({"use": "rate-limited"}, "rate-limited"),
    ],
    ids=["object", "text", "name", "use"],
)
def test_a_sandbox_begins_with_a_scenario(
    emulator: EmulatorUnderTest, scenario: Any, name: str
) -> None:
    sandbox = emulator.told("POST", "/sandboxes", {"id": "mine", "scenario": scenario})
    shown = emulator.told("GET", "/scenario", sandbox="mine")
    assert (shown["scenario"], shown["began_at"]) == (name, sandbox["clock"]["now"])


@pytest.mark.parametrize(
    ("said", "now", "mode"),
    [
        ({}, "2026-03-01T00:00:00.000Z", "auto"),
        ({"clock": "manual"}, "2026-03-01T00:00:00.000Z", "manual"),
        ({"start": "2026-04-01T00:00:00.000Z"}, "2026-04-01T00:00:00.000Z", "auto"),
    ],
    ids=str,
)
@pytest.mark.emulator(seed=1, clock="x2", start="2026-02-01T00:00:00.000Z")
def test_a_creation_overrides_its_scenario(
    emulator: EmulatorUnderTest, said: Any, now: str, mode: str
) -> None:
    sandbox = emulator.told(
        "POST", "/sandboxes", {"id": "mine", "scenario": CLOCKED, **said}
    )
    assert (sandbox["clock"]["now"], sandbox["clock"]["mode"]) == (now, mode)
    assert sandbox["teams"][0]["credits"] == 5
    seeded = emulator.told("POST", "/sandboxes", {"id": "seeded", "seed": 7})
    assert sandbox["teams"][0]["id"] == seeded["teams"][0]["id"]
    assert emulator.told("POST", "/reset", sandbox="mine") == sandbox


@pytest.mark.parametrize(
    "scenario", ["no-such", {"rule": []}, [], 5, {"use": "no-such"}, "scenario: ["]
)
def test_a_sandbox_with_a_bad_scenario_is_not_made(
    emulator: EmulatorUnderTest, scenario: Any
) -> None:
    assert (
        emulator.refusal("POST", "/sandboxes", {"id": "mine", "scenario": scenario})[:2]
        == INVALID
    )
    assert emulator.ask("GET", "/sandboxes/mine").status == 404


@pytest.mark.emulator(scenario=FAILING)
def test_the_scenario_of_the_process_runs_again_after_a_reset(
    emulator: EmulatorUnderTest,
) -> None:
    before = emulator.told("GET", "/scenario")

    emulator.told("POST", "/reset")

    assert before["scenario"] == "reads fail"
    assert emulator.told("GET", "/scenario") == before


RULES = """
scenario: mine
rules:
  - {name: uploads of Demo, match: {operation: createUpload, team: Demo}, then: {problem: service_unavailable}}
  - {name: shoots, match: {work: product_photography}, then: {fail: timed_out}}
"""


def check(emulator: EmulatorUnderTest, text: str) -> Any:
    answer = emulator.ask(
        "POST", "/scenario/check?file=mine.yaml", content=text.encode(), headers={}
    )
    assert answer.status == 200, answer.json
    return answer.json


def test_a_check_names_the_requests_that_each_rule_matches_and_uses_nothing(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.post("/uploads", UPLOAD)
    emulator.post("/uploads", UPLOAD, OTHER)
    (asset,) = emulator.assets(1)
    emulator.photograph(asset_ids=[asset])
    requests = emulator.told("GET", "/requests")["data"]
    uploads = [
        one["sequence"] for one in requests if one["operation"] == "createUpload"
    ]
    rules = check(emulator, RULES)["rules"]
    shown = [(rule["name"], rule["requests"]) for rule in rules]
    assert shown == [
        ("uploads of Demo", [uploads[0], uploads[2]]),
        ("shoots", [requests[0]["sequence"]]),
    ]
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
def test_a_rule_matches_by_all_of_its_conditions(
    emulator: EmulatorUnderTest, match: str, matched: list[int]
) -> None:
    emulator.post("/uploads", UPLOAD, idempotency_key="order-1")
    emulator.get("/assets?limit=5")
    for body in (b'{"name": oops', b"\xff\xfe", b"[" * 3_000):
        assert (
            emulator.post("/uploads", content=body, key=READ_ONLY).status == 403
        )  # no JSON, which matches no body
    text = f"{{scenario: mine, rules: [{{match: {match}, then: {{problem: internal_error}}}}]}}"
    (rule,) = check(emulator, text)["rules"]
    assert rule["requests"] == matched


def test_a_check_says_where_a_file_is_wrong_and_the_library_has_texts(
    emulator: EmulatorUnderTest,
) -> None:
    answer = emulator.ask(
        "POST",
        "/scenario/check?file=mine.yaml",
        content=b"scenario: mine\nrulse: []\n",
        headers={},
    )
    assert (answer.outcome, "mine.yaml:2:1" in answer.json["detail"]) == (
        (422, "invalid_scenario"),
        True,
    )
    assert (
        "scenario: some-outputs-fail"
        in emulator.told("GET", "/scenarios/some-outputs-fail")["text"]
    )
    assert emulator.refusal("GET", "/scenarios/none-such")[:2] == (404, "not_found")
