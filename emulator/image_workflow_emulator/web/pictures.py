"""The wait for pictures: decoding uploads, developing recipes and examining scenes, in
helper processes.

The event loop never runs Pillow, and no code of the server does. After an await here the
state must be read again. Drawings that nobody has asked for come last, and leave the
state as it is.
"""

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final
from weakref import ref

import msgspec
from msgspec import structs

from image_workflow_emulator.domain.orders import LONGEST_EDGE, is_above_small_limit
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.readings import Readings
from image_workflow_emulator.domain.recipes import PhotographRecipe, Recipe
from image_workflow_emulator.imaging.helpers import Helpers, LostHelperError
from image_workflow_emulator.imaging.messages import Message
from image_workflow_emulator.service.sandbox.calls import DecodedUpload
from image_workflow_emulator.service.sandbox.images import ImageStore, MemoryBudget

_TOO_DEMANDING: Final = (
    "Decoding it took more time or memory than any usable image needs."
)
_ABOVE_SMALL_LIMIT: Final = (
    "The image has more than 25 megapixels, or 8,192 pixels an edge."
)
_LARGE_EDGE: Final = LONGEST_EDGE["2k"]
"""Pictures from this edge on are drawn as soon as nothing else is to be done."""
_MAX_WAITING: Final = 200
"""How many pictures may wait for that; the oldest are left out."""
_RETRY_SECONDS: Final = 1
"""The Retry-After while the emulator stops."""


