"""Changes of a timeline that end: `for` beside what they set."""

from typing import NamedTuple

import pytest

from tests.support.emulator_client import FULL, OTHER, READ_ONLY, UPLOAD, Call, Json
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.every_operation import upscale_call

WRITE = Call("POST", "/uploads", UPLOAD)
READ = Call("GET", "/team")
PAUSE: Json = {"admission": "paused", "for": "30s"}
NO_CREDITS: Json = {
    "team": "Demo",
    "credits": 0,
    "for": "30s",
}
INACTIVE: Json = {
    "team": "Demo",
    "subscription": "inactive",
}
REVOKED: Json = {
    "credential": FULL,
    "state": "revoked",
}


def run_timeline(emulator: EmulatorUnderTest, *changes: tuple[str, Json]) -> None:
    """Put a scenario of changes, each with its time."""
    timeline = [{"at": at, "set": change} for at, change in changes]
    emulator.use({"scenario": "for a span", "timeline": timeline})


def statuses_at(
    emulator: EmulatorUnderTest,
    call: Call,
    *seconds: float,
) -> dict[float, int]:
    """Send a request at each of some times since now, and return the statuses."""
    statuses: dict[float, int] = {}
    present: float = 0
    for second in seconds:
        emulator.advance(second - present)
        present = second
        statuses[second] = emulator.send(call).status
    return statuses


def remedy_of_the_last_request(emulator: EmulatorUnderTest) -> str:
    (request,) = emulator.told("GET", "/requests?limit=1")["data"]
    entry = emulator.told("GET", f"/requests/{request['sequence']}")
    return str(entry["explanation"]["remedy"])


class Effect(NamedTuple):
    """What a request is answered during a change, and after it."""

    change: Json
    call: Call
    during: int
    afterwards: int


EFFECTS = {
    "a pause": Effect(
        change={"admission": "paused"},
        call=WRITE,
        during=503,
        afterwards=201,
    ),
    "no subscription": Effect(
        change=INACTIVE,
        call=WRITE,
        during=403,
        afterwards=201,
    ),
    "a rate limit": Effect(
        change={"team": "Demo", "requests_per_minute": 1},
        call=READ,
        during=429,
        afterwards=200,
    ),
    "a revoked credential": Effect(
        change=REVOKED,
        call=READ,
        during=401,
        afterwards=200,
    ),
    "a credential that only reads": Effect(
        change={"credential": FULL, "profile": "read_only"},
        call=WRITE,
        during=403,
        afterwards=201,
    ),
    "an expired credential": Effect(
        change={"credential": FULL, "expires_at": "2026-01-01T00:00:00.000Z"},
        call=READ,
        during=401,
        afterwards=200,
    ),
}


@pytest.mark.parametrize("name", EFFECTS)
def test_a_change_ends_at_its_millisecond(
    emulator: EmulatorUnderTest,
    name: str,
) -> None:
    effect = EFFECTS[name]
    change = {**effect.change, "for": "30s"}
    run_timeline(emulator, ("10s", change))

    statuses = statuses_at(
        emulator,
        effect.call,
        9.999,
        10,
        39.999,
        40,
    )

    assert statuses[9.999] == effect.afterwards
    assert statuses[10] == effect.during
    assert statuses[39.999] == effect.during
    assert statuses[40] == effect.afterwards


