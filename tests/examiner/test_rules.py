"""The rules of conduct, by their examples: each bad client is found with exactly its rule, each good one with none."""

import re

import pytest
from msgspec import structs

from image_workflow_emulator.examiner.conduct import RULES
from image_workflow_emulator.examiner.rules.rule import ConductRule
from tests.examiner.rule_examples import EXAMPLES, Ask, Example, ExampleClient
from tests.packaging.pages import pattern_of
from tests.support.emulator_client import EmulatorUnderTest
from tests.support.served import ROOT

SEEN_ON_THE_WIRE = ("hedged",)
"""These need requests that are in flight at once: tests/examiner/test_identity.py."""
PLAYED = [rule for rule in RULES if rule.name not in SEEN_ON_THE_WIRE]
EVERY_RULE = pytest.mark.parametrize("rule", PLAYED, ids=lambda rule: rule.name)


ERRORS = {
    "broken-id",
    "double-spend",
    "credential-sent-to-bytes",
    "credential-in-request",
    "retry-before-retry-after",
}
"""Misdeeds that cost money, leak a credential or get a client banned: in its example, a 429 is not waited for."""
NOTES = {"poll-after-terminal", "abandoned-upload", "hedged"}
"""Wasteful or doubtful acts: in the examples the client reads no work, so another system may."""


@EVERY_RULE
@pytest.mark.parametrize("kept", [False, True], ids=["broken", "kept"])
def test_an_example_is_found_with_its_rule_alone(
    emulator: EmulatorUnderTest, rule: ConductRule, kept: bool
) -> None:
    ExampleClient(emulator).play(EXAMPLES[rule.name][kept])
    found = emulator.told("GET", "/conduct?ended=true")
    severity = (
        "error" if rule.name in ERRORS else "note" if rule.name in NOTES else "warning"
    )
    expected = [] if kept else [(rule.name, severity)]
    assert expected == [
        (finding["rule"], finding["severity"]) for finding in found["findings"]
    ]
    assert found["checked"][rule.name] > 0


SECTIONS = re.split(
    r"(?m)^### ",
    (ROOT / "docs/reference/conduct-rules.md")
    .read_text(encoding="utf-8")
    .partition("\n## Rules\n")[2],
)[1:]


def test_the_manual_says_of_each_rule_how_bad_it_is_and_what_to_do() -> None:
    assert [f"`{rule.name}`" for rule in RULES] == [
        section.partition("\n")[0] for section in SECTIONS
    ]
    for rule, section in zip(RULES, SECTIONS, strict=True):
        assert f"**{rule.severity}**" in section
        assert "\n**What to do**: " in section


@EVERY_RULE
def test_the_manual_shows_the_requests_that_break_a_rule(
    emulator: EmulatorUnderTest, rule: ConductRule
) -> None:
    section = next(
        section for section in SECTIONS if section.startswith(f"`{rule.name}`")
    )
    shown = re.findall(r"^```text\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[0]
    plain = "\n".join(
        " ".join(line.partition("    #")[0].split()) for line in shown.splitlines()
    )
    assert re.fullmatch(
        pattern_of(plain), ExampleClient(emulator).play(EXAMPLES[rule.name][0])
    )


@pytest.mark.parametrize(
    ("user_agent", "words"),
    [
        ("python-requests/2.32.3", "HTTPAdapter"),
        ("Python/3.11 aiohttp/3.9.5", "aiohttp-retry"),
        ("got (https://github.com/sindresorhus/got)", "retry: {limit: 8"),
        ("shop/1.0", None),
    ],
)
def test_a_remedy_speaks_the_librarys_language(
    emulator: EmulatorUnderTest, user_agent: str, words: str | None
) -> None:
    broken, _ = EXAMPLES["retry-before-retry-after"]
    asks = [step for step in broken.steps if isinstance(step, Ask)]
    steps = tuple(
        structs.replace(ask, headers={"User-Agent": user_agent}) for ask in asks
    )
    ExampleClient(emulator).play(Example(steps, broken.rules))
    remedy = emulator.told("GET", "/conduct")["findings"][0]["remedy"]
    assert (words is not None) == ("; with " in remedy)
    assert (words or "wait") in remedy