class PictureWorker:
    """Hands image work to helper processes, which several emulators may share."""

    def __init__(self, helpers: Helpers, memory: MemoryBudget) -> None:
        self._helpers = helpers
        self._asked = 0
        """How many requests wait for image work."""
        self._drawing: dict[tuple[int, Recipe], asyncio.Future[bytes]] = {}
        """The drawings in progress, by the identity of the image store and the recipe."""
        self._unasked: set[asyncio.Future[None]] = set()
        """Those that nobody has asked for yet."""
        self._waiting: deque[tuple[ref[ImageStore], str]] = deque(maxlen=_MAX_WAITING)
        """Large pictures that are drawn one by one when nobody waits."""
        self._large: asyncio.Future[None] | None = None
        """The drawing of one of these."""
        memory.when_planned = self._await_idleness

    # What requests ask for ------------------------------------------------------------

    async def develop(self, images: ImageStore, keys: Iterable[str]) -> None:
        """Make sure that the sizes of pictures are known.

        The caller holds the pictures meanwhile.
        """
        drawings = [self.data(images, key) for key in images.undeveloped(keys)]
        with self._asking():
            # The bytes may be dropped at once, if memory is short.
            await asyncio.gather(*drawings)

    async def data(self, images: ImageStore, key: str) -> bytes:
        """Return the bytes of a picture.

        Raises:
            Problem: service_unavailable, the emulator is stopping.
        """
        recipe = images.pictures[key].recipe
        with self._asking(), images.held([key]):
            if isinstance(recipe, PhotographRecipe):
                self._draw_other_slots(images, recipe)
            return await self._data(images, key, is_asked=True)

    async def decode(
        self, data: bytes, content_type: str, readings: Readings
    ) -> DecodedUpload:
        """Decode and normalize an upload (D17, D18, D57).

        Raises:
            Problem: service_unavailable, the emulator is stopping.
        """
        stored_as = None
        if readings.stored_format != "plain":
            stored_as = readings.stored_format
        job = {"job": "normalize", "content_type": content_type, "stored_as": stored_as}
        try:
            with self._asking():
                result, parts = await self._run(job, [data])
        except LostHelperError:
            return DecodedUpload(refusal=_TOO_DEMANDING)
        if "refusal" in result:
            return DecodedUpload(refusal=result["refusal"])
        width = result["width"]
        height = result["height"]
        is_small_only = readings.picture_limit == "small"
        if is_small_only and is_above_small_limit(width, height):
            return DecodedUpload(refusal=_ABOVE_SMALL_LIMIT)
        return DecodedUpload(parts[0], result["format"], width, height, result["scene"])

    async def examine(self, images: ImageStore, key: str) -> None:
        """Learn the scene of a picture (D30).

        Raises:
            Problem: service_unavailable, the emulator is stopping.
        """
        with self._asking(), images.held([key]):
            data = await self.data(images, key)
            result, _ = await self._run({"job": "examine"}, [data])
            images.pictures[key].scene = result["scene"]

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Let the drawings that nobody has asked for wait meanwhile."""
        self._asked += 1
        try:
            yield
        finally:
            self._asked -= 1
            self._draw_large()

    # Drawing --------------------------------------------------------------------------

    async def _data(self, images: ImageStore, key: str, *, is_asked: bool) -> bytes:
        """Draw a picture and its inputs, unless they are here.

        If memory is short, the images may drop any of them.
        """
        recipes = images.to_draw(key)
        at_hand = _data_at_hand(images, key, recipes)
        for drawn_key, recipe in recipes.items():
            drawn = images.drawn(recipe)
            if drawn is None:
                inputs = [at_hand[source] for source in recipe.inputs]
                drawn = await self._draw_once(images, recipe, inputs)
            if is_asked:
                images.develop(recipe, drawn)
            at_hand[drawn_key] = drawn
        return at_hand[key]

    async def _draw_once(
        self, images: ImageStore, recipe: Recipe, inputs: list[bytes]
    ) -> bytes:
        """Draw a recipe, or wait for the drawing in progress, which goes on if one of its
        callers is cancelled.
        """
        place = (id(images), recipe)
        drawing = self._drawing.get(place)
        if drawing is None:
            drawing = asyncio.ensure_future(self._draw(images, recipe, inputs))
            self._drawing[place] = drawing
            drawing.add_done_callback(lambda ended: self._end_drawing(place, ended))
        return await asyncio.shield(drawing)

    def _end_drawing(
        self, place: tuple[int, Recipe], drawing: asyncio.Future[bytes]
    ) -> None:
        del self._drawing[place]
        if not drawing.cancelled():
            # asyncio logs a failure that nobody has read: that of cancelled callers.
            drawing.exception()

    async def _draw(
        self, images: ImageStore, recipe: Recipe, inputs: list[bytes]
    ) -> bytes:
        job = {"job": "render", "recipe": msgspec.to_builtins(recipe)}
        _, parts = await self._run(job, inputs)
        images.keep_ahead(recipe, parts[0])
        return parts[0]

    async def _run(self, job: Mapping[str, Any], parts: Sequence[bytes]) -> Message:
        """Have a helper process do a job.

        Raises:
            LostHelperError: no helper could do it.
            Problem: service_unavailable, the emulator is stopping.
        """
        try:
            return await self._helpers.run(job, parts)
        except LostHelperError:
            if not self._helpers.is_closed:
                raise
        raise Problem(
            "service_unavailable",
            "the emulator is stopping, and draws and decodes no more pictures",
            retry_after=_RETRY_SECONDS,
            remedy="send the request again when the emulator has started again",
        )

    # Pictures that nobody has asked for -----------------------------------------------

    def _draw_other_slots(self, images: ImageStore, recipe: PhotographRecipe) -> None:
        """Begin to draw the other pictures of a Generation: they are usually asked for
        one after another.
        """
        for slot in range(1, recipe.slot_count + 1):
            other = structs.replace(recipe, slot=slot)
            key = images.planned(other)
            is_begun = (id(images), other) in self._drawing
            if key is not None and other != recipe and not is_begun:
                self._begin_unasked(images, key)

    def _await_idleness(self, images: ImageStore, key: str) -> None:
        """Draw a new picture when nobody waits for image work, if it is large.

        A list shows the sizes of its pictures, so it would have to wait for all of them.
        """
        recipe = images.pictures[key].recipe
        if recipe is not None and max(recipe.width, recipe.height) >= _LARGE_EDGE:
            self._waiting.append((ref(images), key))
            self._draw_large()

    def _draw_large(self) -> None:
        """Draw the next large picture, unless there is other image work."""
        if self._asked or self._large is not None or not _has_loop():
            return
        while self._waiting:
            images_ref, key = self._waiting.popleft()
            images = images_ref()
            if images is not None and _is_to_draw(images, key):
                self._large = self._begin_unasked(images, key)
                self._large.add_done_callback(self._draw_next_large)
                return

    def _draw_next_large(self, _ended: asyncio.Future[None]) -> None:
        self._large = None
        self._draw_large()

    def _begin_unasked(self, images: ImageStore, key: str) -> asyncio.Future[None]:
        drawing = asyncio.ensure_future(self._draw_unasked(images, key))
        self._unasked.add(drawing)
        drawing.add_done_callback(self._unasked.discard)
        return drawing

    async def _draw_unasked(self, images: ImageStore, key: str) -> None:
        """Draw a picture; a failure is reported when the picture is asked for."""
        if key not in images.pictures:
            return
        with images.held([key]), suppress(Problem, LostHelperError, RuntimeError):
            await self._data(images, key, is_asked=False)


def _data_at_hand(
    images: ImageStore, key: str, recipes: Mapping[str, Recipe]
) -> dict[str, bytes]:
    """Return the bytes that are here of a picture and of the inputs of recipes."""
    sources = {key}
    for recipe in recipes.values():
        sources.update(recipe.inputs)
    at_hand = {}
    for source in sources:
        data = images.pictures[source].data
        if data is not None:
            at_hand[source] = data
    return at_hand


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
