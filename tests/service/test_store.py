"""Pictures and the memory they take, also where it is short."""

import pytest
from msgspec import structs

from image_workflow_emulator.domain.recipes import EditRecipe, PremadeRecipe
from image_workflow_emulator.kernel.seed import Signer
from image_workflow_emulator.service.sandbox.images import ImageStore, MemoryBudget


@pytest.fixture
def store() -> ImageStore:
    return ImageStore(MemoryBudget(100), Signer(b"test"))


def recipe_of(*inputs: str) -> EditRecipe:
    return EditRecipe(
        width=2,
        height=2,
        format="png",
        inputs=inputs,
        instructions="x",
        resolution="1k",
    )


PREMADE = PremadeRecipe(
    kind="pose", name="Walking", attributes=(), index=0, width=2, height=2, format="png"
)


def test_a_picture_is_developed_once_and_not_after_it_was_freed(
    store: ImageStore,
) -> None:
    store.plan("a", PREMADE)
    store.develop(PREMADE, b"123")
    store.develop(PREMADE, b"456789")
    assert (store.pictures["a"].data, store.held_bytes) == (b"123", 3)
    store.withdraw("a")
    store.develop(PREMADE, b"123")
    assert (store.pictures, store.held_bytes, store.drawn(PREMADE)) == ({}, 0, None)


def test_what_can_be_drawn_again_is_dropped_oldest_first_and_no_more_than_needed(
    store: ImageStore,
) -> None:
    store.put("a", b"x" * 40)
    for key, name in (("b", "Walking"), ("c", "Sitting"), ("d", "Standing")):
        store.plan(key, recipe := structs.replace(PREMADE, name=name))
        store.develop(recipe, key.encode() * 20)
    assert store.budget.make_room(30)
    assert [key for key in "abcd" if store.pictures[key].data is not None] == ["a", "d"]
    assert (store.held_bytes, store.size_bytes("b"), store.undeveloped("bcd")) == (
        60,
        20,
        [],
    )


def test_a_dropped_picture_is_planned_again_and_holds_what_it_is_made_from(
    store: ImageStore,
) -> None:
    store.put("a", b"12")
    store.plan("b", recipe_of("a"))
    store.develop(recipe_of("a"), b"345")
    store.budget.make_room(96)
    store.withdraw("a")
    seen = (list(store.to_draw("b")), store.pictures["b"].recipe)
    store.develop(recipe_of("a"), b"345")
    assert seen == (["b"], recipe_of("a"))
    assert (set(store.pictures), store.held_bytes) == ({"b"}, 3)


def test_what_cannot_be_drawn_again_stays(store: ImageStore) -> None:
    store.put("a", b"12")
    store.plan("b", recipe_of("a"))
    store.develop(recipe_of("a"), b"345")
    store.withdraw("a")
    assert not store.budget.make_room(98)
    assert store.pictures["b"].data == b"345"


def test_what_is_drawn_never_exceeds_the_limit(store: ImageStore) -> None:
    store.plan("a", PREMADE)
    store.develop(PREMADE, b"x" * 101)
    assert (store.held_bytes, store.size_bytes("a"), store.pictures["a"].data) == (
        0,
        101,
        None,
    )


def test_requests_that_outlive_their_sandbox_do_not_disturb_the_budget(
    store: ImageStore,
) -> None:
    store.put("a", b"123")
    store.close()
    store.release(["a"])
    store.put("b", b"45")
    assert store.budget.held_bytes == 0


def test_a_closed_store_is_not_asked_for_room(store: ImageStore) -> None:
    store.plan("a", PREMADE)
    store.develop(PREMADE, b"123")
    store.close()
    assert not store.budget.make_room(101)
    assert store.pictures["a"].data == b"123"
