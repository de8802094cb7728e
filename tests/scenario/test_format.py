"""Scenario files: what they say once read, and how each mistake in them is told."""

import json
from typing import Any

import pytest

from emulator.kernel.clock import ClockSetting
from emulator.kernel.timestamps import DAY_MS, parse_timestamp
from emulator.scenario.changes import AdmissionChange, Change, CredentialChange
from emulator.scenario.faults.base import Fault
from emulator.scenario.faults.deprecated import DeprecatedFault
from emulator.scenario.faults.hold import HoldFault
from emulator.scenario.faults.latency import LatencyFault
from emulator.scenario.faults.loss import LossFault
from emulator.scenario.faults.problem import ProblemFault
from emulator.scenario.format import ScenarioError, parse_scenario, scenario_of
from emulator.scenario.matching import ALWAYS, Nth, RequestMatch, When, WorkMatch
from emulator.scenario.outcomes import WorkOutcome
from emulator.scenario.reading import MAXIMUM_COMPLAINTS
from emulator.scenario.rules import RequestRule, WorkRule
from emulator.scenario.scenario import Scenario, ScenarioClock
from emulator.scenario.vocabulary import OperationFacts
from emulator.scenario.world import (
    BUILT_IN_WORLD,
    NO_WORLD_CHANGES,
    TeamChange,
    Timings,
    WorldChanges,
    WorldCredential,
    WorldFile,
    WorldTeam,
    changed_world,
    world_names,
)

FILE = "s.yaml"


def read(text: str, operations: OperationFacts) -> Scenario:
    return parse_scenario("scenario: test\n" + text, FILE, operations)


def complaints_of(text: str, operations: OperationFacts, *, knows_world: bool = False) -> list[str]:
    names = world_names(BUILT_IN_WORLD) if knows_world else None
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(text, FILE, operations, names)
    return str(caught.value).splitlines()


def test_a_scenario_needs_nothing_but_its_name(operations: OperationFacts) -> None:
    expected = Scenario("x", "", None, ScenarioClock(), NO_WORLD_CHANGES, (), (), FILE, "scenario: x")
    assert parse_scenario("scenario: x", FILE, operations) == expected


def test_json_says_the_same_as_yaml(operations: OperationFacts) -> None:
    data: Any = {
        "scenario": "x",
        "description": "An emoji 😀",
        "seed": 3,
        "clock": {"mode": "manual", "start": "2026-01-01T00:00:00.000Z"},
        "world": {"teams": {"Demo": {"credits": 5}}, "premade": False},
        "rules": [
            {"match": {"operation": "getTeam"}, "when": {"nth": 3, "probability": 0.5}, "then": {"hold": "10s"}},
            {"match": {"work": "upscale"}, "then": {"stall": True}},
        ],
        "timeline": [{"at": 30, "set": {"admission": "open"}}],
    }
    texts = [json.dumps(data), json.dumps(data, ensure_ascii=False, indent=2)]
    scenarios = [parse_scenario(text, FILE, operations) for text in texts] + [scenario_of(data, FILE, operations)]
    for scenario in scenarios:
        assert (
            scenario.name,
            scenario.description,
            scenario.seed,
            scenario.timeline[0].at_ms,
        ) == ("x", "An emoji 😀", 3, 30_000)
        assert [HoldFault(10_000), WorkOutcome(stall=True)] == [
            rule.fault if isinstance(rule, RequestRule) else rule.outcome for rule in scenario.rules
        ]
        assert scenario.rules[0].when == When(Nth(3, 3), probability=0.5)


def test_the_text_of_a_scenario_reads_as_the_same_again(operations: OperationFacts) -> None:
    data: Any = {"scenario": "x", "rules": [{"then": {"network": {"latency": 0.25}}}]}
    scenario = scenario_of(data, FILE, operations)
    again = parse_scenario(scenario.text, FILE, operations)
    assert [LatencyFault(250)] * 2 == [
        rule.fault for rule in (*scenario.rules, *again.rules) if isinstance(rule, RequestRule)
    ]


