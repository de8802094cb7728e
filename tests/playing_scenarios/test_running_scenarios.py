"""Scenarios as they run: swapped while requests come in, begun anew by a reset, and the same whenever they are played."""

from tests.playing_scenarios.player import upscale_call
from tests.support.emulator_client import Answer, Call, EmulatorUnderTest, Json, MakeEmulator, control_call

# Swapped ------------------------------------------------------------------------------------------------------------


def test_a_swap_is_whole_for_every_request_that_comes_with_it(emulator: EmulatorUnderTest) -> None:
    before: set[str] = set()

    def scenario(status: str) -> Json:
        rule = {"name": status, "match": {"operation": "*"}, "then": {"problem": status}}
        return {"scenario": status, "rules": [rule], "world": {"teams": {"Demo": {"credits": len(status)}}}}

    for status in ("rate_limited", "credential_expired", "internal_error"):
        swap, *reads = emulator.together(
            control_call("PUT", "/scenario", scenario(status)), *(Call("GET", path) for path in ("/team", "/poses") * 3)
        )
        assert swap.status == 200
        assert {answer.code for answer in reads if answer.status != 200} <= before | {status}
        before = {status}
        assert [status] * 2 == [emulator.get(path).code for path in ("/team", "/poses")]
    assert len("internal_error") == emulator.team()["credits"]


def test_what_is_held_stays_held_when_the_scenario_is_swapped(emulator: EmulatorUnderTest, asset_id: str) -> None:
    emulator.rule({"operation": "createUpscaleGeneration"}, {"hold": "10s"})
    call = upscale_call(asset_id, "k")
    first, _, second, _ = emulator.together(
        call,
        control_call("PUT", "/scenario", {"scenario": "calm"}),
        call,
        control_call("POST", "/clock/advance", {"seconds": 10}),
    )
    assert [(202, "generation"), (409, "idempotency_in_progress")] == [first.outcome, second.outcome]


# Played again -------------------------------------------------------------------------------------------------------

EVENTFUL = """\
scenario: eventful
world: {teams: {Demo: {credits: 2}}}
rules:
  - {match: {operation: getTeam}, when: {probability: 0.5}, then: {problem: rate_limited}}
  - {match: {operation: getGeneration}, when: {nth: every 3}, then: {problem: internal_error}}
  - {match: {operation: createUpscaleGeneration}, when: {probability: 0.4}, then: {problem: internal_error, at: after_commit}}
  - {match: {work: upscale}, when: {probability: 0.5}, then: {fail: timed_out, duration: 12s}}
  - {match: {operation: listPoses}, then: {deprecated: {sunset: 2027-06-30T00:00:00Z}}}
timeline:
  - {at: 40s, set: {admission: paused, retry_after: 6}}
  - {at: 55s, set: {admission: open}}
  - {at: 95s, set: {credential: iwe_demo_full, state: revoked}}
"""


def _played(emulator: EmulatorUnderTest) -> list[tuple[int, tuple[tuple[str, str], ...], bytes]]:
    """Play a client, and return all that it was answered."""
    (asset_id,) = emulator.assets(1)
    answers: list[Answer] = []

    def send(call: Call) -> Answer:
        answers.append(emulator.send(call))
        return answers[-1]

    for number in range(8):
        call = upscale_call(asset_id, f"k{number}")
        admitted = next((answer for answer in map(send, [call] * 4) if answer.status == 202), None)
        polled = [Call("GET", f"/generations/{admitted.id}")] * 6 if admitted else []
        for read in [Call("GET", "/team"), *polled]:
            send(read)
    emulator.told("POST", "/clock/advance", {"seconds": 100})
    send(Call("GET", "/team"))
    for path in ("/poses", "/generations", "/assets", "/team"):
        send(Call("GET", path, key="iwe_demo_read"))
    return [(answer.status, answer.raw_headers, answer.body) for answer in answers]


def test_a_reset_begins_the_scenario_anew_with_fresh_counters_and_the_same_bytes_follow(
    make_emulator: MakeEmulator,
) -> None:
    emulator = make_emulator(scenario=EVENTFUL, clock="auto", seed=3)
    untouched = emulator.told("GET", "/scenario")
    first = _played(emulator)
    assert {200, 202, 401, 402, 429, 500, 503} <= {status for status, _, _ in first}, "the play is eventful"
    assert untouched != emulator.told("GET", "/scenario")
    emulator.told("POST", "/reset")
    assert untouched == emulator.told("GET", "/scenario")
    assert first == _played(emulator)
