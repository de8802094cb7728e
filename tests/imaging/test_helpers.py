"""Helper processes: what they answer, what ends them, and that nothing else ends with them."""

import asyncio
import contextlib
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import IO, Any

import msgspec
import pytest
from PIL import Image

from image_workflow_emulator.domain.recipes import EditRecipe, PremadeRecipe, Recipe
from image_workflow_emulator.imaging import helpers as helpers_module
from image_workflow_emulator.imaging.helpers import MAX_HELPERS, Helpers, LostHelperError
from image_workflow_emulator.imaging.messages import Head, Message, receive_message, send_message
from image_workflow_emulator.imaging.normalize import normalize
from image_workflow_emulator.imaging.render import render
from image_workflow_emulator.imaging.worker import LARGE_PIXELS
from tests.imaging.pictures import encoded, four_corners
from tests.support.pictures import slow_jpeg

PATIENCE_SECONDS = 20
NORMALIZE_JPEG = {"job": "normalize", "content_type": "image/jpeg"}
SMALL_JPEG = encoded(four_corners(), "JPEG")
WIDE_EDGE = 2_100
"""Pixels; a square of this edge is a large picture."""


class Processes(list["subprocess.Popen[bytes]"]):
    def __init__(self) -> None:
        super().__init__()
        self.first = threading.Event()


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Processes:
    started = Processes()

    class Started(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self)
            started.first.set()

    monkeypatch.setattr(subprocess, "Popen", Started)
    return started


@pytest.fixture
def helpers(processes: Processes) -> Iterator[Helpers]:
    with contextlib.closing(Helpers()) as helpers:
        yield helpers


def run(helpers: Helpers, head: Head, *parts: bytes) -> Message:
    return asyncio.run(helpers.run(head, parts))


def rendering(recipe: Recipe) -> Head:
    return {"job": "render", "recipe": msgspec.to_builtins(recipe)}


def test_an_upload_becomes_what_it_becomes_in_process_or_is_refused_in_words(helpers: Helpers) -> None:
    expected = normalize(SMALL_JPEG, "image/jpeg")
    head, parts = run(helpers, NORMALIZE_JPEG, SMALL_JPEG)
    assert head == {"format": "jpeg", "width": 48, "height": 32, "scene": expected.scene}
    assert parts == [expected.data]
    head, parts = run(helpers, NORMALIZE_JPEG, b"no picture")
    assert "The bytes are no image of a known format" in head["refusal"]
    assert parts == []


def test_nothing_runs_before_the_first_job_and_one_helper_does_many(helpers: Helpers, processes: Processes) -> None:
    assert processes == []
    for _ in range(3):
        run(helpers, NORMALIZE_JPEG, SMALL_JPEG)
    assert [None] == [process.poll() for process in processes]


def test_a_small_picture_does_not_wait_for_the_large_ones_before_it(helpers: Helpers, processes: Processes) -> None:
    async def done_before_the_small_one() -> tuple[int, int]:
        photos = [asyncio.ensure_future(helpers.run(NORMALIZE_JPEG, [slow_jpeg(WIDE_EDGE)])) for _ in range(12)]
        await asyncio.sleep(0)  # they are in the queue
        await helpers.run(NORMALIZE_JPEG, [SMALL_JPEG])
        found = sum(photo.done() for photo in photos), len(processes)
        helpers.close()
        await asyncio.gather(*photos, return_exceptions=True)
        return found

    photos_done, started = asyncio.run(done_before_the_small_one())
    assert (photos_done <= 1, started >= MAX_HELPERS) == (True, True)


def test_of_large_pictures_one_is_decoded_at_a_time(helpers: Helpers, monkeypatch: pytest.MonkeyPatch) -> None:
    assert WIDE_EDGE**2 > LARGE_PIXELS
    in_work: dict[int, bool] = {}
    """By thread, whether its helper decodes a large picture."""
    most = 0

    def send(stream: IO[bytes], head: Head, parts: Sequence[bytes]) -> None:
        nonlocal most
        in_work[threading.get_ident()] = head["is_large"]
        most = max(most, sum(in_work.values()))
        send_message(stream, head, parts)

    def receive(stream: IO[bytes]) -> Message:
        answer = receive_message(stream)
        in_work[threading.get_ident()] = False
        return answer

    monkeypatch.setattr(helpers_module, "send_message", send)
    monkeypatch.setattr(helpers_module, "receive_message", receive)

    async def run_four() -> None:
        large = encoded(Image.new("L", (WIDE_EDGE, WIDE_EDGE), 90), "PNG")
        await asyncio.gather(*(helpers.run({**NORMALIZE_JPEG, "content_type": "image/png"}, [large]) for _ in range(4)))

    asyncio.run(run_four())
    assert most == 1