@pytest.mark.parametrize(
    ("fault", "operation", "then"),
    [
        (ProblemFault("rate_limited"), '"*"', "{problem: rate_limited}"),
        (
            ProblemFault("service_unavailable", 7, "later", "after_commit"),
            "createUpload",
            "{problem: service_unavailable, retry_after: 7, detail: later, at: after_commit}",
        ),
        (ProblemFault("internal_error"), "[getTeam, deletePose]", "{problem: internal_error, at: before_commit}"),
        (HoldFault(10_000), "createUpload", "{hold: 10s}"),
        (LatencyFault(250), "getTeam", "{network: {latency: 250ms}}"),
        (LatencyFault(250, "after_commit"), "getTeam", "{network: {latency: 250ms}, at: after_commit}"),
        (LossFault("reset", "after_commit"), "getTeam", "{network: reset, at: after_commit}"),
        (LossFault("truncate"), "getTeam", "{network: truncate}"),
        (LossFault("stall"), "getTeam", "{network: stall}"),
        (LossFault("garbage"), "getTeam", "{network: garbage}"),
        (DeprecatedFault(), "getTeam", "{deprecated: {}}"),
        (
            DeprecatedFault(parse_timestamp("2027-06-30T00:00:00.000Z"), "https://docs.example/a?b=c"),
            "getTeam",
            '{deprecated: {sunset: 2027-06-30T00:00:00.000Z, link: "https://docs.example/a?b=c"}}',
        ),
    ],
)
def test_each_fault_of_a_request_has_its_word(
    fault: Fault, operation: str, then: str, operations: OperationFacts
) -> None:
    (rule,) = read(f"rules: [{{match: {{operation: {operation}}}, then: {then}}}]", operations).rules
    assert isinstance(rule, RequestRule)
    assert fault == rule.fault


@pytest.mark.parametrize(
    ("outcome", "work", "then"),
    [
        (
            WorkOutcome({2: "content_rejected", 4: "timed_out"}),
            "product_photography",
            "{outputs: {2: content_rejected, 4: timed_out}}",
        ),
        (WorkOutcome({1: "timed_out"}, duration_ms=9_000), "upscale", "{outputs: {1: timed_out}, duration: 9s}"),
        (WorkOutcome(fail="processing_failed"), '"*"', "{fail: processing_failed}"),
        (WorkOutcome(duration_ms=20_000), "[upscale, pose.create]", "{duration: 20s}"),
        (WorkOutcome(stall=True), "edit_images", "{stall: true}"),
        (WorkOutcome(scene="foreground"), "background.create", "{scene: foreground}"),
        (
            WorkOutcome(scene="clean", fail="timed_out"),
            "[background.create, background.update]",
            "{scene: clean, fail: timed_out}",
        ),
    ],
)
def test_each_outcome_of_work_has_its_words(
    outcome: WorkOutcome, work: str, then: str, operations: OperationFacts
) -> None:
    (rule,) = read(f"rules: [{{match: {{work: {work}}}, then: {then}}}]", operations).rules
    assert isinstance(rule, WorkRule)
    assert outcome == rule.outcome


def test_a_rule_that_matches_everything_is_about_what_it_does(operations: OperationFacts) -> None:
    text = "rules: [{then: {problem: internal_error}}, {match: {team: Demo}, then: {stall: true}}, {match: {work: '*'}, then: {fail: timed_out}}]"
    rules = read(text, operations).rules
    assert [rule.match for rule in rules] == [RequestMatch(), WorkMatch(team="Demo"), WorkMatch()]


def test_rules_are_called_by_their_place_unless_they_have_a_name(operations: OperationFacts) -> None:
    rules = read(
        "rules:\n  - then: {hold: 1}\n  - name: mine\n    then: {hold: 1}\n  - then: {hold: 1}\n", operations
    ).rules
    assert [(rule.name, rule.line) for rule in rules] == [("rule 1", 3), ("mine", 4), ("rule 3", 6)]
    assert {rule.file for rule in rules} == {FILE}


def test_a_body_is_read_as_the_json_it_looks_like(operations: OperationFacts) -> None:
    text = """
rules:
  - match:
      operation: createProductPhotographyGeneration
      body: {image_count: 4, background: {type: color, color: '112233'}, product_ids: [a, b], pose_id: null, x: on}
    then: {hold: 1s}
"""
    (rule,) = read(text, operations).rules
    assert isinstance(rule, RequestRule)
    assert rule.match.body == {
        "image_count": 4,
        "background": {"type": "color", "color": "112233"},
        "product_ids": ["a", "b"],
        "pose_id": None,
        "x": "on",
    }


