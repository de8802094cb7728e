"""Pauses of new writes that may never end: `scenario check` warns of them."""

import pytest

from image_workflow_emulator.scenario.pauses import pause_warnings
from image_workflow_emulator.scenario.scenario_reader import parse_scenario
from tests.support.every_operation import CONTRACT

PAUSED_AT = "{at: 10s, set: {admission: paused}}"
PAUSED_AFTER = "{after: {match: {operation: getTeam}}, set: {admission: paused}}"
OPEN_BEFORE = "{at: 9s, set: {admission: open}}"
OPEN_AT_ONCE = "{at: 10s, set: {admission: open}}"
OPEN_LATER = "{at: 11s, set: {admission: open}}"
OPEN_AFTER = "{after: {match: {operation: getTeam}, nth: 2}, set: {admission: open}}"


def warnings_of(*changes: str) -> list[str]:
    """Return the lines and messages of the warnings about a timeline."""
    entries = "".join(f"- {change}\n" for change in changes)
    text = f"scenario: x\ntimeline:\n{entries}"
    scenario = parse_scenario(text, "s.yaml", CONTRACT)
    return [
        f"{warning.line}: {warning.message}" for warning in pause_warnings(scenario)
    ]


@pytest.mark.parametrize("pause", [PAUSED_AT, PAUSED_AFTER])
def test_a_pause_that_nothing_ends_is_warned_of(pause: str) -> None:
    assert warnings_of(pause) == ["3: nothing ends this pause of new writes"]


@pytest.mark.parametrize(
    "changes",
    [(OPEN_BEFORE, PAUSED_AT), (PAUSED_AT, OPEN_BEFORE), (OPEN_AT_ONCE, PAUSED_AT)],
)
def test_a_pause_after_the_last_end_is_warned_of(changes: tuple[str, str]) -> None:
    (warning,) = warnings_of(*changes)

    assert "nothing ends this pause of new writes after the last end" in warning


def test_a_pause_after_a_request_that_ends_only_at_a_time_is_warned_of() -> None:
    (warning,) = warnings_of(OPEN_LATER, PAUSED_AFTER)

    assert warning.startswith("4: this pause begins after a request")
    assert "11s" in warning


@pytest.mark.parametrize(
    "changes",
    [
        (PAUSED_AT, OPEN_LATER),
        (OPEN_LATER, PAUSED_AT),
        (PAUSED_AT, OPEN_AT_ONCE),
        (PAUSED_AT, OPEN_AFTER),
        (PAUSED_AFTER, OPEN_AFTER),
        ("{at: 10s, set: {admission: paused, for: 1s}}",),
        ("{at: 10s, set: {team: Demo, credits: 0}}",),
        (OPEN_BEFORE,),
    ],
)
def test_a_pause_that_ends_is_not_warned_of(changes: tuple[str, ...]) -> None:
    assert warnings_of(*changes) == []


def test_only_the_pause_without_an_end_is_warned_of() -> None:
    warnings = warnings_of(PAUSED_AT, OPEN_LATER, "{at: 20s, set: {admission: paused}}")

    assert [warning.partition(":")[0] for warning in warnings] == ["5"]
