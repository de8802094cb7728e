"""Pictures, their holders, and the memory they take."""

import pytest

from emulator.domain.recipes import EditRecipe, PremadeRecipe
from emulator.kernel.signing import Signer
from emulator.service.images import ImageStore, MemoryBudget


@pytest.fixture
def store() -> ImageStore:
    return ImageStore(MemoryBudget(100), Signer(b"test"))


def recipe_of(*inputs: str) -> EditRecipe:
    return EditRecipe(width=2, height=2, format="png", inputs=inputs, instructions="x", resolution="1k")


PREMADE = PremadeRecipe(kind="pose", name="Walking", attributes=(), index=0, width=2, height=2, format="png")


def test_bytes_count_while_somebody_holds_them(store: ImageStore) -> None:
    store.put("a", b"12345")
    store.hold(["a"])
    seen = [store.held_bytes]
    for _ in range(2):
        store.release(["a"])
        seen.append(store.held_bytes)
    assert (seen, "a" in store.pictures) == ([5, 5, 0], False)


def test_the_budget_is_exhausted_at_its_limit(store: ImageStore) -> None:
    store.put("a", b"x" * 99)
    seen = [store.budget.is_exhausted]
    store.put("b", b"x")
    seen.append(store.budget.is_exhausted)
    store.withdraw("a")
    assert [*seen, store.budget.is_exhausted] == [False, True, False]


def test_all_stores_share_one_budget(store: ImageStore) -> None:
    other = ImageStore(store.budget, Signer(b"other"))
    store.put("a", b"123")
    other.put("a", b"45")
    seen = [store.budget.held_bytes]
    store.close()
    assert [*seen, store.budget.held_bytes] == [5, 2]


def test_a_recipe_holds_its_inputs_until_it_is_developed(store: ImageStore) -> None:
    store.put("a", b"123")
    store.plan("b", recipe := recipe_of("a"))
    store.withdraw("a")
    seen = [store.public("a"), "a" in store.pictures]
    store.develop("b", recipe, b"4567")
    assert (seen, "a" in store.pictures, store.data("b"), store.held_bytes) == ([None, True], False, b"4567", 4)


def test_a_recipe_that_is_never_developed_lets_its_inputs_go_with_it(store: ImageStore) -> None:
    store.put("a", b"123")
    for key, source in (("b", "a"), ("c", "b"), ("d", "c")):
        store.plan(key, recipe_of(source))
    for key in "abcd":
        store.withdraw(key)
    assert (store.pictures, store.held_bytes) == ({}, 0)


def test_what_must_be_developed_is_told_inputs_first_and_once(store: ImageStore) -> None:
    store.put("a", b"123")
    store.plan("b", recipe_of("a"))
    store.plan("c", recipe_of("b"))
    store.plan("d", recipe_of("c", "b", "a"))
    assert store.undeveloped(["d", "b", "gone"]) == ["b", "c", "d"]


def test_a_picture_that_was_freed_while_it_was_made_stays_away(store: ImageStore) -> None:
    store.plan("a", recipe := PREMADE)
    store.withdraw("a")
    store.develop("a", recipe, b"123")
    assert (store.pictures, store.held_bytes) == ({}, 0)


def test_a_picture_is_developed_once(store: ImageStore) -> None:
    store.plan("a", recipe := PREMADE)
    store.develop("a", recipe, b"123")
    store.develop("a", recipe, b"456789")
    assert (store.data("a"), store.held_bytes) == (b"123", 3)


def test_requests_that_outlive_their_sandbox_do_not_disturb_the_budget(store: ImageStore) -> None:
    store.put("a", b"123")
    store.close()
    store.release(["a"])
    store.put("b", b"45")
    assert store.budget.held_bytes == 0
