"""What `exec` adds up of each sandbox when it ends."""

from image_workflow_emulator.cli.execution import Observed
from tests.support.emulator_client import FULL, OTHER, EmulatorUnderTest


def finish_some_work(emulator: EmulatorUnderTest, key: str = FULL) -> None:
    """One Generation of two images, to its end."""
    emulator.photograph(key, image_count=2)
    emulator.advance(60)


def observed(emulator: EmulatorUnderTest) -> Observed:
    seen = Observed((), keeps_entries=False)
    seen.judge(emulator.sandbox)
    return seen


def test_credits_are_those_of_all_teams(emulator: EmulatorUnderTest) -> None:
    finish_some_work(emulator)
    finish_some_work(emulator, OTHER)
    emulator.photograph(image_count=3)  # which is not finished
    seen = observed(emulator)
    assert (4, 3) == (seen.counts["credits_charged"], seen.counts["credits_reserved"])


def test_a_sandbox_is_added_up_before_its_reset(emulator: EmulatorUnderTest) -> None:
    seen, sandboxes = Observed((), keeps_entries=False), emulator.application.sandboxes
    sandboxes.before_end.append(seen.judge)
    for _ in range(2):
        finish_some_work(emulator)
        sandboxes.reset(emulator.sandbox)
    assert (4, 120_000) == (seen.counts["credits_charged"], seen.counts["emulator_time_ms"])


def test_what_a_state_file_brings_along_did_not_happen_here(emulator: EmulatorUnderTest) -> None:
    finish_some_work(emulator)
    emulator.told("PUT", "/state", content=emulator.ask("GET", "/state").body)
    seen = observed(emulator)
    assert (0, 0) == (seen.counts["credits_charged"], seen.counts["emulator_time_ms"])


def test_rules_of_a_shipped_scenario_count_only_when_they_fired(emulator: EmulatorUnderTest) -> None:
    emulator.use({"use": "problem:rate_limited"})
    emulator.get("/team")
    assert [("problem:rate_limited", "first getTeam")] == list(observed(emulator).rules)
