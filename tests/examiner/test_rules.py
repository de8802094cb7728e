"""The rules of conduct, by their examples, and as the manual has them.

Each bad client is found with exactly its rule, each good one with none.
"""

import re

import pytest
from _pytest.mark.structures import ParameterSet

from image_workflow_emulator.examiner.conduct import RULES
from image_workflow_emulator.examiner.rules.rule import ConductRule
from tests.examiner.rule_examples import (
    EXAMPLES,
    Example,
    ExampleClient,
    rules_found,
)
from tests.packaging.pages import pattern_of
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.served import ROOT

IN_FLIGHT_AT_ONCE = ("hedged",)
"""Rules about requests that are in flight at once: tests/examiner/test_new_keys.py."""
PLAYED = [rule for rule in RULES if rule.name not in IN_FLIGHT_AT_ONCE]
EVERY_RULE = pytest.mark.parametrize("rule", PLAYED, ids=lambda rule: rule.name)


ERRORS = {
    "double-spend",
    "credential-sent-to-bytes",
    "credential-in-request",
    "broken-id",
    "retry-before-retry-after",
}
"""What costs money, leaks a credential or gets a client banned, or cannot work."""
NOTES = {"poll-after-terminal", "abandoned-upload", "hedged"}
"""What is only wasteful, or may be meant."""


def severity_of(rule: ConductRule) -> str:
    """How bad it is to break a rule."""
    if rule.name in ERRORS:
        return "error"
    if rule.name in NOTES:
        return "note"
    return "warning"


@EVERY_RULE
def test_a_client_that_breaks_a_rule_is_found_with_it_alone(
    emulator: EmulatorUnderTest,
    rule: ConductRule,
) -> None:
    broken = EXAMPLES[rule.name].breaks

    ExampleClient(emulator).play(broken)

    (finding,) = emulator.told("GET", "/conduct?ended=true")["findings"]
    assert finding["rule"] == rule.name
    assert finding["severity"] == severity_of(rule)


@EVERY_RULE
def test_a_client_that_keeps_a_rule_is_not_found(
    emulator: EmulatorUnderTest,
    rule: ConductRule,
) -> None:
    kept = EXAMPLES[rule.name].keeps

    ExampleClient(emulator).play(kept)

    assert rules_found(emulator) == []


def every_example() -> list[ParameterSet]:
    """Return each rule with the client that breaks it, and with the one that keeps it."""
    rows = []
    for rule in PLAYED:
        examples = EXAMPLES[rule.name]
        rows += [
            pytest.param(rule, examples.breaks, id=f"{rule.name}-broken"),
            pytest.param(rule, examples.keeps, id=f"{rule.name}-kept"),
        ]
    return rows


@pytest.mark.parametrize(("rule", "example"), every_example())
def test_both_clients_had_an_occasion_to_break_the_rule(
    emulator: EmulatorUnderTest,
    rule: ConductRule,
    example: Example,
) -> None:
    ExampleClient(emulator).play(example)

    conduct = emulator.told("GET", "/conduct?ended=true")
    assert conduct["checked"][rule.name] > 0


# The manual ---------------------------------------------------------------------------

MANUAL = (ROOT / "docs/reference/conduct-rules.md").read_text(encoding="utf-8")
SECTIONS = re.split("(?m)^### ", MANUAL.partition("\n## Rules\n")[2])[1:]


def section_of(rule: ConductRule) -> str:
    """The section of the manual about a rule."""
    title = f"`{rule.name}`"
    (section,) = [section for section in SECTIONS if section.startswith(title)]
    return section


def test_the_manual_has_the_rules_in_the_order_of_reports() -> None:
    titles = [section.partition("\n")[0] for section in SECTIONS]

    assert titles == [f"`{rule.name}`" for rule in RULES]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_manual_says_of_a_rule_how_bad_it_is_and_what_to_do(
    rule: ConductRule,
) -> None:
    section = section_of(rule)

    assert f"**{severity_of(rule)}**" in section
    assert "\n**Counts**: " in section
    assert "\n**What to do**: " in section


@EVERY_RULE
def test_the_manual_shows_the_requests_that_break_a_rule(
    emulator: EmulatorUnderTest,
    rule: ConductRule,
) -> None:
    block = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    documented = block.findall(section_of(rule))[0]
    pattern = pattern_of(without_comments(documented))
    broken = EXAMPLES[rule.name].breaks

    requests = ExampleClient(emulator).play(broken)

    assert re.fullmatch(pattern, requests)


def without_comments(block: str) -> str:
    """Return the lines of a block, without comments and columns."""
    lines = []
    for line in block.splitlines():
        request = line.partition("    #")[0]
        lines.append(" ".join(request.split()))
    return "\n".join(lines)