@pytest.mark.parametrize(
    ("nth", "text"),
    [
        (Nth(3, 3), "3"),
        (Nth(3, 3), "'3'"),
        (Nth(2, 4), "2-4"),
        (Nth(3), "'>=3'"),
        (Nth(3), "'>= 3'"),
        (Nth(5, None, 5), "every 5"),
    ],
)
def test_an_nth_has_four_forms(nth: Nth, text: str, operations: OperationFacts) -> None:
    (rule,) = read(f"rules: [{{when: {{nth: {text}}}, then: {{hold: 1}}}}]", operations).rules
    assert nth == rule.when.nth


def test_a_when_may_have_all_its_keys(operations: OperationFacts) -> None:
    text = "rules: [{when: {nth: 2, from: 30s, until: 90s, probability: .25}, then: {hold: 1}}, {when: {}, then: {hold: 1}}]"
    assert [When(Nth(2, 2), 30_000, 90_000, 0.25), ALWAYS] == [rule.when for rule in read(text, operations).rules]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (AdmissionChange("paused", 5), "{admission: paused, retry_after: 5}"),
        (AdmissionChange("paused"), "{admission: paused}"),
        (AdmissionChange("open"), "{admission: open}"),
        (TeamChange("Demo", credits=0), "{team: Demo, credits: 0}"),
        (
            TeamChange("Demo", 0, "inactive", 1, 5),
            "{team: Demo, credits: 0, subscription: inactive, concurrency_limit: 1, requests_per_minute: 5}",
        ),
        (CredentialChange("k", "revoked"), "{credential: k, state: revoked}"),
        (CredentialChange("k", profile="read_only"), "{credential: k, profile: read_only}"),
        (
            CredentialChange("k", "active", 1_767_225_600_000),
            "{credential: k, state: active, expires_at: 2026-01-01T00:00:00.000Z}",
        ),
    ],
)
def test_a_timeline_changes_admission_teams_and_credentials(
    change: Change, text: str, operations: OperationFacts
) -> None:
    (timed,) = read(f"timeline: [{{at: 90s, set: {text}}}]", operations).timeline
    assert (90_000, change) == (timed.at_ms, timed.change)


def test_a_timeline_is_in_the_order_of_time_and_then_of_the_file(operations: OperationFacts) -> None:
    changes = ", ".join(
        f"{{at: {at}, set: {{team: Demo, credits: {number}}}}}" for at, number in [("2s", 1), ("1s", 2), ("2s", 3)]
    )
    timeline = read(f"timeline: [{changes}]", operations).timeline
    assert [(timed.at_ms, timed.change.credits) for timed in timeline if isinstance(timed.change, TeamChange)] == [
        (1_000, 2),
        (2_000, 1),
        (2_000, 3),
    ]


@pytest.mark.parametrize(
    ("clock", "text"),
    [
        (ScenarioClock(ClockSetting("manual")), "{mode: manual}"),
        (ScenarioClock(ClockSetting("real", 60.0)), "{mode: x60}"),
        (ScenarioClock(ClockSetting("real", 60.0)), "{mode: real, rate: 60}"),
        (ScenarioClock(None, 1_767_225_600_000), "{start: 2026-01-01T00:00:00.000Z}"),
        (ScenarioClock(ClockSetting("auto"), 0), "{mode: auto, start: 1970-01-01T00:00:00Z}"),
    ],
)
def test_a_scenario_may_set_the_clock(clock: ScenarioClock, text: str, operations: OperationFacts) -> None:
    assert clock == read(f"clock: {text}", operations).clock


def test_a_world_changes_what_it_names_and_adds_what_is_new(operations: OperationFacts) -> None:
    text = """
world:
  teams:
    Demo: {credits: 5, credentials: [{key: iwe_demo_full, profile: read_only}, {key: second}]}
    Fresh: {subscription: inactive, credentials: [{key: fresh}]}
  timings: {queue: 0}
  premade: false
"""
    world = changed_world(BUILT_IN_WORLD, read(text, operations).world)
    teams = {team.name: team for team in world.teams}
    demo_before = BUILT_IN_WORLD.teams[0]
    first, *others = demo_before.credentials
    assert teams["Demo"] == WorldTeam(
        "Demo",
        credits=5,
        credentials=(
            WorldCredential(first.key, "Read only", "read_only"),
            *others,
            WorldCredential("second", "Full"),
        ),
    )
    assert teams["Fresh"] == WorldTeam(
        "Fresh", subscription_active=False, credentials=(WorldCredential("fresh", "Full"),)
    )
    assert teams["Other"] == BUILT_IN_WORLD.teams[1]
    assert (world.timings, world.premade) == (Timings(queue_ms=0), False)