def test_a_concurrency_limit_goes_back(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    no_place = {
        "team": "Demo",
        "concurrency_limit": 0,
        "for": "30s",
    }
    run_timeline(emulator, ("0s", no_place))

    during = emulator.send(upscale_call(asset_id, "a"))
    emulator.advance(30)
    afterwards = emulator.send(upscale_call(asset_id, "b"))

    assert during.code == "concurrency_limit_reached"
    assert afterwards.status == 202


def test_a_refusal_names_the_end_of_the_pause(emulator: EmulatorUnderTest) -> None:
    run_timeline(emulator, ("0s", PAUSE))

    emulator.send(WRITE)

    remedy = remedy_of_the_last_request(emulator)
    assert remedy == "wait until 2026-01-01T00:00:30.000Z"


@pytest.mark.emulator(clock="auto")
def test_an_auto_clock_skips_to_the_end_of_the_pause(
    emulator: EmulatorUnderTest,
) -> None:
    run_timeline(emulator, ("0s", PAUSE))

    first = emulator.send(WRITE)
    second = emulator.send(WRITE)

    assert first.status == 503
    assert second.status == 201


def test_a_pause_after_a_request_counts_its_span_from_then(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use("""
        scenario: after
        timeline:
          - after:
              match: {operation: getTeam}
            set:
              admission: paused
              for: 30s
    """)
    emulator.advance(100)
    emulator.send(READ)

    statuses = statuses_at(emulator, WRITE, 0, 29.999, 30)

    assert statuses == {0: 503, 29.999: 503, 30: 201}


# Credits ----------------------------------------------------------------------------


def test_credits_go_back_by_their_difference(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    run_timeline(emulator, ("0s", NO_CREDITS | {"credits": 5}))
    emulator.send(upscale_call(asset_id, "k"))

    during = emulator.credits()
    emulator.advance(30)

    assert during == 4
    assert emulator.credits() == 99


def test_credits_that_were_spent_meanwhile_are_not_taken_twice(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    emulator.set_team(credits_available=0)
    run_timeline(emulator, ("0s", NO_CREDITS | {"credits": 1}))
    emulator.send(upscale_call(asset_id, "k"))

    emulator.advance(30)

    assert emulator.credits() == 0


def test_overlapping_spans_give_back_all_credits_at_the_later_end(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use("""
        scenario: overlapping
        timeline:
          - at: 0s
            set: {team: Demo, credits: 0, for: 30s}
          - at: 10s
            set: {team: Demo, credits: 40, for: 10s}
    """)
    emulator.advance(20)

    after_the_first_end = emulator.credits()
    emulator.advance(10)

    assert after_the_first_end == 40
    assert emulator.credits() == 100


# Overlaps ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("50s", "10s", id="one within the other"),
        pytest.param("10s", "40s", id="one after the other"),
    ],
)
@pytest.mark.parametrize(
    "name",
    ["a pause", "no subscription", "a revoked credential"],
)
def test_where_spans_overlap_the_later_end_counts(
    emulator: EmulatorUnderTest,
    name: str,
    first: str,
    second: str,
) -> None:
    effect = EFFECTS[name]
    run_timeline(
        emulator,
        ("0s", {**effect.change, "for": first}),
        ("10s", {**effect.change, "for": second}),
    )

    statuses = statuses_at(
        emulator,
        effect.call,
        0,
        10,
        20,
        49.999,
        50,
    )

    assert statuses == {
        0: effect.during,
        10: effect.during,
        20: effect.during,
        49.999: effect.during,
        50: effect.afterwards,
    }


def test_a_pause_without_an_end_goes_on_after_one_with_an_end(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use("""
        scenario: a pause without an end
        timeline:
          - at: 0s
            set: {admission: paused}
          - at: 10s
            set: {admission: paused, for: 30s}
    """)

    statuses = statuses_at(emulator, WRITE, 0, 40, 1000)

    assert statuses == {0: 503, 40: 503, 1000: 503}


def test_an_opening_ends_a_span_early(emulator: EmulatorUnderTest) -> None:
    emulator.use("""
        scenario: opened early
        timeline:
          - at: 0s
            set: {admission: paused, for: 30s}
          - at: 20s
            set: {admission: open}
    """)

    statuses = statuses_at(emulator, WRITE, 19.999, 20, 30)

    assert statuses == {19.999: 503, 20: 201, 30: 201}


def test_a_pause_that_began_after_an_opening_is_not_ended_by_an_older_span(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use("""
        scenario: paused anew
        timeline:
          - at: 0s
            set: {admission: paused, for: 30s}
          - at: 10s
            set: {admission: open}
          - at: 20s
            set: {admission: paused, for: 60s}
    """)

    statuses = statuses_at(
        emulator,
        WRITE,
        10,
        20,
        30,
        79.999,
        80,
    )

    assert statuses == {
        10: 201,
        20: 503,
        30: 503,
        79.999: 503,
        80: 201,
    }


def test_a_lasting_change_stays_after_the_end_of_a_span(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use("""
        scenario: inactive for good
        timeline:
          - at: 0s
            set: {team: Demo, subscription: inactive, for: 30s}
          - at: 10s
            set: {team: Demo, subscription: inactive}
    """)

    statuses = statuses_at(emulator, WRITE, 30, 1000)

    assert statuses == {30: 403, 1000: 403}


def test_what_a_person_sets_meanwhile_stays(emulator: EmulatorUnderTest) -> None:
    run_timeline(emulator, ("0s", NO_CREDITS))
    emulator.set_team(credits_available=7)

    emulator.advance(30)

    assert emulator.credits() == 7


def test_only_the_fields_of_the_change_go_back(emulator: EmulatorUnderTest) -> None:
    emulator.use("""
        scenario: no Credits and no subscription
        timeline:
          - at: 0s
            set: {team: Demo, credits: 0, for: 30s}
          - at: 10s
            set: {team: Demo, subscription: inactive, for: 60s}
    """)

    emulator.advance(30)

    assert emulator.credits() == 100
    assert emulator.team()["subscription"] == "inactive"


# The scenario ends, or is saved -----------------------------------------------------


def test_what_a_scenario_has_set_stays_when_it_ends(
    emulator: EmulatorUnderTest,
) -> None:
    run_timeline(emulator, ("0s", NO_CREDITS), ("0s", PAUSE))
    emulator.send(READ)
    emulator.without_scenario()

    emulator.advance(30)

    assert emulator.credits() == 0
    assert emulator.send(WRITE).status == 503


def test_a_pause_whose_scenario_has_ended_has_no_known_end(
    emulator: EmulatorUnderTest,
) -> None:
    run_timeline(emulator, ("0s", PAUSE))
    emulator.send(READ)
    emulator.without_scenario()

    emulator.send(WRITE)

    remedy = remedy_of_the_last_request(emulator)
    assert "wait until" not in remedy


def test_a_new_scenario_goes_back_to_what_the_old_one_has_left(
    emulator: EmulatorUnderTest,
) -> None:
    run_timeline(emulator, ("0s", INACTIVE | {"for": "30s"}))
    emulator.send(READ)
    active = {
        "team": "Demo",
        "subscription": "active",
        "for": "10s",
    }
    run_timeline(emulator, ("0s", active))

    statuses = statuses_at(emulator, WRITE, 0, 10, 30)

    assert statuses == {0: 201, 10: 403, 30: 403}


def test_a_scenario_for_one_team_pauses_it_alone(emulator: EmulatorUnderTest) -> None:
    scenario = {
        "scenario": "of one Team",
        "timeline": [{"at": "0s", "set": PAUSE}],
    }
    emulator.use(scenario, "/scenario?team=Other")
    write_of_other = Call("POST", "/uploads", UPLOAD, key=OTHER)

    demo = emulator.send(WRITE)
    other = statuses_at(emulator, write_of_other, 0, 30)

    assert demo.status == 201
    assert other == {0: 503, 30: 201}


def test_a_state_file_keeps_the_ends(emulator: EmulatorUnderTest) -> None:
    revoked = {
        "credential": READ_ONLY,
        "state": "revoked",
        "for": "30s",
    }
    run_timeline(
        emulator,
        ("0s", NO_CREDITS),
        ("0s", revoked),
        ("0s", PAUSE),
    )
    emulator.send(READ)
    saved = emulator.ask("GET", "/state").body
    emulator.told("POST", "/reset")

    loaded = emulator.ask("PUT", "/state", content=saved)
    during = emulator.credits()
    emulator.advance(30)

    assert loaded.status == 200
    assert during == 0
    assert emulator.credits() == 100
    assert emulator.get("/team", READ_ONLY).status == 200
    assert emulator.send(WRITE).status == 201


def test_the_clock_says_what_is_taken_back(emulator: EmulatorUnderTest) -> None:
    run_timeline(emulator, ("0s", PAUSE))
    emulator.send(READ)

    (event,) = emulator.told("GET", "/clock")["events"]

    assert event["at"] == "2026-01-01T00:00:30.000Z"
    assert event["what"] == "the scenario takes back admission paused, for 30s"
