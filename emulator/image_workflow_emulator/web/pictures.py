"""The wait for pictures: decoding uploads, developing recipes and examining scenes, in helper processes.

The event loop never runs Pillow, and no code of the server does. After an await here the state must be read again.
"""

import asyncio
import contextlib
from collections.abc import Iterable

import msgspec
from msgspec import structs

from image_workflow_emulator.domain.orders import is_above_small_limit
from image_workflow_emulator.domain.readings import Readings
from image_workflow_emulator.domain.recipes import PhotographRecipe, Recipe
from image_workflow_emulator.imaging.helpers import Helpers, LostHelperError
from image_workflow_emulator.service.sandbox.calls import DecodedUpload
from image_workflow_emulator.service.sandbox.images import ImageStore

_TOO_DEMANDING = "Decoding it took more time or memory than any usable image needs."


class PictureWorker:
    """Hands image work to helper processes, which several emulators may share."""

    def __init__(self, helpers: Helpers) -> None:
        self._helpers = helpers
        self._drawing: dict[tuple[int, Recipe], asyncio.Future[bytes]] = {}
        """The drawings in progress, by the identity of the image store and the recipe."""
        self._ahead: dict[tuple[int, Recipe], asyncio.Future[None]] = {}
        """Likewise, those that nobody has asked for yet."""

    async def develop(self, images: ImageStore, keys: Iterable[str]) -> None:
        """Make sure that the sizes of pictures are known. They must be held by the caller meanwhile."""

        async def develop(key: str) -> None:
            await self.data(
                images, key
            )  # which may be dropped at once, if memory is short

        await asyncio.gather(*(develop(key) for key in images.undeveloped(keys)))

    async def data(self, images: ImageStore, key: str) -> bytes:
        """Return the bytes of a picture."""
        recipe = images.pictures[key].recipe
        with images.held([key]):
            if isinstance(recipe, PhotographRecipe):
                self._draw_other_slots(images, recipe)
            return await self._data(images, key)

    def _draw_other_slots(self, images: ImageStore, recipe: PhotographRecipe) -> None:
        """Begin to draw the other pictures of a Generation: they are usually asked for one after another."""
        for slot in range(1, recipe.slot_count + 1):
            other = structs.replace(recipe, slot=slot)
            key, place = images.planned(other), (id(images), other)
            if key is not None and other != recipe and place not in self._ahead:
                self._draw_ahead(images, key, place)

    def _draw_ahead(
        self, images: ImageStore, key: str, place: tuple[int, Recipe]
    ) -> None:
        async def draw() -> None:
            if key in images.pictures:
                # A failure is reported when the picture is asked for.
                with (
                    images.held([key]),
                    contextlib.suppress(LostHelperError, RuntimeError),
                ):
                    await self._data(images, key)

        self._ahead[place] = asyncio.ensure_future(draw())
        self._ahead[place].add_done_callback(lambda _: self._ahead.pop(place))

    async def _data(self, images: ImageStore, key: str) -> bytes:
        """Draw a picture and its inputs, unless they are here. If memory is short, the images may drop any of them."""
        recipes = images.to_draw(key)
        sources = {
            key,
            *(source for recipe in recipes.values() for source in recipe.inputs),
        }
        at_hand = {
            source: data
            for source in sources
            if (data := images.pictures[source].data) is not None
        }
        for drawn, recipe in recipes.items():
            inputs = [at_hand[source] for source in recipe.inputs]
            at_hand[drawn] = images.drawn(recipe) or await self._draw_once(
                images, recipe, inputs
            )
        return at_hand[key]

    async def decode(
        self, data: bytes, content_type: str, readings: Readings
    ) -> DecodedUpload:
        """Decode and normalize an upload (D17, D18, D57)."""
        stored_as = (
            None if readings.stored_format == "plain" else readings.stored_format
        )
        job = {"job": "normalize", "content_type": content_type, "stored_as": stored_as}
        try:
            found, parts = await self._helpers.run(job, [data])
        except LostHelperError:
            return DecodedUpload(refusal=_TOO_DEMANDING)
        if "refusal" in found:
            return DecodedUpload(refusal=found["refusal"])
        if readings.picture_limit == "small" and is_above_small_limit(
            found["width"], found["height"]
        ):
            return DecodedUpload(
                refusal="The image has more than 25 megapixels, or 8,192 pixels an edge."
            )
        return DecodedUpload(
            parts[0], found["format"], found["width"], found["height"], found["scene"]
        )

    async def examine(self, images: ImageStore, key: str) -> None:
        """Learn the scene of a picture (D30)."""
        with images.held([key]):
            found, _ = await self._helpers.run(
                {"job": "examine"}, [await self.data(images, key)]
            )
            images.pictures[key].scene = found["scene"]

    async def _draw_once(
        self, images: ImageStore, recipe: Recipe, inputs: list[bytes]
    ) -> bytes:
        """Draw a recipe, or wait for the drawing in progress, which goes on if one of its callers is cancelled."""
        place = id(images), recipe
        drawing = self._drawing.get(place)
        if drawing is None:
            drawing = self._drawing[place] = asyncio.ensure_future(
                self._draw(images, recipe, inputs)
            )
            drawing.add_done_callback(lambda _: self._drawing.pop(place))
        return await asyncio.shield(drawing)

    async def _draw(
        self, images: ImageStore, recipe: Recipe, inputs: list[bytes]
    ) -> bytes:
        _, parts = await self._helpers.run(
            {"job": "render", "recipe": msgspec.to_builtins(recipe)}, inputs
        )
        images.develop(recipe, parts[0])
        return parts[0]
