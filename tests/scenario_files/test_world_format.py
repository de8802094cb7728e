"""World files: what one says, what holds where it is silent, and how its mistakes are told."""

from emulator.scenario.world import BUILT_IN_WORLD, Timings, WorldCredential, WorldFile, WorldTeam
from emulator.scenario.world_format import parse_world
from tests.support.served import ROOT


def test_the_shipped_file_says_what_the_built_in_world_is() -> None:
    text = (ROOT / "emulator/scenario/world.yaml").read_bytes()
    assert parse_world(text, "world.yaml") == BUILT_IN_WORLD


def test_a_new_team_that_says_only_its_credentials_has_the_defaults() -> None:
    team = WorldTeam("A", 100, True, 20, 120, (WorldCredential("k", "Full", "full", "active", None),))
    expected = WorldFile((*BUILT_IN_WORLD.teams, team))
    assert expected == parse_world("teams: {A: {credentials: [{key: k}]}}", "world.yaml")


def test_everything_that_can_be_said_is_read() -> None:
    text = """
teams:
  Shop & Co:
    credits: 7
    subscription: inactive
    concurrency_limit: 1
    requests_per_minute: 600
    credentials: [{key: a, name: A, profile: read_only, state: revoked, expires_at: 2026-01-01T00:00:00.000Z}]
timings: {queue: 250ms, photography_style: 2, background: 1m, pose: 0, fashion_model: 1h, first_output: 1.5s, next_output: 3s}
premade: false
"""
    credential = WorldCredential("a", "A", "read_only", "revoked", 1_767_225_600_000)
    teams = (*BUILT_IN_WORLD.teams, WorldTeam("Shop & Co", 7, False, 1, 600, (credential,)))
    expected = WorldFile(teams, Timings(250, 2_000, 60_000, 0, 3_600_000, 1_500, 3_000), premade=False)
    assert expected == parse_world(text, "world.yaml")