def test_a_defect_is_raised_with_what_the_helper_said(helpers: Helpers) -> None:
    recipe = PremadeRecipe(kind="pose", name="Walking", index=0, width=2, height=2, format="png")
    with pytest.raises(RuntimeError, match="the recipe names 0"):
        run(helpers, rendering(recipe), SMALL_JPEG)
    assert run(helpers, NORMALIZE_JPEG, SMALL_JPEG)[1]


def test_a_job_whose_helper_is_ended_is_done_by_another(helpers: Helpers, processes: Processes) -> None:
    async def end_one() -> Message:
        slow = asyncio.ensure_future(helpers.run(NORMALIZE_JPEG, [slow_jpeg(2000)]))
        await asyncio.to_thread(processes.first.wait, PATIENCE_SECONDS)
        processes[0].kill()
        return await slow

    assert asyncio.run(end_one())[0]["width"] == 2000
    assert len(processes) == 2


def test_a_stopped_helper_is_given_up(helpers: Helpers, processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    run(helpers, NORMALIZE_JPEG, SMALL_JPEG)
    monkeypatch.setattr(helpers_module, "max_seconds", lambda head: 0.5)
    processes[0].send_signal(signal.SIGSTOP)
    assert run(helpers, NORMALIZE_JPEG, SMALL_JPEG)[1]
    assert [True, False] == [process.poll() is not None for process in processes]


@pytest.mark.parametrize("started", [0, helpers_module._TRIES])
def test_where_no_helper_does_it_an_upload_is_lost_and_a_drawing_shows_no_inputs(
    helpers: Helpers, processes: Processes, monkeypatch: pytest.MonkeyPatch, started: int
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(helpers_module, "max_seconds", lambda head: 0)
    if not started:
        monkeypatch.setattr(subprocess, "Popen", fail)
    with pytest.raises(LostHelperError):
        run(helpers, NORMALIZE_JPEG, slow_jpeg(2000))
    assert started == len(processes)
    recipe = EditRecipe(inputs=("one",), instructions="Make it so.", width=80, height=80, format="png")
    assert [render(recipe, [b""])] == run(helpers, rendering(recipe), SMALL_JPEG)[1]
    assert "clean" == run(helpers, {"job": "examine"}, SMALL_JPEG)[0]["scene"]


def test_closing_ends_every_helper_whatever_it_does(helpers: Helpers, processes: Processes) -> None:
    async def close_while_one_works() -> object:
        slow = asyncio.ensure_future(helpers.run(NORMALIZE_JPEG, [slow_jpeg(2000)]))
        await asyncio.to_thread(processes.first.wait, PATIENCE_SECONDS)
        helpers.close()
        (lost,) = await asyncio.gather(slow, return_exceptions=True)
        return lost

    assert isinstance(asyncio.run(close_while_one_works()), LostHelperError)
    assert [process.returncode is not None for process in processes] == [True]
    with pytest.raises(LostHelperError):
        run(helpers, NORMALIZE_JPEG, SMALL_JPEG)


# What a helper does by itself -----------------------------------------------------------------------------------------


@contextlib.contextmanager
def helper(code: str = "worker.main()") -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-c", f"from image_workflow_emulator.imaging import worker; {code}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def give(process: "subprocess.Popen[bytes]", head: Head, parts: Sequence[bytes]) -> None:
    assert process.stdin is not None
    send_message(process.stdin, {**head, "is_large": True}, parts)


@pytest.mark.parametrize("is_busy", [False, True])
def test_a_helper_ends_with_whoever_started_it(is_busy: bool) -> None:
    with helper() as process:
        if is_busy:
            give(process, NORMALIZE_JPEG, [slow_jpeg(2000)])
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(PATIENCE_SECONDS) == 0


def test_a_helper_ends_when_a_job_takes_too_long() -> None:
    with helper("worker.max_seconds = lambda head: 0.1; worker.main()") as process:
        assert process.stdout is not None
        give(process, NORMALIZE_JPEG, [slow_jpeg(2000)])
        with pytest.raises(EOFError):
            receive_message(process.stdout)
        assert process.wait(PATIENCE_SECONDS) == -signal.SIGPROF


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the address space")
def test_a_helper_takes_no_more_memory_than_its_limit() -> None:
    with helper("worker.MAX_MEMORY_BYTES = 400 << 20; worker.main()") as process:
        assert process.stdout is not None
        square = encoded(Image.new("RGB", (6_000, 6_000)), "WEBP", lossless=True, method=0, quality=0)
        give(process, {**NORMALIZE_JPEG, "content_type": "image/webp"}, [square])
        assert "do not decode as WEBP" in receive_message(process.stdout)[0]["refusal"]
