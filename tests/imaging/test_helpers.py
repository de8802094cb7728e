"""The helper processes of a server: what they answer, what ends them alone, and
their queues.
"""

import asyncio
import contextlib
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from typing import IO

import pytest
from PIL import Image

from image_workflow_emulator.domain.recipes import EditRecipe, PremadeRecipe
from image_workflow_emulator.imaging import helpers as helpers_module
from image_workflow_emulator.imaging.helpers import (
    MAX_HELPERS,
    Helpers,
    LostHelperError,
)
from image_workflow_emulator.imaging.messages import (
    Head,
    Message,
    receive_message,
    send_message,
)
from image_workflow_emulator.imaging.normalize import normalize
from image_workflow_emulator.imaging.render import render
from image_workflow_emulator.imaging.worker import LARGE_PIXELS
from tests.imaging.helper_processes import (
    NORMALIZE_JPEG,
    PATIENCE_SECONDS,
    SMALL_JPEG,
    Processes,
    give,
    input_of,
    on_linux,
    output_of,
    rendering,
    run,
    single_helper,
    started_processes,
)
from tests.imaging.pictures import encoded
from tests.support.pictures import slow_jpeg

OTHER_JPEG = encoded(Image.new("L", (8, 8), 90), "JPEG")
WIDE_EDGE = 2_100
"""Pixels; a square of this edge is a large picture."""
EDIT = EditRecipe(
    inputs=("one",),
    instructions="Make it so.",
    width=80,
    height=80,
    format="png",
)


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Processes:
    return started_processes(monkeypatch)


@pytest.fixture
def helpers(processes: Processes) -> Iterator[Helpers]:
    with contextlib.closing(Helpers()) as helpers:
        yield helpers


# Answers ------------------------------------------------------------------------------


def test_an_upload_becomes_what_it_becomes_in_process(helpers: Helpers) -> None:
    expected = normalize(SMALL_JPEG, "image/jpeg")

    head, parts = run(helpers, NORMALIZE_JPEG, SMALL_JPEG)

    assert head == {
        "format": "jpeg",
        "width": 48,
        "height": 32,
        "scene": expected.scene,
    }
    assert parts == [expected.data]


def test_an_upload_is_refused_in_words(helpers: Helpers) -> None:
    head, parts = run(helpers, NORMALIZE_JPEG, b"no picture")

    assert "The bytes are no image of a known format" in head["refusal"]
    assert parts == []


def test_a_defect_is_raised_with_what_the_helper_said(helpers: Helpers) -> None:
    recipe = PremadeRecipe(
        kind="pose",
        name="Walking",
        width=2,
        height=2,
        format="png",
    )

    with pytest.raises(RuntimeError, match="the recipe names 0"):
        run(helpers, rendering(recipe), SMALL_JPEG)

    _, parts = run(helpers, NORMALIZE_JPEG, SMALL_JPEG)
    assert parts


# Processes ----------------------------------------------------------------------------


def test_nothing_runs_before_the_first_job(
    helpers: Helpers,
    processes: Processes,
) -> None:
    assert processes == []


def test_one_helper_does_many_jobs(helpers: Helpers, processes: Processes) -> None:
    for level in range(3):
        run(helpers, NORMALIZE_JPEG, encoded(Image.new("L", (8, 8), level), "JPEG"))

    assert processes.ended() == [False]


def test_a_job_that_was_done_before_needs_no_helper(
    helpers: Helpers,
    processes: Processes,
) -> None:
    first = run(helpers, NORMALIZE_JPEG, SMALL_JPEG)
    processes[0].send_signal(signal.SIGSTOP)

    again = run(helpers, NORMALIZE_JPEG, SMALL_JPEG)

    assert again == first
    assert processes.ended() == [False]


def test_a_job_whose_helper_is_ended_is_done_by_another(
    helpers: Helpers,
    processes: Processes,
) -> None:
    async def end_one() -> Message:
        job = helpers.run(NORMALIZE_JPEG, [slow_jpeg(2000)])
        slow = asyncio.ensure_future(job)
        await processes.wait_for_first()
        processes[0].kill()
        return await slow

    head, _ = asyncio.run(end_one())

    assert head["width"] == 2000
    assert len(processes) == 2


