"""A key that comes again around the end of its 24 hours (section 4, D12)."""

from typing import Final

from tests.examiner.rule_examples import (
    ORDER,
    Example,
    ExampleClient,
    Step,
    Wait,
    rules_found,
)
from tests.support.emulator_under_test import EmulatorUnderTest

AFTER_RETENTION: Final = "key-after-retention"
HOUR_SECONDS: Final = 60 * 60
DAY_SECONDS: Final = 24 * HOUR_SECONDS
MILLISECOND: Final = 0.001


def ordered_after(*pauses: float) -> Example:
    """Return an order that is sent once, and once more after each pause."""
    steps: list[Step] = [ORDER]
    for pause in pauses:
        steps += [Wait(pause), ORDER]
    return Example(tuple(steps))


def findings_of_retention(emulator: EmulatorUnderTest) -> list[str]:
    return [rule for rule in rules_found(emulator) if rule == AFTER_RETENTION]


def test_a_key_that_comes_again_after_24_hours_to_the_millisecond_is_found(
    emulator: EmulatorUnderTest,
) -> None:
    ExampleClient(emulator).play(ordered_after(DAY_SECONDS))

    assert findings_of_retention(emulator) == [AFTER_RETENTION]


def test_a_key_that_comes_again_a_millisecond_earlier_is_not_found(
    emulator: EmulatorUnderTest,
) -> None:
    ExampleClient(emulator).play(ordered_after(DAY_SECONDS - MILLISECOND))

    assert findings_of_retention(emulator) == []


def test_a_replay_of_the_second_order_is_not_found_as_well(
    emulator: EmulatorUnderTest,
) -> None:
    ExampleClient(emulator).play(ordered_after(DAY_SECONDS, HOUR_SECONDS))

    findings = emulator.told("GET", "/conduct?ended=true")["findings"]
    (finding,) = [one for one in findings if one["rule"] == AFTER_RETENTION]
    first, second = finding["requests"]
    assert second == first + 1
