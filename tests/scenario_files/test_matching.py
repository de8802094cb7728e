"""Matching: what a rule means, and on which match it is due."""

from typing import Any

import pytest

from emulator.scenario.matching import (
    Nth,
    RequestFacts,
    RequestMatch,
    When,
    WorkFacts,
    WorkMatch,
    contains,
)

REQUEST = RequestFacts("createPose", "team_1", "Demo", {"name": "Walk", "asset_id": "a"})


@pytest.mark.parametrize(
    ("expected", "match"),
    [
        (True, RequestMatch()),
        (True, RequestMatch(frozenset({"*"}))),
        (True, RequestMatch(frozenset({"createPose", "getTeam"}))),
        (False, RequestMatch(frozenset({"getTeam"}))),
        (True, RequestMatch(team="Demo")),
        (True, RequestMatch(team="team_1")),
        (False, RequestMatch(team="Other")),
        (True, RequestMatch(body={"name": "Walk"})),
        (False, RequestMatch(body={"name": "Run"})),
        (False, RequestMatch(frozenset({"createPose"}), "Other", {"name": "Walk"})),
    ],
)
def test_a_rule_means_requests_by_operation_team_and_body(expected: bool, match: RequestMatch) -> None:
    assert expected == match.matches(REQUEST)


@pytest.mark.parametrize("body", [None, [], "name", 3, True])
def test_a_body_that_is_no_object_has_no_fields(body: Any) -> None:
    facts = RequestFacts("createPose", "t", "T", body)
    assert [RequestMatch().matches(facts), RequestMatch(body={"name": None}).matches(facts)] == [True, False]


@pytest.mark.parametrize(
    ("expected", "match"),
    [
        (True, WorkMatch()),
        (True, WorkMatch(frozenset({"upscale", "pose.create"}))),
        (False, WorkMatch(frozenset({"edit_images"}))),
        (True, WorkMatch(team="Demo")),
        (False, WorkMatch(team="Other")),
    ],
)
def test_a_rule_means_work_by_kind_and_team(expected: bool, match: WorkMatch) -> None:
    assert expected == match.matches(WorkFacts("upscale", "team_1", "Demo"))


@pytest.mark.parametrize(
    ("expected", "value", "pattern"),
    [
        (True, {"a": 1, "b": 2}, {"a": 1}),
        (False, {"b": 2}, {"a": 1}),
        (True, {"a": {"b": {"c": 1, "d": 2}}}, {"a": {"b": {"c": 1}}}),
        (False, {"a": "b"}, {"a": {"b": 1}}),
        (True, {"a": {}}, {"a": {}}),
        (True, {"a": {"x": 1}}, {"a": {}}),
        (False, {"a": None}, {"a": {}}),
        (True, {"a": None}, {"a": None}),
        (False, {}, {"a": None}),
        (True, {"a": [1, 2]}, {"a": [1, 2]}),
        (False, {"a": [1, 2, 3]}, {"a": [1, 2]}),
        (False, {"a": [2, 1]}, {"a": [1, 2]}),
        (True, {"a": [{"b": 1}]}, {"a": [{"b": 1.0}]}),
        (False, {"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1}]}),
        (False, {"a": "12"}, {"a": ["1", "2"]}),
        (True, {"a": 2}, {"a": 2.0}),
        (False, {"a": "2"}, {"a": 2}),
        (False, {"a": True}, {"a": 1}),
        (False, {"a": 0}, {"a": False}),
        (True, {"a": False}, {"a": False}),
    ],
)
def test_a_body_contains_a_subset(expected: bool, value: object, pattern: object) -> None:
    assert expected == contains(value, pattern)


@pytest.mark.parametrize(
    ("numbers", "nth"),
    [
        ([1, 2, 3, 4, 5, 6], Nth()),
        ([3], Nth(3, 3)),
        ([2, 3, 4], Nth(2, 4)),
        ([4, 5, 6], Nth(4)),
        ([3, 6], Nth(3, None, 3)),
    ],
)
def test_an_nth_picks_among_the_matches(numbers: list[int], nth: Nth) -> None:
    assert numbers == [number for number in range(1, 7) if nth.holds(number)]


@pytest.mark.parametrize(
    ("expected", "when", "number", "elapsed_ms", "draw"),
    [
        (True, When(), 1, 0, 0.999),
        (False, When(from_ms=1000), 1, 999, 0.0),
        (True, When(from_ms=1000), 1, 1000, 0.0),
        (True, When(until_ms=1000), 1, 999, 0.0),
        (False, When(until_ms=1000), 1, 1000, 0.0),
        (True, When(probability=0.25), 1, 0, 0.24),
        (False, When(probability=0.25), 1, 0, 0.25),
        (False, When(probability=0.0), 1, 0, 0.0),
        (False, When(Nth(2, 2), 0, 1000, 0.5), 1, 10, 0.1),
        (True, When(Nth(2, 2), 0, 1000, 0.5), 2, 10, 0.1),
    ],
)
def test_a_rule_is_due_when_all_that_is_given_holds(
    expected: bool, when: When, number: int, elapsed_ms: int, draw: float
) -> None:
    assert expected == when.holds(number, elapsed_ms, draw)
