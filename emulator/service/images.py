"""The encoded pictures of one sandbox, by key, and the recipes of those that nobody has looked at yet.

A generated picture is *planned* when its work completes and *developed* when first needed: the same recipe gives the
same bytes, so nobody can tell. A key is held by whoever needs it (its Asset, a recipe, unfinished work) and freed by
the last to release it. Knows nothing of threads: who develops a picture, hands its bytes in with `develop`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from emulator.domain.recipes import Recipe
from emulator.domain.resources import Scene
from emulator.kernel.signing import Signer


@dataclass(slots=True)
class MemoryBudget:
    """The encoded image bytes held in all sandboxes, and how many may be (`--max-memory`)."""

    limit_bytes: int
    held_bytes: int = 0

    @property
    def is_exhausted(self) -> bool:
        """Whether new uploads and Generations must be refused."""
        return self.held_bytes >= self.limit_bytes


@dataclass(slots=True)
class Picture:
    """One picture: its bytes, or the recipe they will be made from."""

    data: bytes | None
    recipe: Recipe | None
    scene: Scene | None
    secret: str
    """The part of its link that nobody can guess (D19)."""
    holds: int = 1
    is_public: bool = True
    """Whether its link answers; a deleted Asset's bytes may live on inside work that captured them."""


@dataclass(slots=True)
class ImageStore:
    """All pictures of a sandbox."""

    budget: MemoryBudget
    signer: Signer
    pictures: dict[str, Picture] = field(default_factory=dict)
    held_bytes: int = 0
    is_closed: bool = False

    def put(self, key: str, data: bytes, scene: Scene | None = None) -> None:
        """Keep encoded bytes under a new key, held once."""
        self.pictures[key] = Picture(data, None, scene, self._secret(key))
        self._account(len(data))

    def plan(self, key: str, recipe: Recipe) -> None:
        """Keep a recipe under a new key, held once; it holds its inputs until it is developed."""
        self.pictures[key] = Picture(None, recipe, None, self._secret(key))
        self.hold(recipe.inputs)

    def hold(self, keys: Iterable[str]) -> None:
        """Keep pictures alive until they are released once more."""
        for key in keys:
            self.pictures[key].holds += 1

    def release(self, keys: Iterable[str]) -> None:
        """Let go of pictures; the last to do so frees them, and the inputs of what was never developed."""
        to_release = list(keys)
        while to_release:
            key = to_release.pop()
            picture = self.pictures[key]
            picture.holds -= 1
            if picture.holds == 0:
                del self.pictures[key]
                self._account(-len(picture.data or b""))
                if picture.recipe is not None:
                    to_release.extend(picture.recipe.inputs)

    def withdraw(self, key: str) -> None:
        """Take a picture's link away and let go of it: its Asset is deleted, or its ingredient."""
        self.pictures[key].is_public = False
        self.release([key])

    def public(self, key: str) -> Picture | None:
        """Return the picture behind a link, or None if the link is dead."""
        picture = self.pictures.get(key)
        return picture if picture is not None and picture.is_public else None

    def undeveloped(self, keys: Iterable[str]) -> list[str]:
        """Return the recipes that must be developed before these pictures have bytes, inputs first."""
        order: dict[str, None] = {}
        stack = [(key, False) for key in keys]
        while stack:
            key, inputs_done = stack.pop()
            picture = self.pictures.get(key)
            if picture is None or picture.recipe is None or key in order:
                continue
            if inputs_done:
                order[key] = None
            else:
                stack.append((key, True))
                stack.extend((source, False) for source in picture.recipe.inputs)
        return list(order)

    def develop(self, key: str, recipe: Recipe, data: bytes) -> None:
        """Put the bytes in their recipe's place; a picture freed, replaced or developed meanwhile stays as it is."""
        picture = self.pictures.get(key)
        if picture is None or picture.recipe is not recipe:
            return
        picture.data, picture.recipe = data, None
        self._account(len(data))
        self.release(recipe.inputs)

    def data(self, key: str) -> bytes:
        """Return the bytes of a developed picture."""
        data = self.pictures[key].data
        assert data is not None, f"{key} was not developed before it was looked at"
        return data

    def restore(
        self, key: str, data: bytes | None, recipe: Recipe | None, scene: Scene | None, *, holds: int, is_public: bool
    ) -> None:
        """Take over a picture of a state file, with its holds. Raises ValueError if what it is made from is missing."""
        missing = set(recipe.inputs if recipe else ()) - self.pictures.keys()
        if missing:
            raise ValueError(f"the recipe of {key} needs {min(missing)}, which does not come before it")
        self.pictures[key] = Picture(data, recipe, scene, self._secret(key), holds, is_public)
        self._account(len(data or b""))

    def close(self) -> None:
        """Give the bytes back to the budget: the sandbox has ended or begun anew.

        Requests that are still being answered keep what they hold.
        """
        self._account(-self.held_bytes)
        self.is_closed = True

    def _secret(self, key: str) -> str:
        return self.signer.sign("file", key)

    def _account(self, size_bytes: int) -> None:
        if not self.is_closed:
            self.held_bytes += size_bytes
            self.budget.held_bytes += size_bytes
