"""Rules that can never act are warned of; rules that can are not."""

import time

import pytest

from image_workflow_emulator.scenario.format import parse_scenario
from image_workflow_emulator.scenario.library import ScenarioLibrary
from image_workflow_emulator.scenario.reach import warnings_of
from tests.support.served import ROOT
from tests.support.specification import CONTRACT


def warned(rules: str) -> list[str]:
    return list(warnings_of(parse_scenario(f"scenario: x\nrules:\n{rules}", "s.yaml", CONTRACT)))


HOLD = "then: {hold: 1s}"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (f"{{{HOLD}}}", f"{{match: {{operation: getTeam}}, {HOLD}}}"),
        (f"{{match: {{operation: '*'}}, {HOLD}}}", f"{{match: {{body: {{name: x}}}}, when: {{nth: 2}}, {HOLD}}}"),
        (
            f"{{match: {{operation: [getPose, getTeam]}}, {HOLD}}}",
            f"{{match: {{operation: getTeam, team: A}}, {HOLD}}}",
        ),
        (f"{{match: {{team: A}}, {HOLD}}}", f"{{match: {{team: A, operation: getTeam}}, {HOLD}}}"),
        ("{match: {bytes: '*'}, then: {network: reset}}", "{match: {bytes: upload}, then: {network: stall}}"),
        ("{match: {work: '*'}, then: {stall: true}}", "{match: {work: upscale}, then: {fail: timed_out}}"),
    ],
)
def test_a_rule_after_one_that_always_acts_is_warned_of(first: str, second: str) -> None:
    (warning,) = warned(f"  - {first}\n  - {second}\n")
    assert warning == 's.yaml:4: the rule "rule 2" can never act: "rule 1" acts on all that it matches'


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (f"{{when: {{nth: 1}}, {HOLD}}}", f"{{match: {{operation: getTeam}}, {HOLD}}}"),
        (f"{{match: {{operation: getTeam}}, {HOLD}}}", f"{{{HOLD}}}"),
        (f"{{match: {{team: A}}, {HOLD}}}", f"{{match: {{team: B}}, {HOLD}}}"),
        (f"{{{HOLD}}}", "{match: {bytes: upload}, then: {network: stall}}"),
        (f"{{{HOLD}}}", "{match: {work: '*'}, then: {stall: true}}"),
        (
            "{match: {work: product_photography}, then: {outputs: {4: timed_out}}}",
            "{match: {work: product_photography}, then: {fail: timed_out}}",
        ),
    ],
)
def test_a_rule_that_some_requests_reach_is_not_warned_of(first: str, second: str) -> None:
    assert [] == warned(f"  - {first}\n  - {second}\n")


def test_a_rule_whose_probability_is_0_is_warned_of() -> None:
    (warning,) = warned(f"  - {{when: {{probability: 0}}, {HOLD}}}\n")
    assert warning == 's.yaml:3: the rule "rule 1" can never act: its probability is 0'


def test_thousands_of_rules_are_compared_in_no_time() -> None:
    rules = "".join(f"  - {{match: {{idempotency_key: k{number}}}, {HOLD}}}\n" for number in range(2000))
    began_at = time.process_time()
    assert [] == warned(rules)
    assert time.process_time() - began_at < 2


def test_the_library_has_nothing_to_warn_of_but_limits_that_are_off() -> None:
    library = ScenarioLibrary(ROOT / "scenarios", CONTRACT)
    assert [] == [warning for name in library.names() for warning in warnings_of(library.load(name))]
    (warning,) = warnings_of(library.load("rate-limited"), has_rate_limits=False)
    assert warning == "the scenario rate-limited limits requests per minute, but rate limits are off here"
