"""Pictures: which can be drawn, and which are held, by whom."""

from collections.abc import Iterable

from emulator.domain.lifecycles import TERMINAL
from emulator.domain.pixels import LONGEST_EDGE
from emulator.domain.recipes import Recipe
from emulator.service.sandbox import Sandbox
from emulator.service.state.soundness.rows import expect, numbered
from emulator.service.state.soundness.uploads import has_bytes

_LARGEST_EDGE = max(LONGEST_EDGE.values())


def is_drawable(recipe: Recipe) -> bool:
    """Tell whether a picture is of a size that can be drawn."""
    return max(recipe.width, recipe.height) <= _LARGEST_EDGE


def hold_pictures(sandbox: Sandbox) -> None:
    """Hold every picture as often as it is needed, and free those that nothing needs. Raises StateError."""
    store, images = sandbox.store, sandbox.images
    for row in numbered("/pictures", images.pictures.items()):
        key, picture = row.item
        if picture.recipe is not None:
            where, expected = f"{row.where}/recipe", f"edges of at most {_LARGEST_EDGE} pixels"
            expect(is_drawable(picture.recipe), where, key, expected)
            images.hold(picture.recipe.inputs)
    linked = list(store.assets.items)
    for collection in store.ingredients.values():
        linked += [key for ingredient in collection.items.values() for key in ingredient.picture_keys]
    for key in linked:
        images.pictures[key].is_public = True
    images.hold(linked)
    images.hold(session.id for session in store.uploads.items.values() if has_bytes(sandbox, session))
    images.hold(_captured(sandbox))
    for key in reversed(list(images.pictures)):  # what a picture is made from comes before it
        if images.pictures[key].holds == 0:
            images.hold([key])
            images.release([key])


def _captured(sandbox: Sandbox) -> Iterable[str]:
    """Go through the pictures that unfinished work has captured, as often as it has."""
    for operation in sandbox.store.operations.items.values():
        if operation.status not in TERMINAL:
            yield from operation.outcome.source_keys
    for generation in sandbox.store.generations.items.values():
        for planned, output in zip(generation.plan, generation.outputs, strict=True):
            if output.status not in TERMINAL:
                yield from planned.picture.inputs