def test_a_world_that_says_nothing_changes_nothing(operations: OperationFacts) -> None:
    assert read("world: {}", operations).world == WorldChanges() == NO_WORLD_CHANGES
    assert changed_world(BUILT_IN_WORLD, NO_WORLD_CHANGES) == BUILT_IN_WORLD


# Mistakes. ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "s.yaml:1:1: found an empty document; expected an object"),
        ("a: b: c", "s.yaml:1:5: found text that is not YAML"),
        ("text", 's.yaml:1:1: found "text"; expected a mapping that begins with scenario: NAME'),
        ("[1]", "s.yaml:1:1: found a list; expected a mapping that begins with scenario: NAME"),
        ("{}", 's.yaml:1:1: found no "scenario"; expected the key "scenario"'),
        ("scenario:", "s.yaml:1:10: scenario: found nothing; expected the scenario's name"),
        ("scenario: null", "s.yaml:1:11: scenario: found nothing; expected the scenario's name"),
        ("scenario: [x]", "s.yaml:1:11: scenario: found a list; expected the scenario's name"),
        ('scenario: "a\\nb"', 's.yaml:1:11: scenario: found "a\\nb"; expected the scenario\'s name of one line'),
        ("scenario: x\nscenario: y", 's.yaml:2:1: found "scenario" a second time; expected each key once'),
        (
            "scenario: x\nrulez: []",
            's.yaml:2:1: found "rulez"; expected one of scenario, description, seed, clock, world, rules, timeline; did you mean "rules"?',
        ),
        ("scenario: x\nrules: {}", "s.yaml:2:8: rules: found an empty mapping; expected a list of rules"),
        ("scenario: x\nrules: [x]", 's.yaml:2:9: rules[0]: found "x"; expected a mapping with one of name, match, when, then'),
        ("scenario: x\ntimeline: x", 's.yaml:2:11: timeline: found "x"; expected a list of changes'),
        ("scenario: x\nseed: -1", 's.yaml:2:7: seed: found "-1"; expected a whole number from 0 to 9223372036854775807'),
        ("scenario: x\nseed: 1.5", 's.yaml:2:7: seed: found "1.5"; expected a whole number'),
        ("scenario: x\ndescription: {}", "s.yaml:2:14: description: found an empty mapping; expected a description"),
        ("scenario: x\nclock: manual", 's.yaml:2:8: clock: found "manual"; expected a mapping with one of mode, rate, start'),
        ("scenario: x\nclock: {mode: x0}", 's.yaml:2:15: clock.mode: found "x0"; expected one of real, manual, auto, or a rate such as x60'),
        ("scenario: x\nclock: {mode: manuel}", 's.yaml:2:15: clock.mode: found "manuel"; expected one of real, manual, auto, or a rate such as x60; did you mean "manual"?'),
        ("scenario: x\nclock: {mode: auto, rate: 2}", 's.yaml:2:21: clock: found "rate"; expected it only with "mode: real"'),
        ("scenario: x\nclock: {start: 2026-01-01}", 's.yaml:2:16: clock.start: found "2026-01-01"; expected a timestamp such as'),
        ("scenario: x\nworld: {team: {}}", 's.yaml:2:9: world: found "team"; expected one of teams, timings, premade; did you mean "teams"?'),
        ("scenario: x\nworld: {teams: {Demo: {credit: 1}}}", 's.yaml:2:24: world.teams.Demo: found "credit"; expected one of credits, subscription, concurrency_limit, requests_per_minute, credentials; did you mean "credits"?'),
    ],
)  # fmt: skip
def test_a_mistake_at_the_top_is_told(text: str, complaint: str, operations: OperationFacts) -> None:
    complaints = complaints_of(text, operations)
    assert len(complaints) == 1, complaints
    assert complaints[0].startswith(complaint)


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        ("{}", 's.yaml:3:3: rules[0]: found no "then"; expected the key "then"'),
        ("{then: }", "s.yaml:3:10: rules[0].then: found nothing; expected a mapping with one of problem,"),
        ("{then: {}}", "s.yaml:3:10: rules[0].then: found no fault; expected one of problem, hold, network, deprecated"),
        ("{match: {work: '*'}, then: {}}", "s.yaml:3:30: rules[0].then: found no outcome; expected one of outputs, fail, duration, stall, scene"),
        ("{then: {probelm: x}}", 's.yaml:3:11: rules[0].then: found "probelm"; expected one of problem, hold, network, deprecated, retry_after, detail, at, outputs, fail, duration, stall, scene; did you mean "problem"?'),
        ("{then: {hold: 1s}, wen: {}}", 's.yaml:3:22: rules[0]: found "wen"; expected one of name, match, when, then; did you mean "when"?'),
        ("{then: {problem: internal_eror}}", 'did you mean "internal_error"?'),
        ("{then: {problem: INTERNAL_ERROR}}", 'did you mean "internal_error"?'),
        ("{match: {operation: createProduct}, then: {problem: insufficient_credits}}", 's.yaml:3:55: rules[0].then.problem: found "insufficient_credits", which createProduct cannot return; expected a code that every operation of this rule can return: authentication_required,'),
        ("{match: {operation: [createPose, getTeam]}, then: {problem: insufficient_credits}}", "which getTeam cannot return"),
        ("{then: {problem: service_unavailable}}", 'found "service_unavailable", which getTeam, listAssets, getAsset and 14 more cannot return; expected a code that every operation of this rule can return: authentication_required, credential_expired, credential_revoked, internal_error, rate_limited'),
        ("{then: {problem: rate_limited, at: after_commit}}", 's.yaml:3:38: rules[0].then.at: found "after_commit"; expected before_commit; after_commit goes with network and the problems internal_error, service_unavailable'),
        ("{then: {problem: internal_error, at: befor_commit}}", 'found "befor_commit"; expected one of before_commit, after_commit; did you mean "before_commit"?'),
        ("{then: {problem: internal_error, retry_after: 3}}", 'found "retry_after"; expected it only with concurrency_limit_reached, rate_limited, service_unavailable'),
        ("{then: {problem: rate_limited, retry_after: 0}}", 'rules[0].then.retry_after: found "0"; expected a whole number from 1 to 9007199254740991'),
        ("{then: {problem: internal_error, hold: 1s}}", 's.yaml:3:36: rules[0].then: found "hold"; expected one fault in a rule, and "problem" stands there already'),
        ("{then: {hold: 1s, at: after_commit}}", 'rules[0].then: found "at"; expected nothing beside "hold"'),
        ("{then: {hold: soon}}", 'rules[0].then.hold: found "soon"; expected a duration such as 250ms, 90s, 2m or 1h'),
        ("{then: {hold: -1s}}", 'rules[0].then.hold: found "-1s"; expected a duration such as 250ms, 90s, 2m or 1h'),
        ("{then: {network: rest}}", 'rules[0].then.network: found "rest"; expected one of reset, truncate, stall, garbage, or a mapping such as {latency: 250ms}; did you mean "reset"?'),
        ("{then: {network: latency}}", 'rules[0].then.network: found "latency"; expected one of reset, truncate, stall, garbage, or a mapping such as {latency: 250ms}'),
        ("{then: {network: {}}}", 'rules[0].then.network: found no "latency"; expected the key "latency"'),
        ("{then: {network: reset, detail: x}}", 'rules[0].then: found "detail"; expected "at" alone beside "network"'),
        ("{then: {deprecated: yes}}", 'rules[0].then.deprecated: found "yes"; expected a mapping with one of sunset, link'),
        ("{then: {deprecated: {sunset: soon}}}", 'rules[0].then.deprecated.sunset: found "soon"; expected a timestamp'),
        ("{then: {deprecated: {link: 'https://a b'}}}", 'rules[0].then.deprecated.link: found "https://a b"; expected an address'),
        ("{then: {deprecated: {}, at: before_commit}}", 'rules[0].then: found "at"; expected nothing beside "deprecated"'),
        ("{match: {operation: getTeem}, then: {hold: 1s}}", 's.yaml:3:23: rules[0].match.operation: found "getTeem"; expected an operation id of the contract, a list of them, or "*"; did you mean "getTeam"?'),
        ("{match: {operation: [getTeam, listPose]}, then: {hold: 1s}}", 's.yaml:3:33: rules[0].match.operation[1]: found "listPose"; expected an operation id of the contract; did you mean "listPoses"?'),
        ("{match: {operation: [getTeam, '*']}, then: {hold: 1s}}", 'rules[0].match.operation[1]: found "*"; expected an operation id of the contract'),
        ("{match: {operation: []}, then: {hold: 1s}}", "rules[0].match.operation: found an empty list; expected at least one name: an operation id of the contract"),
        ("{match: {operation: {a: b}}, then: {hold: 1s}}", "rules[0].match.operation: found a mapping; expected an operation id of the contract, a list of them,"),
        ("{match: {operaton: getTeam}, then: {problem: rate_limited}}", 'rules[0].match: found "operaton"; expected one of operation, work, team, body; did you mean "operation"?'),
        ("{match: {body: x}, then: {hold: 1s}}", 'rules[0].match.body: found "x"; expected a mapping of fields that the body must have'),
        ("{match: {body: {a: [{b: 1, b: 2}]}}, then: {hold: 1s}}", 'found "b" a second time; expected each key once'),
        ("{match: {work: upscal}, then: {stall: true}}", 'did you mean "upscale"?'),
        ("{match: {work: upscale, operation: getTeam}, then: {stall: true}}", 'rules[0].match: found "operation"; expected "work" and "team" alone'),
        ("{match: {work: upscale, body: {}}, then: {stall: true}}", 'rules[0].match: found "body"; expected "work" and "team" alone'),
        ("{match: {work: upscale}, then: {problem: internal_error}}", 'rules[0].then: found "problem"; expected one of outputs, fail, duration, stall, scene, as this rule matches work, not requests'),
        ("{match: {operation: getTeam}, then: {fail: timed_out}}", 'rules[0].then: found "fail"; expected one of problem, hold, network, deprecated, retry_after, detail, at, as this rule matches requests, not work'),
        ("{match: {work: upscale}, then: {fail: timeout}}", 'rules[0].then.fail: found "timeout"; expected one of processing_failed, timed_out, content_rejected; did you mean "timed_out"?'),
        ("{match: {work: upscale}, then: {fail: timed_out, outputs: {1: timed_out}}}", 'rules[0].then: found "outputs"; expected either "fail" or "outputs"'),
        ("{match: {work: upscale}, then: {stall: true, fail: timed_out}}", 'rules[0].then: found "fail"; expected nothing beside "stall"'),
        ("{match: {work: upscale}, then: {stall: false}}", 'rules[0].then.stall: found "false"; expected "true"'),
        ("{match: {work: upscale}, then: {outputs: {2: timed_out}}}", 'found the slot "2"; expected slot 1, the only one of this work'),
        ("{match: {work: product_photography}, then: {outputs: {0: timed_out}}}", 'found the slot "0"; expected slots from 1 to 6'),
        ("{match: {work: product_photography}, then: {outputs: {7: timed_out}}}", 'found the slot "7"; expected slots from 1 to 6'),
        ("{match: {work: product_photography}, then: {outputs: {}}}", "found an empty mapping; expected a mapping of slots from 1 to 6"),
        ("{match: {work: pose.create}, then: {outputs: {1: timed_out}}}", "found outputs of pose.create; expected a rule that matches work with outputs: product_photography, edit_images, upscale"),
        ("{match: {work: '*'}, then: {outputs: {1: timed_out}}}", "found outputs of every kind of work; expected a rule that matches work with outputs"),
        ("{match: {work: pose.create}, then: {scene: clean}}", "found a scene of pose.create; expected a rule that matches work with a scene: background.create, background.update"),
        ("{match: {work: background.create}, then: {scene: cleen}}", 'found "cleen"; expected one of clean, foreground; did you mean "clean"?'),
        ("{when: {nth: 0}, then: {hold: 1s}}", 'rules[0].when.nth: found "0"; expected "3", "2-4", ">=3" or "every 5", counted from 1'),
        ("{when: {nth: 1000000000}, then: {hold: 1s}}", 'found "1000000000"; expected "3", "2-4", ">=3" or "every 5", counted from 1 to 999999999'),
        ("{when: {nth: 4-2}, then: {hold: 1s}}", 'rules[0].when.nth: found "4-2"; expected'),
        ("{when: {nth: every 0}, then: {hold: 1s}}", 'rules[0].when.nth: found "every 0"; expected'),
        ("{when: {nth: [1]}, then: {hold: 1s}}", 'rules[0].when.nth: found a list; expected "3"'),
        ("{when: {probability: [1]}, then: {hold: 1s}}", "rules[0].when.probability: found a list; expected a number from 0 to 1"),
        ("{when: {nth: third}, then: {hold: 1s}}", 'rules[0].when.nth: found "third"; expected'),
        ("{when: {from: 5s, until: 5s}, then: {hold: 1s}}", 'rules[0].when.until: found "5s"; expected a time after "from", which is 5000 ms'),
        ("{when: {probability: 25%}, then: {hold: 1s}}", 'rules[0].when.probability: found "25%"; expected a number from 0 to 1'),
        ("{when: {probability: nan}, then: {hold: 1s}}", 'rules[0].when.probability: found "nan"; expected a number from 0 to 1'),
        ("{when: {nht: 1}, then: {hold: 1s}}", 'rules[0].when: found "nht"; expected one of nth, from, until, probability; did you mean "nth"?'),
    ],
)  # fmt: skip
def test_a_mistake_in_a_rule_is_told(rule: str, complaint: str, operations: OperationFacts) -> None:
    complaints = complaints_of(f"scenario: x\nrules:\n- {rule}\n", operations)
    assert len(complaints) == 1, complaints
    assert complaint in complaints[0]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("{at: 3s}", 's.yaml:3:3: timeline[0]: found no "set"; expected the key "set"'),
        ("{set: {admission: open}}", 's.yaml:3:3: timeline[0]: found no "at"; expected the key "at"'),
        ("{at: 2026-01-01T00:00:00Z, set: {admission: open}}", 'timeline[0].at: found "2026-01-01T00:00:00Z"; expected a duration'),
        ("{at: 3s, set: x}", 'timeline[0].set: found "x"; expected a mapping with one of admission,'),
        ("{at: 3s, set: {}}", "timeline[0].set: found nothing to set; expected one of admission, team, credential"),
        ("{at: 3s, set: {credits: 3}}", "timeline[0].set: found nothing to set; expected one of admission, team, credential"),
        ("{at: 3s, set: {admision: open}}", 'timeline[0].set: found "admision"; expected one of admission, retry_after, team,'),
        ("{at: 3s, set: {admission: closed}}", 'timeline[0].set.admission: found "closed"; expected one of paused, open'),
        ("{at: 3s, set: {admission: open, retry_after: 3}}", 'timeline[0].set: found "retry_after"; expected it only with "paused"'),
        ("{at: 3s, set: {admission: paused, credits: 3}}", 'timeline[0].set: found "credits"; expected one of admission, retry_after, as this sets the admission'),
        ("{at: 3s, set: {team: Demo}}", "timeline[0].set: found only the team; expected at least one of credits, subscription,"),
        ("{at: 3s, set: {team: Demo, state: revoked}}", 'timeline[0].set: found "state"; expected one of team, credits,'),
        ("{at: 3s, set: {team: Demo, subscription: lapsed}}", 'timeline[0].set.subscription: found "lapsed"; expected one of active, inactive'),
        ("{at: 3s, set: {team: Demo, credits: lots}}", 'timeline[0].set.credits: found "lots"; expected a whole number from 0 to 9007199254740991'),
        ("{at: 3s, set: {team: Demo, credits: 1000000000000000000000000000000}}", 'expected a whole number from 0 to 9007199254740991'),
        ("{at: 3s, set: {credential: k, expires_at: 1969-12-31T23:59:59Z}}", 'Z, from 1970 to 9999'),
        ("{at: 3s, set: {team: Demo, requests_per_minute: 0}}", 'found "0"; expected a whole number from 1 to 9007199254740991'),
        ("{at: 3s, set: {credential: k}}", "timeline[0].set: found only the credential; expected at least one of state, expires_at"),
        ("{at: 3s, set: {credential: k, state: expired}}", 'timeline[0].set.state: found "expired"; expected one of active, revoked'),
        ("{at: 3s, set: {credential: k, expires_at: 1h}}", 'timeline[0].set.expires_at: found "1h"; expected a timestamp'),
        ("{at: 3s, set: {credential: k, profile: writer}}", 'timeline[0].set.profile: found "writer"; expected one of read_only, full'),
    ],
)  # fmt: skip
def test_a_mistake_in_a_timeline_is_told(change: str, complaint: str, operations: OperationFacts) -> None:
    complaints = complaints_of(f"scenario: x\ntimeline:\n- {change}\n", operations)
    assert len(complaints) == 1, complaints
    assert complaint in complaints[0]


