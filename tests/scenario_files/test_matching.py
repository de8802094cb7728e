"""Which parts of a body a rule means."""

import pytest

from image_workflow_emulator.scenario.scenario import contains


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
    ],
)
def test_a_body_contains_a_subset(expected: bool, value: object, pattern: object) -> None:
    assert contains(value, pattern) is expected
