"""The encoded pictures of one sandbox, by key, and the recipes of those that were never
requested.

A generated picture is *planned* when its work completes and *developed* when first
needed: the same recipe gives the same bytes, so clients see no difference. Pictures of
equal recipes share one content, which is drawn once. When memory is short, what can be
drawn again is dropped, and the picture is planned as before; its size stays known.

A key is held by everything that needs it (its Asset, a recipe that is still to be
drawn, unfinished work) and freed with its last release. Bytes that are drawn before
anybody asks for them are kept beside the state, which they do not change. Must not know
processes: the bytes of a picture are passed in.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from image_workflow_emulator.domain.recipes import Recipe
from image_workflow_emulator.domain.resources import Scene
from image_workflow_emulator.kernel.seed import Signer

_AHEAD_DIVISOR: Final = 4
"""Pictures that nobody has asked for take this part of the limit at most: a quarter."""


def _ignore(_images: "ImageStore", _key: str) -> None:
    """Draw no picture before somebody asks for it."""


@dataclass(slots=True, eq=False)
class MemoryBudget:
    """The image bytes held in all sandboxes, and how many may be (`--max-memory`, D55)."""

    limit_bytes: int
    held_bytes: int = 0
    drawn: "OrderedDict[Content, ImageStore]" = field(default_factory=OrderedDict)
    """What may be dropped and drawn again, oldest first, with the store that has it.
    Ordered: the more was deleted from an ordinary dict, the longer it takes to find its
    first key."""
    when_planned: "Callable[[ImageStore, str], None]" = _ignore
    """Called with each new picture that is to be drawn."""
    _ahead: "OrderedDict[Content, int]" = field(default_factory=OrderedDict)
    """The contents drawn before anybody asked, oldest first, with their sizes."""
    _ahead_bytes: int = 0

    def make_room(self, size_bytes: int) -> bool:
        """Drop what can be drawn again until so many more bytes fit, and return whether
        they do.
        """
        most_bytes = self.limit_bytes - size_bytes
        while self.drawn and self.held_bytes > most_bytes:
            oldest, store = next(iter(self.drawn.items()))
            store.drop(oldest)
        return self.held_bytes <= most_bytes

    def count(self, size_bytes: int) -> None:
        """Count bytes that have come; fewer than none for those that are gone."""
        self.held_bytes += size_bytes
        self._bound_ahead()

    def keep_ahead(self, content: "Content", data: bytes) -> None:
        """Keep the bytes of a content that nobody has asked for, while there is room."""
        content.ahead = data
        self._ahead[content] = len(data)
        self._ahead_bytes += len(data)
        self._bound_ahead()

    def forget_ahead(self, content: "Content") -> None:
        """Forget the bytes that nobody has asked for, if there are any."""
        content.ahead = None
        self._ahead_bytes -= self._ahead.pop(content, 0)

    def _bound_ahead(self) -> None:
        while self._ahead and self._ahead_bytes > self._ahead_limit_bytes():
            oldest = next(iter(self._ahead))
            self.forget_ahead(oldest)

    def _ahead_limit_bytes(self) -> int:
        free_bytes = self.limit_bytes - self.held_bytes
        return min(free_bytes, self.limit_bytes // _AHEAD_DIVISOR)


@dataclass(slots=True, eq=False)
class Content:
    """The content of one picture, or of several with equal recipes: bytes, or the
    recipe that gives them, or both.
    """

    recipe: Recipe | None
    data: bytes | None = None
    size_bytes: int | None = None
    """Known as soon as there have been bytes."""
    keys: set[str] = field(default_factory=set)
    ahead: bytes | None = None
    """Its bytes, which nobody has asked for yet: they are not part of the state."""

    @property
    def held_bytes(self) -> int:
        """How many bytes are here, those that nobody has asked for aside."""
        if self.data is None:
            return 0
        return len(self.data)


@dataclass(slots=True, eq=False)
class Picture:
    """One picture, as its holders know it."""

    content: Content
    scene: Scene | None
    secret: str
    """The unguessable part of its link (D19)."""
    holds: int = 1
    waits: int = 0
    """How many of its holds are those of requests that wait for its bytes: a state file
    has none of these."""
    is_public: bool = True
    """Whether its link answers; a deleted Asset's bytes may live on inside work that
    captured them."""

    @property
    def data(self) -> bytes | None:
        """Its bytes, if it is developed."""
        return self.content.data

    @property
    def recipe(self) -> Recipe | None:
        """The recipe that its bytes must still be made from; None if it is developed."""
        if self.content.data is not None:
            return None
        return self.content.recipe


@dataclass(
    slots=True,
    eq=False,
    weakref_slot=True,
)
class ImageStore:
    """All pictures of a sandbox."""

    budget: MemoryBudget
    signer: Signer
    pictures: dict[str, Picture] = field(default_factory=dict)
    held_bytes: int = 0
    is_closed: bool = False
    _contents: dict[Recipe, Content] = field(default_factory=dict)

    # New pictures ---------------------------------------------------------------------

    def put(
        self,
        key: str,
        data: bytes,
        scene: Scene | None = None,
    ) -> None:
        """Keep encoded bytes under a new key, held once."""
        content = Content(
            recipe=None,
            data=data,
            size_bytes=len(data),
        )
        self._add(key, content, scene)
        self.account(len(data))

    def plan(self, key: str, recipe: Recipe) -> None:
        """Keep a recipe under a new key, held once.

        The recipe holds its inputs until it is developed.
        """
        content = self._contents.setdefault(recipe, Content(recipe))
        self._add(key, content)
        if content.data is None:
            self.hold(recipe.inputs)
            self.budget.when_planned(self, key)

    def restore_drawn(
        self,
        key: str,
        recipe: Recipe,
        read_data: Callable[[], bytes] | None,
        scene: Scene | None,
    ) -> None:
        """Add a picture of a saved state that has a recipe.

        `read_data` returns its bytes, if it was developed; it is None if it was not.
        What a planned picture holds is saved with its inputs.
        """
        content = self._contents.setdefault(recipe, Content(recipe))
        if read_data is not None and not content.keys:
            self._fill(content, read_data())
        self._add(key, content, scene)
        was_dropped = read_data is not None and content.data is None
        if was_dropped:  # since it was read, for an equal picture
            self.hold(recipe.inputs)

    def _add(
        self,
        key: str,
        content: Content,
        scene: Scene | None = None,
    ) -> None:
        content.keys.add(key)
        secret = self.signer.sign("file", key)
        self.pictures[key] = Picture(content, scene, secret)

    # Holds ----------------------------------------------------------------------------

    def hold(self, keys: Iterable[str]) -> None:
        """Keep pictures until they are released once more."""
        for key in keys:
            self.pictures[key].holds += 1

    def release(self, keys: Iterable[str]) -> None:
        """Release pictures; the last release frees them, and the inputs of those never
        developed.
        """
        to_release = list(keys)
        while to_release:
            key = to_release.pop()
            picture = self.pictures[key]
            picture.holds -= 1
            if picture.holds == 0:
                del self.pictures[key]
                if picture.recipe is not None:
                    to_release.extend(picture.recipe.inputs)
                self._leave(picture.content, key)

    def _leave(self, content: Content, key: str) -> None:
        """Take a picture from a content, which ends with its last one."""
        content.keys.remove(key)
        if content.keys:
            return
        self.account(-content.held_bytes)
        self.budget.drawn.pop(content, None)
        self.budget.forget_ahead(content)
        if content.recipe is not None:
            del self._contents[content.recipe]

    @contextmanager
    def held(self, keys: Collection[str]) -> Iterator[None]:
        """Keep pictures while a request waits for one of them."""
        waited_for = [self.pictures[key] for key in keys]
        for picture in waited_for:
            picture.holds += 1
            picture.waits += 1
        try:
            yield
        finally:
            for picture in waited_for:
                picture.waits -= 1
            self.release(keys)

    def withdraw(self, keys: Iterable[str]) -> None:
        """Remove the links of pictures and release them, when their Asset or ingredient
        is deleted.
        """
        for key in keys:
            self.pictures[key].is_public = False
            self.release([key])

    def free_unheld(self) -> None:
        """Free the restored pictures that nothing holds: only an answer that was on its
        way needed them.
        """
        # What a picture is made from comes before it.
        for key in reversed(list(self.pictures)):
            picture = self.pictures.get(key)
            if picture is not None and picture.holds == 0:
                self.hold([key])
                self.release([key])

    # Questions ------------------------------------------------------------------------

    def public(self, key: str) -> Picture | None:
        """Return the picture behind a link, or None if the link is dead."""
        picture = self.pictures.get(key)
        if picture is None or not picture.is_public:
            return None
        return picture

    def undeveloped(self, keys: Iterable[str]) -> list[str]:
        """Return those of the pictures that must be drawn before their size is known."""
        return [key for key in keys if self.pictures[key].content.size_bytes is None]

    def size_bytes(self, key: str) -> int:
        """Return the size of a picture that has been developed before, whether or not
        its bytes are still here.
        """
        size_bytes = self.pictures[key].content.size_bytes
        assert size_bytes is not None, (
            f"{key} was not developed before its size was asked for"
        )
        return size_bytes

    def to_draw(self, key: str) -> dict[str, Recipe]:
        """Return the recipes that must be drawn before a picture has bytes, by key,
        inputs first.
        """
        order: dict[str, Recipe] = {}
        stack = [(key, False)]
        while stack:
            key, inputs_done = stack.pop()
            recipe = self.pictures[key].recipe
            if recipe is None or key in order:
                continue
            if inputs_done:
                order[key] = recipe
            else:
                stack.append((key, True))
                stack.extend((source, False) for source in recipe.inputs)
        return order

    def planned(self, recipe: Recipe) -> str | None:
        """Return the key of a picture that is still to be drawn by a recipe, if there
        is one.
        """
        content = self._contents.get(recipe)
        if content is None or self.drawn(recipe) is not None:
            return None
        return min(content.keys)

    def drawn(self, recipe: Recipe) -> bytes | None:
        """Return the picture of a recipe, if it is here, whether or not anybody has
        asked for it.
        """
        content = self._contents.get(recipe)
        if content is None:
            return None
        return content.data or content.ahead

    # Bytes that come and go -----------------------------------------------------------

    def keep_ahead(self, recipe: Recipe, data: bytes) -> None:
        """Keep the bytes of a recipe until somebody asks for them, if memory allows it.

        The state stays as it is: it depends on requests, and not on the speed of
        drawing.
        """
        content = self._contents.get(recipe)
        if content is None or self.is_closed or self.drawn(recipe) is not None:
            return
        self.budget.keep_ahead(content, data)

    def develop(self, recipe: Recipe, data: bytes) -> None:
        """Give the bytes of a recipe to all of its pictures; those freed or developed
        meanwhile stay as they are.
        """
        content = self._contents.get(recipe)
        if content is None or content.data is not None:
            return
        self._fill(content, data)
        for _ in list(content.keys):
            self.release(recipe.inputs)
        self.budget.make_room(0)

    def _fill(self, content: Content, data: bytes) -> None:
        """Give a content its bytes, which can be drawn again."""
        self.budget.forget_ahead(content)
        content.data = data
        content.size_bytes = len(data)
        self.account(len(data))
        if not self.is_closed:
            self.budget.drawn[content] = self

    def drop(self, content: Content) -> None:
        """Plan developed pictures again if their inputs still exist; otherwise keep
        their bytes.
        """
        del self.budget.drawn[content]
        assert content.recipe is not None
        inputs = content.recipe.inputs
        if any(source not in self.pictures for source in inputs):
            return
        for _ in content.keys:
            self.hold(inputs)
        self.account(-content.held_bytes)
        content.data = None

    def move_to(self, budget: MemoryBudget) -> None:
        """Count the bytes in another budget from now on."""
        budget.count(self.held_bytes)
        for content in self._contents.values():
            if self.budget.drawn.pop(content, None) is not None:
                budget.drawn[content] = self
        self.budget = budget
        budget.make_room(0)

    def account(self, size_bytes: int) -> None:
        """Count bytes that have come, such as those of an upload; fewer than none for
        those that are gone.
        """
        if not self.is_closed:
            self.held_bytes += size_bytes
            self.budget.count(size_bytes)

    def close(self) -> None:
        """Give the bytes back to the budget: the sandbox was deleted or reset.

        Requests that are still being answered keep what they hold.
        """
        self.account(-self.held_bytes)
        for content in self._contents.values():
            self.budget.drawn.pop(content, None)
            self.budget.forget_ahead(content)
        self.is_closed = True