def test_rules_may_not_share_a_name(operations: OperationFacts) -> None:
    text = "scenario: x\nrules:\n- then: {hold: 1}\n- {name: rule 1, then: {hold: 1}}\n"
    expected = 's.yaml:4:3: rules[1]: found the name "rule 1" again, first given to rules[0]; expected a name of its own for each rule'
    assert complaints_of(text, operations) == [expected]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("rules: [{match: {team: Demoo}, then: {hold: 1}}]", 'rules[0].match.team: found "Demoo"; expected one of Broke, Demo, Lapsed, Other; did you mean "Demo"?'),
        ("rules: [{match: {work: '*', team: Dmeo}, then: {stall: true}}]", 'did you mean "Demo"?'),
        ("timeline: [{at: 1, set: {team: Othr, credits: 1}}]", 'timeline[0].set.team: found "Othr"; expected one of Broke, Demo, Lapsed, Other; did you mean "Other"?'),
        ("timeline: [{at: 1, set: {credential: iwe_demo_ful, state: revoked}}]", 'did you mean "iwe_demo_full"?'),
        ("world: {teams: {Demoo: {credits: 1}}}", 'world.teams: found "Demoo"; expected one of Broke, Demo, Lapsed, Other, or credentials for a new Team; did you mean "Demo"?'),
    ],
)  # fmt: skip
def test_names_of_a_known_world_are_checked(text: str, complaint: str, operations: OperationFacts) -> None:
    complaints = complaints_of(f"scenario: x\n{text}", operations, knows_world=True)
    assert len(complaints) == 1, complaints
    assert complaint in complaints[0]
    parse_scenario(f"scenario: x\n{text}", FILE, operations)  # nothing is known: nothing is wrong


