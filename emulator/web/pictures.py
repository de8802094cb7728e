"""The wait for pictures: decoding uploads, developing recipes and examining scenes, in worker threads.

The event loop never runs Pillow. Whoever awaits here must look at the state afresh afterwards.
"""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from emulator.domain.recipes import Recipe
from emulator.domain.resources import Scene
from emulator.service.images import ImageStore
from emulator.service.uploads import DecodedUpload

WORKERS = 2

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def _render(recipe: Recipe, inputs: list[bytes]) -> bytes:
    from emulator.imaging.render import render

    return render(recipe, inputs)


def _normalize(data: bytes, content_type: str) -> DecodedUpload:
    from emulator.imaging.normalize import UnusableImage, normalize

    try:
        image = normalize(data, content_type)
    except UnusableImage as refusal:
        return DecodedUpload(refusal=refusal.reason)
    return DecodedUpload(image.data, image.format, image.width, image.height, image.scene)


def _examine(data: bytes) -> Scene:
    from emulator.imaging.scene import examine_scene_of

    return examine_scene_of(data)


class PictureWorker:
    """Runs the imaging room's functions outside the event loop."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None
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
        return await self._run(_normalize, data, content_type)

    async def examine(self, images: ImageStore, key: str) -> None:
        """Learn the scene of a picture (D30)."""
        picture = images.pictures[key]
        images.hold([key])
        try:
            await self.develop(images, [key])
            if picture.data is not None:  # pragma: no branch (what is held while it is developed has bytes then)
                picture.scene = await self._run(_examine, picture.data)
        finally:
            images.release([key])

    async def _develop_one(self, images: ImageStore, key: str, recipe: Recipe) -> None:
        try:
            inputs = [images.data(source) for source in recipe.inputs]
            images.develop(key, recipe, await self._run(_render, recipe, inputs))
        finally:
            del self._developing[id(recipe)]

    async def _run(
        self, function: Callable[Parameters, Result], *arguments: Parameters.args, **_: Parameters.kwargs
    ) -> Result:
        if self._executor is None:
            self._executor = ThreadPoolExecutor(WORKERS, thread_name_prefix="pictures")
        return await asyncio.get_running_loop().run_in_executor(self._executor, function, *arguments)
