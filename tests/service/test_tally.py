"""What is counted in all sandboxes survives their resets, deletions and replacements."""

from image_workflow_emulator.service import state
from image_workflow_emulator.service.sandbox.tally import Tally
from tests.support.emulator_client import FULL, OTHER, EmulatorUnderTest

ONE_RULE = "{scenario: new, rules: [{name: a rule, match: {operation: getTeam}, then: {problem: rate_limited}}]}"


def tally_of(emulator: EmulatorUnderTest) -> Tally:
    sandboxes = emulator.application.sandboxes
    return sandboxes.tally.total(sandboxes.by_id.values())


def finish_some_work(emulator: EmulatorUnderTest, key: str = FULL) -> None:
    """One Generation of two images, to its end."""
    emulator.photograph(key, image_count=2)
    emulator.advance(60)


def test_credits_and_concurrency_are_counted_by_team(emulator: EmulatorUnderTest) -> None:
    finish_some_work(emulator)
    finish_some_work(emulator, OTHER)
    emulator.photograph(image_count=3)  # which is not finished
    teams = tally_of(emulator).teams
    demo = teams["Demo"]
    assert (2, 3) == (demo.credits_charged, demo.credits_reserved)
    assert (1, 20) == (demo.highest_concurrency, demo.concurrency_limit)
    assert (2, 0) == (teams["Other"].credits_charged, teams["Lapsed"].credits_charged)


def test_a_reset_adds_to_what_was_counted(emulator: EmulatorUnderTest) -> None:
    finish_some_work(emulator)
    before = tally_of(emulator)
    emulator.application.sandboxes.reset(emulator.sandbox)
    assert tally_of(emulator) == before
    finish_some_work(emulator)
    after = tally_of(emulator)
    assert after.teams["Demo"].credits_charged == 4
    assert after.emulator_ms == 120_000


def test_what_a_state_file_brings_along_did_not_happen_here(emulator: EmulatorUnderTest) -> None:
    finish_some_work(emulator)
    saved = b"".join(state.save(emulator.sandbox, emulator.now()))
    sandboxes = emulator.application.sandboxes
    sandboxes.replace(state.load(saved, emulator.sandbox.id, 1_000_000, emulator.application.contract))
    tally = tally_of(emulator)
    assert (tally.teams["Demo"].credits_charged, tally.emulator_ms) == (2, 60_000)
    assert Tally().total([emulator.sandbox]).teams["Demo"].highest_concurrency == 0


def test_rules_of_a_shipped_scenario_count_only_when_they_fired(emulator: EmulatorUnderTest) -> None:
    emulator.use({"use": "problem:rate_limited"})
    emulator.get("/team")
    assert [("problem:rate_limited", "first getTeam")] == list(tally_of(emulator).rules)
