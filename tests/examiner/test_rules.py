"""The rules of conduct, by their examples: each bad client is found with exactly its rule, each good one with none."""

import re

import pytest

from emulator.examiner.rules.base import ConductRule
from emulator.examiner.rules.registry import RULES
from tests.examiner.examples import ExampleClient
from tests.examiner.rule_examples import EXAMPLES
from tests.support.emulator_client import EmulatorUnderTest
from tests.support.served import ROOT

SEEN_ON_THE_WIRE = ("hedged",)
"""These need requests that are in flight at once: tests/examiner/test_paid_twice.py."""
PLAYED = [rule for rule in RULES if rule.name not in SEEN_ON_THE_WIRE]
EVERY_RULE = pytest.mark.parametrize("rule", PLAYED, ids=lambda rule: rule.name)


OF_SEVERAL_KEYS = ("write-retried-with-new-key", "double-spend")
"""These check writes that came under several keys alone: who keeps them gives them nothing to check."""


@EVERY_RULE
def test_a_client_that_breaks_a_rule_is_found_with_that_rule_alone(
    service: EmulatorUnderTest, rule: ConductRule
) -> None:
    ExampleClient(service).play(EXAMPLES[rule.name][0])
    found = service.told("GET", "/conduct?ended=true")
    assert [rule.name] == [finding["rule"] for finding in found["findings"]]
    assert found["checked"][rule.name] > 0


@EVERY_RULE
def test_a_client_that_keeps_a_rule_is_clean_and_was_checked(service: EmulatorUnderTest, rule: ConductRule) -> None:
    ExampleClient(service).play(EXAMPLES[rule.name][1])
    found = service.told("GET", "/conduct?ended=true")
    assert [] == found["findings"]
    assert (found["checked"][rule.name] > 0) == (rule.name not in OF_SEVERAL_KEYS)


def test_the_manual_has_a_section_for_each_rule_with_its_remedy() -> None:
    text = (ROOT / "docs/conduct.md").read_text(encoding="utf-8")
    assert [rule.name for rule in RULES] == re.findall(r"^### `([a-z-]+)`", text, re.MULTILINE)
