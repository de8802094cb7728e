"""Scenario files: what they say once read, and how each mistake in them is told."""

from typing import Any

import pytest

from emulator.documents.yaml_nodes import json_value, read_document
from emulator.kernel.clock import ClockSetting
from emulator.kernel.timestamps import DAY_MS
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
from emulator.scenario.rules import RequestRule, WorkRule
from emulator.scenario.scenario import Scenario, ScenarioClock
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
from tests.scenario_files.operations import OPERATIONS
from tests.scenario_files.test_schema import VALIDATOR

FILE = "s.yaml"


def read(text: str) -> Scenario:
    """Read a scenario, which must be right by the published schema as well."""
    text = "scenario: test\n" + text
    assert [error.message for error in VALIDATOR.iter_errors(json_value(read_document(text, FILE)))] == []
    return parse_scenario(text, FILE, OPERATIONS)


def test_a_scenario_needs_nothing_but_its_name() -> None:
    expected = Scenario("x", "", None, ScenarioClock(), NO_WORLD_CHANGES, (), (), FILE, "scenario: x")
    assert parse_scenario("scenario: x", FILE, OPERATIONS) == expected


def test_the_text_of_a_scenario_reads_as_the_same_again() -> None:
    data: Any = {"scenario": "x", "rules": [{"then": {"network": {"latency": 0.25}}}]}
    scenario = scenario_of(data, FILE, OPERATIONS)
    again = parse_scenario(scenario.text, FILE, OPERATIONS)
    rules = (*scenario.rules, *again.rules)
    assert [LatencyFault(250)] * 2 == [rule.fault for rule in rules if isinstance(rule, RequestRule)]


@pytest.mark.parametrize(
    ("fault", "operation", "then"),
    [
        (ProblemFault("rate_limited"), '"*"', "{problem: rate_limited}"),
        (ProblemFault("service_unavailable", 7, "later", "after_commit"), "createUpload", "{problem: service_unavailable, retry_after: 7, detail: later, at: after_commit}"),
        (ProblemFault("internal_error"), "[getTeam, deletePose]", "{problem: internal_error, at: before_commit}"),
        (HoldFault(10_000), "createUpload", "{hold: 10s}"),
        (LatencyFault(250), "getTeam", "{network: {latency: 250ms}}"),
        (LatencyFault(250, "after_commit"), "getTeam", "{network: {latency: 250ms}, at: after_commit}"),
        (LossFault("reset", "after_commit"), "getTeam", "{network: reset, at: after_commit}"),
        (LossFault("truncate"), "getTeam", "{network: truncate}"),
        (LossFault("stall"), "getTeam", "{network: stall}"),
        (LossFault("garbage"), "getTeam", "{network: garbage}"),
        (DeprecatedFault(), "getTeam", "{deprecated: {}}"),
        (DeprecatedFault(1_767_225_600_000, "https://a.example/b?c=d"), "getTeam", '{deprecated: {sunset: 2026-01-01T00:00:00.000Z, link: "https://a.example/b?c=d"}}'),
    ],
)  # fmt: skip
def test_each_fault_of_a_request_has_its_word(fault: Fault, operation: str, then: str) -> None:
    (rule,) = read(f"rules: [{{match: {{operation: {operation}}}, then: {then}}}]").rules
    assert isinstance(rule, RequestRule)
    assert fault == rule.fault


@pytest.mark.parametrize(
    ("outcome", "work", "then"),
    [
        (WorkOutcome({2: "content_rejected", 4: "timed_out"}), "product_photography", "{outputs: {2: content_rejected, 4: timed_out}}"),
        (WorkOutcome({1: "timed_out"}, duration_ms=9_000), "upscale", "{outputs: {1: timed_out}, duration: 9s}"),
        (WorkOutcome(fail="processing_failed"), '"*"', "{fail: processing_failed}"),
        (WorkOutcome(duration_ms=20_000), "[upscale, pose.create]", "{duration: 20s}"),
        (WorkOutcome(stall=True), "edit_images", "{stall: true}"),
        (WorkOutcome(scene="foreground"), "background.create", "{scene: foreground}"),
        (WorkOutcome(scene="clean", fail="timed_out"), "[background.create, background.update]", "{scene: clean, fail: timed_out}"),
    ],
)  # fmt: skip
def test_each_outcome_of_work_has_its_words(outcome: WorkOutcome, work: str, then: str) -> None:
    (rule,) = read(f"rules: [{{match: {{work: {work}}}, then: {then}}}]").rules
    assert isinstance(rule, WorkRule)
    assert outcome == rule.outcome


