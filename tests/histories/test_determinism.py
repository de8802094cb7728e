"""Two fresh processes, one conversation: whatever follows from seed, start and requests is the same, byte for byte.

And one history in several gaits: how the clock was moved, and who looked when, leaves no trace in what comes to be.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.histories import transcript
from tests.histories.transcript import Exchange, Recorder, on_fresh_server

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


def one_advance(recorder: Recorder, paths: list[str]) -> None:
    recorder.told("POST", "/clock/advance", {"to": END})


def many_advances(recorder: Recorder, paths: list[str]) -> None:
    for _ in range(600):
        recorder.advance(0.1)


def event_by_event_with_a_look_at_everything(recorder: Recorder, paths: list[str]) -> None:
    while str(recorder.told("GET", "/clock")["next_event_at"] or "never") <= END:  # a timestamp sorts as text
        recorder.told("POST", "/clock/advance", {"next_event": True})
        for path in paths:
            recorder.get(path)
    recorder.told("POST", "/clock/advance", {"to": END})


def polls_that_take_their_waits(recorder: Recorder, paths: list[str]) -> None:
    transcript.poll(recorder, paths[::-1])
    recorder.told("POST", "/clock/advance", {"to": END})


@pytest.mark.parametrize(
    ("clock", "gait"),
    [
        ("manual", many_advances),
        ("manual", event_by_event_with_a_look_at_everything),
        ("auto", polls_that_take_their_waits),
    ],
)
def test_any_gait_of_the_clock_makes_the_resources_that_one_advance_makes(
    history_of_one_advance: list[tuple[str, bytes]], clock: str, gait: Callable[[Recorder, list[str]], None]
) -> None:
    assert history(clock, gait) == history_of_one_advance


@pytest.fixture(scope="module")
def history_of_one_advance() -> list[tuple[str, bytes]]:
    return history("manual", one_advance)


def history(clock: str, gait: Callable[[Recorder, list[str]], None]) -> list[tuple[str, bytes]]:
    """Order work on a fresh server, let time pass in some gait, and return all that there is then, pictures included."""

    def play(origin: str) -> list[tuple[str, bytes]]:
        recorder = Recorder(origin)
        paths = transcript.order_work(recorder, transcript.bring_in(recorder))
        gait(recorder, paths)
        recorder.exchanges.clear()
        transcript.read_everything(recorder)
        transcript.download_everything(recorder)
        return [(request, answer.body) for request, answer in recorder.exchanges]

    return on_fresh_server(play, "--clock", clock, "--rate-limits", "off")
