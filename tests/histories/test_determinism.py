"""Two fresh processes, one conversation: whatever follows from seed, start and requests is the same, byte for byte.

And one history in several gaits: how the clock was moved, and who looked when, leaves no trace in what comes to be.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.histories import transcript
from tests.histories.transcript import Exchange, Recorder, on_fresh_server
from tests.support.emulator_client import Client, MakeEmulator

END = "2026-01-01T00:01:00.000Z"
"""When all work of the transcript is done, counted from the start of a clock that stands still."""


def test_two_processes_answer_one_transcript_with_the_same_bytes() -> None:
    def play(_: int) -> list[Exchange]:
        return on_fresh_server(transcript.play, "--clock", "auto", "--seed", "7")

    with ThreadPoolExecutor(2) as both:
        first, second = both.map(play, range(2))
    expected = {200, 201, 202, 204, 400, 401, 403, 404, 405, 410, 422, 429, 500, 503}
    assert {answer.status for _, answer in first} >= expected
    assert [503, 500, 503] == [answer.status for _, answer in first if answer.status >= 500]  # the scenario's own
    assert len(first) > 150
    for one, other in zip(first, second, strict=True):
        assert one == other


def test_a_state_that_is_saved_half_way_goes_on_in_another_process_with_the_same_bytes() -> None:
    stays, moves = transcript.play_with_a_move()
    assert len(stays) > 100
    for one, other in zip(stays, moves, strict=True):
        assert one == other


def test_another_seed_gives_other_identifiers_and_links() -> None:
    def premade(origin: str) -> set[str]:
        poses = Recorder(origin).items("/poses")
        return {pose[name] for pose in poses for name in ("id", "card_image_url")}

    first, second = (on_fresh_server(premade, "--clock", "auto", "--seed", seed) for seed in ("7", "8"))
    assert first & second == set()


Gait = Callable[[Client, list[str]], None]


def one_advance(client: Client, paths: list[str]) -> None:
    client.told("POST", "/clock/advance", {"to": END})


def many_advances(client: Client, paths: list[str]) -> None:
    for _ in range(600):
        client.told("POST", "/clock/advance", {"seconds": 0.1})


def event_by_event_with_a_look_at_everything(client: Client, paths: list[str]) -> None:
    while str(client.told("GET", "/clock")["next_event_at"] or "never") <= END:  # a timestamp sorts as text
        client.told("POST", "/clock/advance", {"next_event": True})
        for path in paths:
            client.get(path)
    client.told("POST", "/clock/advance", {"to": END})


def polls_that_take_their_waits(client: Client, paths: list[str]) -> None:
    transcript.poll(client, paths[::-1])
    client.told("POST", "/clock/advance", {"to": END})


def test_any_gait_of_the_clock_makes_the_resources_that_one_advance_makes(make_emulator: MakeEmulator) -> None:
    def history(gait: Gait, clock: str = "manual") -> list[Any]:
        """Order work, let time pass in some gait, and return all that there is then, pictures included."""
        emulator = make_emulator(clock=clock, rate_limits=False)
        gait(emulator, transcript.order_work(emulator, transcript.bring_in(emulator)))
        return [*transcript.read_everything(emulator), *transcript.download_everything(emulator)]

    expected = history(one_advance)
    for gait in (many_advances, event_by_event_with_a_look_at_everything):
        assert history(gait) == expected
    assert history(polls_that_take_their_waits, "auto") == expected
