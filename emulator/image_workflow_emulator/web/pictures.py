"""The wait for pictures: decoding uploads, developing recipes and examining scenes, in
helper processes.

The event loop never runs Pillow, and no code of the server does. After an await here the
state must be read again. Drawings that nobody has asked for come last, and leave the
state as it is.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import structs

from image_workflow_emulator.domain.orders import is_above_small_limit
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.readings import Readings
from image_workflow_emulator.domain.recipes import PhotographRecipe, Recipe
from image_workflow_emulator.imaging.helpers import Helpers, LostHelperError
from image_workflow_emulator.imaging.messages import Message
from image_workflow_emulator.service.sandbox.calls import DecodedUpload
from image_workflow_emulator.service.sandbox.images import ImageStore, MemoryBudget
from image_workflow_emulator.web.unasked_drawings import UnaskedDrawings

_TOO_DEMANDING: Final = (
    "Decoding it took more time or memory than any usable image needs."
)
_ABOVE_SMALL_LIMIT: Final = (
    "The image has more than 25 megapixels, or 8,192 pixels an edge."
)
_DrawingKey: TypeAlias = tuple[int, Recipe]
"""The identity of an image store, and the recipe."""
_RETRY_SECONDS: Final = 1
"""The Retry-After while the emulator stops."""


class PictureWorker:
    """Hands image work to helper processes, which several emulators may share."""

    def __init__(self, helpers: Helpers, memory: MemoryBudget) -> None:
        self._helpers = helpers
        self._drawing: dict[_DrawingKey, asyncio.Future[bytes]] = {}
        """The drawings in progress."""
        self._unasked = UnaskedDrawings(self._draw_unasked)
        memory.when_planned = self._unasked.add_planned

    # What requests ask for ------------------------------------------------------------

    async def develop(self, images: ImageStore, keys: Iterable[str]) -> None:
        """Make sure that the sizes of pictures are known.

        The caller holds the pictures meanwhile.

        Raises:
            Problem: internal_error, the emulator is stopping. No read declares 503.
        """
        drawings = [self.data(images, key) for key in images.undeveloped(keys)]
        try:
            with self._unasked.waiting_for_a_request():
                # The bytes may be dropped at once, if memory is short.
                await asyncio.gather(*drawings)
        except Problem as unavailable:
            raise Problem(
                "internal_error",
                unavailable.detail,
                remedy=unavailable.remedy,
            ) from None

    async def data(self, images: ImageStore, key: str) -> bytes:
        """Return the bytes of a picture.

        Raises:
            Problem: service_unavailable, the emulator is stopping.
        """
        recipe = images.pictures[key].recipe
        with self._unasked.waiting_for_a_request(), images.held([key]):
            if isinstance(recipe, PhotographRecipe):
                self._draw_other_slots(images, recipe)
            return await self._data(images, key, is_asked=True)

    async def decode(
        self,
        data: bytes,
        content_type: str,
        readings: Readings,
    ) -> DecodedUpload:
        """Decode and normalize an upload (D17, D18, D57).

        Raises:
            Problem: service_unavailable, the emulator is stopping.
        """
        stored_as = None
        if readings.stored_format != "plain":
            stored_as = readings.stored_format
        job = {
            "job": "normalize",
            "content_type": content_type,
            "stored_as": stored_as,
        }
        try:
            with self._unasked.waiting_for_a_request():
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
        return DecodedUpload(
            data=parts[0],
            format=result["format"],
            width=width,
            height=height,
            scene=result["scene"],
        )

    async def examine(self, images: ImageStore, key: str) -> None:
        """Learn the scene of a picture (D30).

        Raises:
            Problem: service_unavailable, the emulator is stopping.
        """
        with self._unasked.waiting_for_a_request(), images.held([key]):
            data = await self.data(images, key)
            result, _ = await self._run({"job": "examine"}, [data])
            images.pictures[key].scene = result["scene"]

    async def end(self) -> None:
        """Wait until all drawings have ended, once the helper processes have.

        asyncio logs a task that is still pending when its loop is closed.
        """
        self._unasked.stop()
        drawings: list[asyncio.Future[Any]] = [*self._drawing.values()]
        drawings += self._unasked.in_progress
        await asyncio.gather(*drawings, return_exceptions=True)

    # Drawing --------------------------------------------------------------------------

    async def _data(
        self,
        images: ImageStore,
        key: str,
        *,
        is_asked: bool,
    ) -> bytes:
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
        self,
        images: ImageStore,
        recipe: Recipe,
        inputs: list[bytes],
    ) -> bytes:
        """Draw a recipe, or wait for the drawing in progress, which goes on if one of its
        callers is cancelled.
        """
        key = (id(images), recipe)
        drawing = self._drawing.get(key)
        if drawing is None:
            drawing = asyncio.ensure_future(self._draw(images, recipe, inputs))
            self._drawing[key] = drawing
            drawing.add_done_callback(lambda ended: self._end_drawing(key, ended))
        return await asyncio.shield(drawing)

    def _end_drawing(
        self,
        key: _DrawingKey,
        drawing: asyncio.Future[bytes],
    ) -> None:
        del self._drawing[key]
        if not drawing.cancelled():
            # asyncio logs a failure that nobody has read: that of cancelled callers.
            drawing.exception()

    async def _draw(
        self,
        images: ImageStore,
        recipe: Recipe,
        inputs: list[bytes],
    ) -> bytes:
        job = {"job": "render", "recipe": msgspec.to_builtins(recipe)}
        _, parts = await self._run(job, inputs)
        picture = parts[0]
        images.keep_ahead(recipe, picture)
        return picture

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
            if slot == recipe.slot:
                continue
            other = structs.replace(recipe, slot=slot)
            key = images.planned(other)
            is_begun = (id(images), other) in self._drawing
            if key is not None and not is_begun:
                self._unasked.begin(images, key)

    async def _draw_unasked(self, images: ImageStore, key: str) -> None:
        """Draw a picture; a failure is reported when the picture is asked for."""
        if key not in images.pictures:
            return
        with images.held([key]), suppress(Problem, LostHelperError, RuntimeError):
            await self._data(images, key, is_asked=False)


def _data_at_hand(
    images: ImageStore,
    key: str,
    recipes: Mapping[str, Recipe],
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