def test_a_rule_that_matches_everything_is_about_what_it_does() -> None:
    text = "rules: [{then: {problem: internal_error}}, {match: {team: Demo}, then: {stall: true}}, {match: {work: '*'}, then: {fail: timed_out}}]"
    rules = read(text).rules
    assert [rule.match for rule in rules] == [RequestMatch(), WorkMatch(team="Demo"), WorkMatch()]


def test_rules_are_called_by_their_place_unless_they_have_a_name() -> None:
    rules = read("rules:\n  - then: {hold: 1}\n  - name: mine\n    then: {hold: 1}\n  - then: {hold: 1}\n").rules
    assert [(rule.name, rule.line) for rule in rules] == [("rule 1", 3), ("mine", 4), ("rule 3", 6)]
    assert {rule.file for rule in rules} == {FILE}


def test_a_body_is_read_as_the_json_it_looks_like() -> None:
    body = "{image_count: 4, background: {type: color, color: '112233'}, product_ids: [a, b], pose_id: null, x: on}"
    (rule,) = read(f"rules: [{{match: {{operation: createPose, body: {body}}}, then: {{hold: 1s}}}}]").rules
    assert isinstance(rule, RequestRule)
    background = {"type": "color", "color": "112233"}
    expected = {"image_count": 4, "background": background, "product_ids": ["a", "b"], "pose_id": None, "x": "on"}
    assert expected == rule.match.body


@pytest.mark.parametrize(
    ("nth", "text"),
    [
        (Nth(3, 3), "3"), (Nth(3, 3), "'3'"), (Nth(2, 4), "2-4"), (Nth(3), "'>=3'"), (Nth(3), "'>= 3'"),
        (Nth(5, None, 5), "every 5"),
    ],
)  # fmt: skip
def test_an_nth_has_four_forms(nth: Nth, text: str) -> None:
    (rule,) = read(f"rules: [{{when: {{nth: {text}}}, then: {{hold: 1}}}}]").rules
    assert nth == rule.when.nth


def test_a_when_may_have_all_its_keys() -> None:
    text = "rules: [{when: {nth: 2, from: 30s, until: 90s, probability: .25}, then: {hold: 1}}, {when: {}, then: {hold: 1}}]"
    assert [When(Nth(2, 2), 30_000, 90_000, 0.25), ALWAYS] == [rule.when for rule in read(text).rules]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (AdmissionChange("paused", 5), "{admission: paused, retry_after: 5}"),
        (AdmissionChange("paused"), "{admission: paused}"),
        (AdmissionChange("open"), "{admission: open}"),
        (TeamChange("Demo", credits=0), "{team: Demo, credits: 0}"),
        (TeamChange("Demo", 0, "inactive", 1, 5), "{team: Demo, credits: 0, subscription: inactive, concurrency_limit: 1, requests_per_minute: 5}"),
        (CredentialChange("k", "revoked"), "{credential: k, state: revoked}"),
        (CredentialChange("k", profile="read_only"), "{credential: k, profile: read_only}"),
        (CredentialChange("k", "active", 1_767_225_600_000), "{credential: k, state: active, expires_at: 2026-01-01T00:00:00.000Z}"),
    ],
)  # fmt: skip
def test_a_timeline_changes_admission_teams_and_credentials(change: Change, text: str) -> None:
    (timed,) = read(f"timeline: [{{at: 90s, set: {text}}}]").timeline
    assert (90_000, change) == (timed.when, timed.change)


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
def test_a_scenario_may_set_the_clock(clock: ScenarioClock, text: str) -> None:
    assert clock == read(f"clock: {text}").clock


