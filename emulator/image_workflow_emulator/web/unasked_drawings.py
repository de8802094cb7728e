"""The drawings that no request waits for: when they begin, and that they come last.

A list shows the sizes of its pictures, so it would have to wait for each of them that is
not drawn yet. Large pictures are therefore drawn as soon as they are planned, one by one,
while no request waits for image work. Must not know how a picture is drawn.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple, TypeAlias
from weakref import ref

from image_workflow_emulator.domain.orders import LONGEST_EDGE
from image_workflow_emulator.service.sandbox.images import ImageStore

Draw: TypeAlias = Callable[[ImageStore, str], Awaitable[None]]
_LARGE_EDGE: Final = LONGEST_EDGE["2k"]
_MAX_WAITING: Final = 200
"""How many large pictures may wait; the oldest are left out."""


class _WaitingPicture(NamedTuple):
    """A large picture whose turn has not come."""

    images_ref: "ref[ImageStore]"
    """The store may be gone when it comes."""
    key: str


class UnaskedDrawings:
    """The drawings of one emulator that no request waits for."""

    def __init__(self, draw: Draw) -> None:
        """`draw` draws a picture and keeps it. It must not raise."""
        self._draw = draw
        self._requests = 0
        """How many requests wait for image work."""
        self._waiting: deque[_WaitingPicture] = deque(maxlen=_MAX_WAITING)
        self._in_progress: set[asyncio.Future[None]] = set()
        self._large: asyncio.Future[None] | None = None
        """The drawing of a large picture."""
        self._is_stopped = False

    @contextmanager
    def waiting_for_a_request(self) -> Iterator[None]:
        """Begin no drawing of a large picture while a request waits for image work."""
        self._requests += 1
        try:
            yield
        finally:
            self._requests -= 1
            self._draw_next_large()

    def add_planned(self, images: ImageStore, key: str) -> None:
        """Draw a picture when its turn comes, if it is large."""
        recipe = images.pictures[key].recipe
        if recipe is None:
            return
        longest_edge = max(recipe.width, recipe.height)
        if longest_edge >= _LARGE_EDGE:
            self._waiting.append(_WaitingPicture(ref(images), key))
            self._draw_next_large()

    def begin(self, images: ImageStore, key: str) -> asyncio.Future[None]:
        """Begin to draw a picture at once: it will be asked for soon."""
        drawing = asyncio.ensure_future(self._draw(images, key))
        self._in_progress.add(drawing)
        drawing.add_done_callback(self._in_progress.discard)
        return drawing

    def stop(self) -> None:
        """Begin no drawing of a large picture any more."""
        self._is_stopped = True

    @property
    def in_progress(self) -> tuple[asyncio.Future[None], ...]:
        """The drawings that have begun and not ended."""
        return tuple(self._in_progress)

    def _draw_next_large(self) -> None:
        is_busy = self._requests > 0 or self._large is not None
        if is_busy or self._is_stopped or not _has_loop():
            return
        while self._waiting:
            waiting = self._waiting.popleft()
            images = waiting.images_ref()
            if images is not None and _is_to_draw(images, waiting.key):
                self._large = self.begin(images, waiting.key)
                self._large.add_done_callback(self._end_large)
                return

    def _end_large(self, _ended: asyncio.Future[None]) -> None:
        self._large = None
        self._draw_next_large()


def _is_to_draw(images: ImageStore, key: str) -> bool:
    picture = images.pictures.get(key)
    if picture is None or picture.recipe is None:
        return False
    return images.drawn(picture.recipe) is None


def _has_loop() -> bool:
    """Whether an event loop runs here: events may also be applied without one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
