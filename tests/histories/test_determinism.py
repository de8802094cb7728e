"""Two fresh processes, one conversation: whatever follows from seed, start and requests is the same, byte for byte.

And one history in several gaits: how the clock was moved, and who looked when, leaves no trace in what comes to be.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from tests.histories import transcript
from tests.histories.transcript import Exchange, Recorder, recording
from tests.support.emulator_client import Client, MakeEmulator

END = "2026-01-01T00:01:00.000Z"
"""When all work of the transcript is done, counted from the start of a clock that stands still."""
SEEDED = ("--clock", "auto", "--seed", "7")


def of_the_service(recorder: Recorder) -> list[Exchange]:
    """What was answered, without the Request-Ids of the control plane, which count what a server was asked."""
    return [
        (request, replace(answer, raw_headers=()) if "/_emulator/" in request else answer)
        for request, answer in recorder.exchanges
    ]


def test_a_process_says_the_same_bytes_as_its_twin_and_as_one_that_goes_on_from_its_saved_state() -> None:
    with recording(*SEEDED) as one, recording(*SEEDED) as twin, recording("--seed", "8") as other:
        with ThreadPoolExecutor(2) as both:
            begun, _ = both.map(transcript.begin, (one, twin))
        for exchange, same in zip(one.exchanges, twin.exchanges, strict=True):
            assert exchange == same
        assert one.journal() == twin.journal()
        other.told("PUT", "/state", content=one.ask("GET", "/state").body)
        other.keys_used, other.exchanges, before = one.keys_used, [], len(one.exchanges)
        with ThreadPoolExecutor(2) as both:
            list(both.map(lambda recorder: transcript.go_on(recorder, begun), (one, other)))
        for exchange, same in zip(of_the_service(one)[before:], of_the_service(other), strict=True):
            assert exchange == same
        statuses = [answer.status for _, answer in one.exchanges]
    assert {*statuses} >= {200, 201, 202, 204, 400, 401, 403, 404, 405, 410, 422, 429, 500, 503}
    assert [503, 500, 503] == [status for status in statuses if status >= 500]  # the scenario's own
    assert len(statuses) - before > 100 < before


def test_another_seed_gives_other_identifiers_and_links(make_emulator: MakeEmulator) -> None:
    first, second = (
        {pose[name] for pose in make_emulator(seed=seed).items("/poses") for name in ("id", "card_image_url")}
        for seed in (7, 8)
    )
    assert first & second == set()


Gait = Callable[[Client, list[str]], None]


def at_once(client: Client, paths: list[str]) -> None:
    """Go straight to the end, which every gait does at last."""


def many_advances(client: Client, paths: list[str]) -> None:
    for _ in range(300):
        client.told("POST", "/clock/advance", {"seconds": 0.1})


def event_by_event_with_a_look_at_everything(client: Client, paths: list[str]) -> None:
    while str(client.told("GET", "/clock")["next_event_at"] or "never") <= END:  # a timestamp sorts as text
        client.told("POST", "/clock/advance", {"next_event": True})
        for path in paths:
            client.get(path)


def polls_that_take_their_waits(client: Client, paths: list[str]) -> None:
    transcript.poll(client, paths[::-1])


def test_any_gait_of_the_clock_makes_the_resources_that_one_advance_makes(make_emulator: MakeEmulator) -> None:
    def history(gait: Gait, clock: str = "manual") -> list[Any]:
        """Order work, let time pass in some gait, and return all that there is then, pictures included."""
        emulator = make_emulator(clock=clock, rate_limits=False)
        gait(emulator, transcript.order_work(emulator, transcript.bring_in(emulator)))
        emulator.told("POST", "/clock/advance", {"to": END})
        return [*transcript.read_everything(emulator), *transcript.download_everything(emulator)]

    expected = history(at_once)
    for gait in (many_advances, event_by_event_with_a_look_at_everything):
        assert history(gait) == expected
    assert history(polls_that_take_their_waits, "auto") == expected