def test_names_that_the_scenario_brings_along_are_known(operations: OperationFacts) -> None:
    text = """
scenario: x
world: {teams: {Fresh: {credentials: [{key: fresh}]}}}
rules: [{match: {team: Fresh}, then: {hold: 1}}]
timeline: [{at: 1, set: {credential: fresh, state: revoked}}]
"""
    assert parse_scenario(text, FILE, operations, world_names(BUILT_IN_WORLD)).name == "x"


def test_all_mistakes_of_a_file_are_told_in_its_order(operations: OperationFacts) -> None:
    text = """scenario: x
seed: many
rules:
  - match: {operation: getTeem}
    when: {nth: 0}
    then: {problem: nope}
timeline:
  - {at: never, set: {admission: ajar}}
clock: {mode: fast}
"""
    lines = [int(complaint.split(":")[1]) for complaint in complaints_of(text, operations)]
    assert lines == [2, 4, 5, 6, 8, 8, 9]


def test_a_file_of_many_mistakes_has_a_bounded_number_of_complaints(operations: OperationFacts) -> None:
    complaints = complaints_of("scenario: x\nrules:\n" + "- {}\n" * 500, operations)
    assert len(complaints) == MAXIMUM_COMPLAINTS + 1
    assert complaints[-1] == "s.yaml: found more mistakes than these; expected the first to be corrected first"


