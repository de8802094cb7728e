"""World files: what one says, what holds where it is silent, and how its mistakes are told."""

from pathlib import Path
from typing import Any

import pytest

from emulator.scenario.world import (
    BUILT_IN_WORLD,
    Timings,
    WorldCredential,
    WorldFile,
    WorldTeam,
)
from emulator.scenario.world_format import WorldError, parse_world, world_of

ROOT = Path(__file__).parents[2]


def complaints_of(text: str) -> list[str]:
    with pytest.raises(WorldError) as caught:
        parse_world(text, "world.yaml")
    return str(caught.value).splitlines()


def test_the_shipped_file_says_what_the_built_in_world_is() -> None:
    text = (ROOT / "emulator/scenario/world.yaml").read_bytes()
    assert parse_world(text, "world.yaml") == BUILT_IN_WORLD


def test_a_team_that_says_only_its_credentials_has_the_defaults() -> None:
    expected = WorldFile((WorldTeam("A", 100, True, 20, 120, (WorldCredential("k", "Full", "full", "active", None),)),))
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
    expected = WorldFile(
        (WorldTeam("Shop & Co", 7, False, 1, 600, (credential,)),),
        Timings(250, 2_000, 60_000, 0, 3_600_000, 1_500, 3_000),
        premade=False,
    )
    assert expected == parse_world(text, "world.yaml")


def test_a_file_without_teams_keeps_the_built_in_ones() -> None:
    world = parse_world("timings: {queue: 0}", "world.yaml")
    assert (BUILT_IN_WORLD.teams, Timings(queue_ms=0), True) == (world.teams, world.timings, world.premade)


def test_json_is_read_like_yaml() -> None:
    data: Any = {"teams": {"A": {"credits": 3, "credentials": [{"key": "k"}]}}, "premade": False}
    expected = WorldFile((WorldTeam("A", credits=3, credentials=(WorldCredential("k", "Full"),)),), premade=False)
    text = '{"teams": {"A": {"credits": 3, "credentials": [{"key": "k"}]}}, "premade": false}'
    assert [expected, expected] == [world_of(data, "request"), parse_world(text, "request")]


def test_data_without_positions_is_complained_of_without_them() -> None:
    with pytest.raises(WorldError, match=r'^request: teams\.A\.credits: found "x"; expected a whole number') as caught:
        world_of({"teams": {"A": {"credits": "x", "credentials": [{"key": "k"}]}}}, "request")
    assert (caught.value.complaints[0].line, caught.value.complaints[0].column) == (0, 0)


def test_data_that_is_nested_too_deeply_is_refused() -> None:
    data: Any = []
    for _ in range(40):
        data = [data]
    with pytest.raises(WorldError, match=r"^request: found arrays and objects nested too deeply"):
        world_of({"teams": data}, "request")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "world.yaml:1:1: found an empty document; expected an object"),
        ("- a", "world.yaml:1:1: found a list; expected a mapping with one of teams, timings, premade"),
        ("team: {}", 'world.yaml:1:1: found "team"; expected one of teams, timings, premade; did you mean "teams"?'),
        (
            "teams: {A: {}}",
            'world.yaml:1:12: teams.A: found no "credentials"; expected the key "credentials"',
        ),
        (
            "teams: {A: {credentials: []}}",
            "world.yaml:1:26: teams.A.credentials: found an empty list; expected at least",
        ),
        (
            "teams: {A: {credentials: [{}]}}",
            'world.yaml:1:27: teams.A.credentials[0]: found no "key"; expected the key',
        ),
        (
            "teams: {A: {credentials: [{key: k}]}, A: {credentials: [{key: l}]}}",
            'world.yaml:1:39: found "A" a second time; expected each key once',
        ),
        (
            "teams: {A: {credentials: [{key: k}]}, B: {credentials: [{key: k}]}}",
            'world.yaml:1:63: teams.B.credentials[0].key: found "k" again, first given at teams.A.credentials[0].key;',
        ),
        (
            "teams: {A: {credentials: [{key: a b}]}}",
            'world.yaml:1:33: teams.A.credentials[0].key: found "a b"; expected',
        ),
        (
            "teams: {A: {credentials: [{key: k, state: revokd}]}}",
            'world.yaml:1:43: teams.A.credentials[0].state: found "revokd"; expected one of active, revoked; did you mean',
        ),
        (
            "teams: {A: {credentials: [{key: [k]}]}}",
            "world.yaml:1:33: teams.A.credentials[0].key: found a list; expected a key",
        ),
        (
            "teams: {A: {credits: [1], credentials: [{key: k}]}}",
            "world.yaml:1:22: teams.A.credits: found a list; expected a whole number",
        ),
        (
            "teams: {A: {credits: -1, credentials: [{key: k}]}}",
            'world.yaml:1:22: teams.A.credits: found "-1"; expected',
        ),
        (
            "teams: {A: {concurrency_limit: -1, credentials: [{key: k}]}}",
            'world.yaml:1:32: teams.A.concurrency_limit: found "-1"; expected a whole number from 0 to 9007199254740991',
        ),
        (
            "teams: {A: {subscription: on, credentials: [{key: k}]}}",
            'world.yaml:1:27: teams.A.subscription: found "on"; expected one of active, inactive',
        ),
        ("premade: yes", 'world.yaml:1:10: premade: found "yes"; expected one of true, false'),
        ("timings: {pose: fast}", 'world.yaml:1:17: timings.pose: found "fast"; expected a duration such as'),
        (
            "timings: {pose: 4000d}",
            'world.yaml:1:17: timings.pose: found "4000d"; expected a duration of at most 3650d',
        ),
        (
            "teams: {A: {credentials: [{key: k, expires_at: 2026-01-01}]}}",
            'world.yaml:1:48: teams.A.credentials[0].expires_at: found "2026-01-01"; expected a timestamp such as',
        ),
        ('teams: {" ": {credentials: [{key: k}]}}', 'world.yaml:1:14: teams." ": found an empty name; expected a Team'),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, complaint: str) -> None:
    complaints = complaints_of(text)
    assert complaints[0].startswith(complaint), complaints


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file() -> None:
    text = "teams:\n  A: {credits: x, credentials: [{key: k, profil: full}]}\npremade: x\ntimings: {que: 1s}\n"
    assert [int(line.split(":")[1]) for line in complaints_of(text)] == [2, 2, 3, 4]