def test_a_world_changes_what_it_names_and_adds_what_is_new() -> None:
    text = """
world:
  teams:
    Demo: {credits: 5, credentials: [{key: iwe_demo_full, profile: read_only}, {key: second}]}
    Fresh: {subscription: inactive, credentials: [{key: fresh}]}
  timings: {queue: 0}
  premade: false
"""
    world = changed_world(BUILT_IN_WORLD, read(text).world)
    teams = {team.name: team for team in world.teams}
    demo_before = BUILT_IN_WORLD.teams[0]
    first, *others = demo_before.credentials
    credentials = (WorldCredential(first.key, "Read only", "read_only"), *others, WorldCredential("second", "Full"))
    assert teams["Demo"] == WorldTeam("Demo", credits=5, credentials=credentials)
    fresh = (WorldCredential("fresh", "Full"),)
    assert teams["Fresh"] == WorldTeam("Fresh", subscription_active=False, credentials=fresh)
    assert teams["Other"] == BUILT_IN_WORLD.teams[1]
    assert (world.timings, world.premade) == (Timings(queue_ms=0), False)


def test_a_world_that_says_nothing_changes_nothing() -> None:
    assert read("world: {}").world == WorldChanges() == NO_WORLD_CHANGES
    assert changed_world(BUILT_IN_WORLD, NO_WORLD_CHANGES) == BUILT_IN_WORLD


@pytest.mark.parametrize(
    "text",
    [
        "description: text",
        "description: 7",
        "seed: 7",
        "seed: '7'",
        "clock: {}",
        "clock: {mode: real, rate: '2.5'}",
        "world: {teams: {A: {credentials: [{key: a, name: n, profile: full, state: revoked, expires_at: 2026-01-01T00:00:00Z}]}}}",
        "world: {timings: {queue: 1s, photography_style: 1, background: 1.5, pose: 250ms, fashion_model: 2m, first_output: 1h, next_output: 0}}",
        "world: {premade: 'true'}",
        "rules: []",
        "rules: [{name: 404, match: {}, when: {}, then: {hold: 10}}]",
        "rules: [{match: {operation: '*', team: Demo, body: {a: [1, {b: null}]}}, then: {problem: internal_error}}]",
        "rules: [{match: {work: '*', team: Demo}, then: {fail: timed_out, duration: 20}}]",
        "rules: [{then: {stall: 'true'}}]",
        "rules: [{when: {probability: 0}, then: {hold: 1}}, {when: {probability: '1'}, then: {hold: 1}}]",
        "timeline: []",
        "timeline: [{at: 60, set: {admission: open}}]",
    ],
)
def test_a_value_may_be_left_out_or_spelled_otherwise(text: str) -> None:
    assert read(text).name == "test"


def test_names_that_the_scenario_brings_along_are_known() -> None:
    text = """
scenario: x
world: {teams: {Fresh: {credentials: [{key: fresh}]}}}
rules: [{match: {team: Fresh}, then: {hold: 1}}]
timeline: [{at: 1, set: {credential: fresh, state: revoked}}]
"""
    assert parse_scenario(text, FILE, OPERATIONS, world_names(BUILT_IN_WORLD)).name == "x"


@pytest.mark.parametrize("operation", ["getTeam", "deletePose", "listAssets"])
def test_every_operation_can_return_an_internal_error(operation: str) -> None:
    text = f"{{scenario: x, rules: [{{match: {{operation: {operation}}}, then: {{problem: internal_error}}}}]}}"
    assert len(parse_scenario(text, FILE, {operation: frozenset()}).rules) == 1


def test_a_very_long_span_is_refused() -> None:
    assert read(f"timeline: [{{at: {3650 * DAY_MS}ms, set: {{admission: open}}}}]").timeline
    with pytest.raises(ScenarioError, match=r"at most 3650d$"):
        read("timeline: [{at: 3651d, set: {admission: open}}]")


def test_where_there_is_no_team_any_name_of_one_is_told_so() -> None:
    text = "{scenario: x, rules: [{match: {team: Demo}, then: {hold: 1s}}]}"
    names = world_names(changed_world(WorldFile((), premade=False), NO_WORLD_CHANGES))
    with pytest.raises(ScenarioError, match=r'/rules/0/match/team: found "Demo"; expected the name of a Team'):
        parse_scenario(text, FILE, OPERATIONS, names)
