"""What `exec` counts of each sandbox when it ends."""

from image_workflow_emulator.cli.observers import Tally
from tests.support.emulator_client import FULL, OTHER, EmulatorUnderTest


def finish_some_work(emulator: EmulatorUnderTest, key: str = FULL) -> None:
    """One Generation of two images, to its end."""
    emulator.photograph(key, image_count=2)
    emulator.advance(60)


def tally_of(emulator: EmulatorUnderTest) -> Tally:
    tally = Tally()
    tally.add(emulator.sandbox)
    return tally


def test_credits_and_concurrency_are_counted_by_team(emulator: EmulatorUnderTest) -> None:
    finish_some_work(emulator)
    finish_some_work(emulator, OTHER)
    emulator.photograph(image_count=3)  # which is not finished
    teams = tally_of(emulator).teams
    demo = teams["Demo"]
    assert (2, 3) == (demo.credits_charged, demo.credits_reserved)
    assert (1, 20) == (demo.highest_concurrency, demo.concurrency_limit)
    assert (2, 0) == (teams["Other"].credits_charged, teams["Lapsed"].credits_charged)


def test_a_sandbox_is_counted_before_its_reset(emulator: EmulatorUnderTest) -> None:
    tally, sandboxes = Tally(), emulator.application.sandboxes
    sandboxes.before_end.append(tally.add)
    for _ in range(2):
        finish_some_work(emulator)
        sandboxes.reset(emulator.sandbox)
    assert (4, 120_000) == (tally.teams["Demo"].credits_charged, tally.emulator_ms)


def test_what_a_state_file_brings_along_did_not_happen_here(emulator: EmulatorUnderTest) -> None:
    finish_some_work(emulator)
    emulator.told("PUT", "/state", content=emulator.ask("GET", "/state").body)
    tally = tally_of(emulator)
    demo = tally.teams["Demo"]
    assert (0, 0, 0) == (demo.credits_charged, demo.highest_concurrency, tally.emulator_ms)


def test_rules_of_a_shipped_scenario_count_only_when_they_fired(emulator: EmulatorUnderTest) -> None:
    emulator.use({"use": "problem:rate_limited"})
    emulator.get("/team")
    assert [("problem:rate_limited", "first getTeam")] == list(tally_of(emulator).rules)
