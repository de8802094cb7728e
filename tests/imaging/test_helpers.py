"""Helper processes: what they answer, what ends them, and that nothing else ends with them."""

import asyncio
import contextlib
import io
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pytest
from PIL import Image

from emulator.domain.recipes import PremadeRecipe, UpscaleRecipe
from emulator.imaging.helpers import LIGHT_PIXELS, Helpers, LostHelperError
from emulator.imaging.messages import Head, Message, receive_message, send_message
from emulator.imaging.normalize import normalize
from emulator.imaging.worker import do
from tests.imaging.pictures import encoded, four_corners
from tests.support.pictures import slow_jpeg

PATIENCE_SECONDS = 20
NORMALIZE_JPEG = {"job": "normalize", "content_type": "image/jpeg"}
SMALL_JPEG = encoded(four_corners(), "JPEG")
WIDE_EDGE = 4_200
"""Pixels; a square of this edge is more than the light lane takes."""


class Processes(list["subprocess.Popen[bytes]"]):
    def __init__(self) -> None:
        super().__init__()
        self.first = threading.Event()


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Processes:
    """Every helper process that is started."""
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


def wide_png() -> bytes:
    return encoded(Image.new("L", (WIDE_EDGE, WIDE_EDGE), 90), "PNG")


def test_an_upload_becomes_what_it_becomes_in_process(helpers: Helpers) -> None:
    expected = normalize(SMALL_JPEG, "image/jpeg")
    head, parts = run(helpers, NORMALIZE_JPEG, SMALL_JPEG)
    assert head == {"format": "jpeg", "width": 48, "height": 32, "scene": expected.scene}
    assert parts == [expected.data]


def test_what_cannot_be_used_is_told_in_words(helpers: Helpers) -> None:
    head, parts = run(helpers, NORMALIZE_JPEG, b"no picture")
    assert "The bytes are no image of a known format" in head["refusal"]
    assert parts == []


def test_a_scene_is_examined(helpers: Helpers) -> None:
    red = encoded(Image.new("RGB", (90, 90), "red"), "PNG")
    assert run(helpers, {"job": "examine"}, red) == ({"scene": "clean"}, [])


def test_nothing_runs_before_the_first_job_and_one_helper_does_many(helpers: Helpers, processes: Processes) -> None:
    assert processes == []
    for _ in range(3):
        run(helpers, NORMALIZE_JPEG, SMALL_JPEG)
    assert [None] == [process.poll() for process in processes]


def test_a_large_picture_is_decoded_by_a_helper_that_ends_with_it(helpers: Helpers, processes: Processes) -> None:
    assert WIDE_EDGE**2 > LIGHT_PIXELS
    head, _ = run(helpers, {"job": "normalize", "content_type": "image/png"}, wide_png())
    assert (head["width"], head["height"]) == (WIDE_EDGE, WIDE_EDGE)
    assert all(process.poll() is not None for process in processes)


def test_a_recipe_with_a_large_input_is_drawn(helpers: Helpers) -> None:
    recipe = UpscaleRecipe(width=60, height=60, format="png", inputs=("a",))
    _, parts = run(helpers, {"job": "render", "recipe": msgspec.to_builtins(recipe)}, wide_png())
    assert len(parts) == 1


def test_a_defect_is_raised_with_what_the_helper_said(helpers: Helpers) -> None:
    recipe = PremadeRecipe(kind="pose", name="Walking", index=0, width=2, height=2, format="png")
    with pytest.raises(RuntimeError, match="the recipe names 0"):
        run(helpers, {"job": "render", "recipe": msgspec.to_builtins(recipe)}, SMALL_JPEG)
    assert run(helpers, NORMALIZE_JPEG, SMALL_JPEG)[1]


def test_with_a_helper_only_its_own_job_is_lost(helpers: Helpers, processes: Processes) -> None:
    async def lose_one() -> tuple[object, Message]:
        slow = asyncio.ensure_future(helpers.run(NORMALIZE_JPEG, [slow_jpeg(2000)]))
        await asyncio.to_thread(processes.first.wait, PATIENCE_SECONDS)
        answer = await helpers.run(NORMALIZE_JPEG, [SMALL_JPEG])
        processes[0].kill()
        (lost,) = await asyncio.gather(slow, return_exceptions=True)
        return lost, answer

    lost, answer = asyncio.run(lose_one())
    assert isinstance(lost, LostHelperError)
    assert answer[1]
    assert run(helpers, NORMALIZE_JPEG, SMALL_JPEG)[1]


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
    command = [sys.executable, "-c", f"from emulator.imaging import worker; {code}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def give(process: "subprocess.Popen[bytes]", head: Head, parts: Sequence[bytes]) -> None:
    assert process.stdin is not None
    send_message(process.stdin, head, parts)


@pytest.mark.parametrize("is_busy", [False, True])
def test_a_helper_ends_with_whoever_started_it(is_busy: bool) -> None:
    with helper() as process:
        if is_busy:
            give(process, NORMALIZE_JPEG, [slow_jpeg(4000)])
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(PATIENCE_SECONDS) == 0


def test_a_helper_ends_when_a_job_takes_too_long() -> None:
    with helper("worker.DECODING_SECONDS = 0.2; worker.main()") as process:
        assert process.stdout is not None
        give(process, {**NORMALIZE_JPEG, "pixels_at_once": LIGHT_PIXELS}, [slow_jpeg(4000)])
        with pytest.raises(EOFError):
            receive_message(process.stdout)
        assert process.wait(PATIENCE_SECONDS) != 0


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the address space")
def test_a_helper_takes_no_more_memory_than_its_limit() -> None:
    with helper("worker.MEMORY_BYTES = 400 << 20; worker.main()") as process:
        assert process.stdout is not None
        square = encoded(Image.new("RGB", (9_000, 9_000)), "WEBP", lossless=True, method=0, quality=0)
        give(process, {"job": "normalize", "content_type": "image/webp"}, [square])
        assert "do not decode as WEBP" in receive_message(process.stdout)[0]["refusal"]


def test_a_job_that_is_unknown_is_a_defect() -> None:
    head, _ = do({"job": "paint"}, [])
    assert "KeyError: 'paint'" in head["defect"]


def test_a_message_that_is_cut_off_is_the_end() -> None:
    whole = io.BytesIO()
    send_message(whole, {"a": 1}, [b"123", b""])
    assert receive_message(io.BytesIO(whole.getvalue())) == ({"a": 1}, [b"123", b""])
    for length in range(len(whole.getvalue())):
        with pytest.raises(EOFError):
            receive_message(io.BytesIO(whole.getvalue()[:length]))