def test_a_complaint_keeps_its_parts(operations: OperationFacts) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_scenario("scenario: x\nrules:\n  - then: {network: rest}", FILE, operations)
    (complaint,) = caught.value.complaints
    assert (
        complaint.file,
        complaint.line,
        complaint.column,
        complaint.path,
        complaint.found,
        complaint.suggestion,
    ) == ("s.yaml", 3, 21, "rules[0].then.network", '"rest"', "reset")


@pytest.mark.parametrize("operation", ["getTeam", "deletePose", "listAssets"])
def test_every_operation_can_return_an_internal_error(operation: str) -> None:
    facts: OperationFacts = {operation: frozenset()}
    text = f"rules: [{{match: {{operation: {operation}}}, then: {{problem: internal_error}}}}]"
    assert len(read(text, facts).rules) == 1


def test_a_very_long_span_is_refused(operations: OperationFacts) -> None:
    assert read(f"timeline: [{{at: {3650 * DAY_MS}ms, set: {{admission: open}}}}]", operations).timeline
    (complaint,) = complaints_of("scenario: x\ntimeline: [{at: 3651d, set: {admission: open}}]", operations)
    assert complaint.endswith('found "3651d"; expected a duration of at most 3650d')


def test_where_there_is_no_team_any_name_of_one_is_told_so(operations: OperationFacts) -> None:
    text = "{scenario: x, rules: [{match: {team: Demo}, then: {hold: 1s}}]}"
    names = world_names(changed_world(WorldFile((), premade=False), NO_WORLD_CHANGES))
    with pytest.raises(ScenarioError, match=r'rules\[0\]\.match\.team: found "Demo"; expected the name of a Team'):
        parse_scenario(text, FILE, operations, names)