def test_a_stopped_helper_is_given_up(
    helpers: Helpers,
    processes: Processes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run(helpers, NORMALIZE_JPEG, SMALL_JPEG)
    monkeypatch.setattr(helpers_module, "max_seconds", lambda head: 1)
    processes[0].send_signal(signal.SIGSTOP)

    _, parts = run(helpers, NORMALIZE_JPEG, OTHER_JPEG)

    # On a busy machine, the next one may be given up too.
    stopped_has_ended, *_ = processes.ended()
    assert parts
    assert stopped_has_ended


def fail_to_start(*_: object, **__: object) -> None:
    raise OSError(11, "Resource temporarily unavailable")


@pytest.fixture(params=["no helper starts", "every helper is ended"])
def helpers_that_end(
    helpers: Helpers,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Helpers:
    monkeypatch.setattr(helpers_module, "max_seconds", lambda head: 0)
    if request.param == "no helper starts":
        monkeypatch.setattr(subprocess, "Popen", fail_to_start)
    return helpers


def test_where_every_helper_ends_an_upload_is_lost(helpers_that_end: Helpers) -> None:
    with pytest.raises(LostHelperError):
        run(helpers_that_end, NORMALIZE_JPEG, slow_jpeg(2000))


def test_where_every_helper_ends_a_drawing_shows_no_inputs(
    helpers_that_end: Helpers,
) -> None:
    _, parts = run(helpers_that_end, rendering(EDIT), SMALL_JPEG)

    assert parts == [render(EDIT, [b""])]


def test_where_every_helper_ends_a_scene_is_clean(helpers_that_end: Helpers) -> None:
    head, _ = run(helpers_that_end, {"job": "examine"}, SMALL_JPEG)

    assert head["scene"] == "clean"


def test_a_job_is_given_to_no_more_than_three_helpers(
    helpers: Helpers,
    processes: Processes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(helpers_module, "max_seconds", lambda head: 0)

    with pytest.raises(LostHelperError):
        run(helpers, NORMALIZE_JPEG, slow_jpeg(2000))

    assert processes.ended() == [True, True, True]


def test_closing_ends_a_helper_at_work(helpers: Helpers, processes: Processes) -> None:
    async def close_while_one_works() -> object:
        job = helpers.run(NORMALIZE_JPEG, [slow_jpeg(2000)])
        slow = asyncio.ensure_future(job)
        await processes.wait_for_first()
        helpers.close()
        (outcome,) = await asyncio.gather(slow, return_exceptions=True)
        return outcome

    outcome = asyncio.run(close_while_one_works())

    assert isinstance(outcome, LostHelperError)
    assert processes.ended() == [True]


def test_after_closing_no_job_is_done(helpers: Helpers) -> None:
    helpers.close()

    with pytest.raises(LostHelperError):
        run(helpers, NORMALIZE_JPEG, SMALL_JPEG)


# Queues -------------------------------------------------------------------------------


def test_a_small_picture_does_not_wait_for_the_large_ones_before_it(
    helpers: Helpers,
    processes: Processes,
) -> None:
    async def photos_done_before_the_small_one() -> int:
        photos = []
        for _ in range(12):
            job = helpers.run(NORMALIZE_JPEG, [slow_jpeg(WIDE_EDGE)])
            photos.append(asyncio.ensure_future(job))
        await asyncio.sleep(0)  # they are in the queue
        await helpers.run(NORMALIZE_JPEG, [SMALL_JPEG])
        done = [photo for photo in photos if photo.done()]
        helpers.close()
        await asyncio.gather(*photos, return_exceptions=True)
        return len(done)

    done_count = asyncio.run(photos_done_before_the_small_one())

    assert done_count <= 1
    assert len(processes) >= MAX_HELPERS


class LargeJobs:
    """Counts the helpers that decode a large picture at the same time."""

    def __init__(self) -> None:
        self._is_large: dict[int, bool] = {}
        """By thread: each waits for one helper."""
        self.most = 0

    def send(
        self,
        stream: IO[bytes],
        head: Head,
        parts: Sequence[bytes],
    ) -> None:
        self._is_large[threading.get_ident()] = head["is_large"]
        self.most = max(self.most, sum(self._is_large.values()))
        send_message(stream, head, parts)

    def receive(self, stream: IO[bytes]) -> Message:
        answer = receive_message(stream)
        self._is_large[threading.get_ident()] = False
        return answer


def test_of_large_pictures_one_is_decoded_at_a_time(
    helpers: Helpers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert WIDE_EDGE**2 > LARGE_PIXELS
    jobs = LargeJobs()
    monkeypatch.setattr(helpers_module, "send_message", jobs.send)
    monkeypatch.setattr(helpers_module, "receive_message", jobs.receive)
    head = {"job": "normalize", "content_type": "image/png"}
    edges = (WIDE_EDGE, WIDE_EDGE)
    files = [encoded(Image.new("L", edges, level), "PNG") for level in range(4)]

    async def run_four() -> None:
        await asyncio.gather(*(helpers.run(head, [file]) for file in files))

    asyncio.run(run_four())

    assert jobs.most == 1


# A helper by itself -------------------------------------------------------------------


@pytest.mark.parametrize("is_busy", [False, True])
def test_a_helper_ends_with_its_server(is_busy: bool) -> None:
    with single_helper() as process:
        if is_busy:
            give(process, NORMALIZE_JPEG, [slow_jpeg(2000)])

        input_of(process).close()

        assert process.wait(PATIENCE_SECONDS) == 0


def test_a_helper_ends_when_a_job_takes_too_long() -> None:
    code = "worker.max_seconds = lambda head: 0.1; worker.main()"
    with single_helper(code) as process:
        give(process, NORMALIZE_JPEG, [slow_jpeg(2000)])

        with pytest.raises(EOFError):
            receive_message(output_of(process))

        assert process.wait(PATIENCE_SECONDS) == -signal.SIGPROF


@on_linux
def test_a_helper_takes_no_more_memory_than_its_limit() -> None:
    image = Image.new("RGB", (6_000, 6_000))
    square = encoded(
        image,
        "WEBP",
        lossless=True,
        method=0,
        quality=0,
    )
    code = "worker.MAX_MEMORY_BYTES = 400 << 20; worker.main()"
    with single_helper(code) as process:
        give(process, {**NORMALIZE_JPEG, "content_type": "image/webp"}, [square])

        head, _ = receive_message(output_of(process))

        assert "do not decode as WEBP" in head["refusal"]
