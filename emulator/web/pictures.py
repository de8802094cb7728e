"""The wait for pictures: decoding uploads, developing recipes and examining scenes, in helper processes.

The event loop never runs Pillow, and no code of the server does. Whoever awaits here must look at the state afresh
afterwards.
"""

import asyncio
from collections.abc import Iterable

from emulator.domain.recipes import Recipe, recipe_to_dict
from emulator.imaging.helpers import Helpers, LostHelperError
from emulator.service.images import ImageStore
from emulator.service.uploads import DecodedUpload

_TOO_DEMANDING = "Decoding it took more time or memory than any usable image needs."


class PictureWorker:
    """Has image work done outside of the server, by helpers that several may share."""

    def __init__(self, helpers: Helpers) -> None:
        self._helpers = helpers
        self._developing: dict[int, asyncio.Future[None]] = {}
        """By identity of the recipe: who is already at it."""

    async def develop(self, images: ImageStore, keys: Iterable[str]) -> None:
        """Make sure that pictures have bytes. They must be held by the caller meanwhile."""
        for key in images.undeveloped(keys):
            recipe = images.pictures[key].recipe
            if recipe is None:
                continue
            running = self._developing.get(id(recipe))
            if running is None:
                running = asyncio.ensure_future(self._develop_one(images, key, recipe))
                self._developing[id(recipe)] = running
            await asyncio.shield(running)

    async def decode(self, data: bytes, content_type: str) -> DecodedUpload:
        """Decode and normalize an upload (D17, D18)."""
        try:
            found, parts = await self._helpers.run({"job": "normalize", "content_type": content_type}, [data])
        except LostHelperError:
            return DecodedUpload(refusal=_TOO_DEMANDING)
        if "refusal" in found:
            return DecodedUpload(refusal=found["refusal"])
        return DecodedUpload(parts[0], found["format"], found["width"], found["height"], found["scene"])

    async def examine(self, images: ImageStore, key: str) -> None:
        """Learn the scene of a picture (D30)."""
        picture = images.pictures[key]
        images.hold([key])
        try:
            await self.develop(images, [key])
            if picture.data is not None:  # pragma: no branch (what is held while it is developed has bytes then)
                found, _ = await self._helpers.run({"job": "examine"}, [picture.data])
                picture.scene = found["scene"]
        finally:
            images.release([key])

    async def _develop_one(self, images: ImageStore, key: str, recipe: Recipe) -> None:
        try:
            inputs = [images.data(source) for source in recipe.inputs]
            _, parts = await self._helpers.run({"job": "render", "recipe": recipe_to_dict(recipe)}, inputs)
            images.develop(key, recipe, parts[0])
        finally:
            del self._developing[id(recipe)]
