"""Whatever a file holds, it is a scenario or it is refused with complaints: no other error ever comes out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emulator.documents.complaints import Complaint
from emulator.scenario.format import ScenarioError, parse_scenario, scenario_of
from emulator.scenario.scenario import Scenario
from emulator.scenario.vocabulary import OperationFacts
from emulator.scenario.world import BUILT_IN_WORLD, world_names

NAMES = world_names(BUILT_IN_WORLD)
TEXTS = [file.read_text() for file in sorted((Path(__file__).parents[2] / "scenarios").iterdir())]
_WORDS = """
scenario rules match operation work team body when nth from until probability then problem hold network latency at
deprecated outputs fail duration stall scene timeline set admission credential world teams credentials key clock
mode start seed getTeam upscale Demo internal_error after_commit x60 2026-01-01T00:00:00Z 1 -1 every true null *
"""
WORDS = _WORDS.split()

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(WORDS)
)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=25,
)
edits = st.tuples(
    st.sampled_from(TEXTS),
    st.lists(
        st.tuples(st.integers(0, 4_000), st.integers(0, 30), st.text(max_size=12) | st.sampled_from(WORDS)), max_size=4
    ),
)
fuzzed = settings(
    max_examples=150, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
)


def outcome_of(read: Callable[[], Scenario]) -> tuple[Scenario | None, tuple[Complaint, ...]]:
    try:
        return read(), ()
    except ScenarioError as error:
        return None, error.complaints


@fuzzed
@given(edited=edits)
def test_an_edited_file_is_read_or_refused(
    edited: tuple[str, list[tuple[int, int, str]]], operations: OperationFacts
) -> None:
    text, changes = edited
    for place, length, replacement in changes:
        at = place % (len(text) + 1)
        text = text[:at] + replacement + text[at + length :]
    scenario, complaints = outcome_of(lambda: parse_scenario(text, "f", operations, NAMES))
    assert (scenario is None) == bool(complaints)
    if scenario is not None:
        assert parse_scenario(scenario.text, "f", operations, NAMES) == scenario


@fuzzed
@given(data=documents)
def test_any_json_is_read_or_refused(data: Any, operations: OperationFacts) -> None:
    document = {"scenario": "x", "rules": data, "timeline": data, "world": data, "clock": data}
    scenario, complaints = outcome_of(lambda: scenario_of(document, "f", operations, NAMES))
    assert (scenario is None) == bool(complaints)
