"""Pictures and the memory they take, also where it is short."""

import pytest
from msgspec import structs

from image_workflow_emulator.domain.recipes import EditRecipe, PremadeRecipe
from image_workflow_emulator.kernel.seed import Signer
from image_workflow_emulator.service.sandbox.images import ImageStore, MemoryBudget

LIMIT_BYTES = 100
MAX_AHEAD_BYTES = LIMIT_BYTES // 4


@pytest.fixture
def store() -> ImageStore:
    return ImageStore(MemoryBudget(LIMIT_BYTES), Signer(b"test"))


EDIT_OF_A = EditRecipe(
    width=2,
    height=2,
    format="png",
    inputs=("a",),
    instructions="x",
    resolution="1k",
)
"""A picture that is made from another one, `a`."""


WALKING = PremadeRecipe(
    kind="pose",
    name="Walking",
    attributes=(),
    index=0,
    width=2,
    height=2,
    format="png",
)
SITTING = structs.replace(WALKING, name="Sitting")
STANDING = structs.replace(WALKING, name="Standing")


def test_a_picture_is_developed_once(store: ImageStore) -> None:
    store.plan("a", WALKING)
    store.develop(WALKING, b"123")

    store.develop(WALKING, b"456789")

    assert store.pictures["a"].data == b"123"
    assert store.held_bytes == 3


def test_a_picture_is_not_developed_after_it_was_freed(store: ImageStore) -> None:
    store.plan("a", WALKING)
    store.withdraw("a")

    store.develop(WALKING, b"123")

    assert store.pictures == {}
    assert store.held_bytes == 0
    assert store.drawn(WALKING) is None


def test_what_can_be_drawn_again_is_dropped_oldest_first_and_no_more_than_needed(
    store: ImageStore,
) -> None:
    store.put("a", b"x" * 40)
    for key, recipe in {"b": WALKING, "c": SITTING, "d": STANDING}.items():
        store.plan(key, recipe)
        store.develop(recipe, key.encode() * 20)

    has_room = store.budget.make_room(30)

    kept = [key for key in "abcd" if store.pictures[key].data is not None]
    assert has_room
    assert kept == ["a", "d"]
    assert store.held_bytes == 60


def test_the_size_of_a_dropped_picture_stays_known(store: ImageStore) -> None:
    store.plan("a", WALKING)
    store.develop(WALKING, b"x" * 20)

    store.budget.make_room(LIMIT_BYTES)

    assert store.pictures["a"].data is None
    assert store.size_bytes("a") == 20
    assert store.undeveloped("a") == []


def test_a_dropped_picture_is_planned_again_and_holds_what_it_is_made_from(
    store: ImageStore,
) -> None:
    store.put("a", b"12")
    store.plan("b", EDIT_OF_A)
    store.develop(EDIT_OF_A, b"345")
    store.budget.make_room(96)

    store.withdraw("a")

    assert set(store.pictures) == {"a", "b"}
    assert list(store.to_draw("b")) == ["b"]
    assert store.pictures["b"].recipe == EDIT_OF_A


def test_what_a_picture_was_made_from_is_freed_when_it_is_drawn_again(
    store: ImageStore,
) -> None:
    store.put("a", b"12")
    store.plan("b", EDIT_OF_A)
    store.develop(EDIT_OF_A, b"345")
    store.budget.make_room(96)
    store.withdraw("a")

    store.develop(EDIT_OF_A, b"345")

    assert set(store.pictures) == {"b"}
    assert store.held_bytes == 3


def test_what_cannot_be_drawn_again_stays(store: ImageStore) -> None:
    store.put("a", b"12")
    store.plan("b", EDIT_OF_A)
    store.develop(EDIT_OF_A, b"345")
    store.withdraw("a")

    has_room = store.budget.make_room(98)

    assert not has_room
    assert store.pictures["b"].data == b"345"


def test_what_is_drawn_never_exceeds_the_limit(store: ImageStore) -> None:
    store.plan("a", WALKING)

    store.develop(WALKING, b"x" * 101)

    assert store.held_bytes == 0
    assert store.size_bytes("a") == 101
    assert store.pictures["a"].data is None


def test_requests_that_outlive_their_sandbox_do_not_disturb_the_budget(
    store: ImageStore,
) -> None:
    store.put("a", b"123")
    store.close()

    store.release(["a"])
    store.put("b", b"45")

    assert store.budget.held_bytes == 0


def test_a_closed_store_is_not_asked_for_room(store: ImageStore) -> None:
    store.plan("a", WALKING)
    store.develop(WALKING, b"123")
    store.close()

    has_room = store.budget.make_room(101)

    assert not has_room
    assert store.pictures["a"].data == b"123"


def test_a_store_in_another_budget_can_be_asked_for_room_there(
    store: ImageStore,
) -> None:
    budget = MemoryBudget(LIMIT_BYTES)
    store.plan("a", WALKING)
    store.develop(WALKING, b"123")

    store.move_to(budget)
    has_room = budget.make_room(98)

    assert has_room
    assert budget.held_bytes == 0
    assert store.pictures["a"].data is None


# Pictures that nobody has asked for ---------------------------------------------------


def test_what_is_drawn_ahead_is_no_part_of_the_state(store: ImageStore) -> None:
    store.plan("a", WALKING)

    store.keep_ahead(WALKING, b"123")

    assert store.drawn(WALKING) == b"123"
    assert store.pictures["a"].data is None
    assert store.undeveloped("a") == ["a"]
    assert store.budget.held_bytes == 0


def test_what_is_drawn_ahead_takes_a_quarter_of_the_limit_at_most(
    store: ImageStore,
) -> None:
    store.plan("a", WALKING)
    store.plan("b", SITTING)
    store.keep_ahead(WALKING, b"1")

    store.keep_ahead(SITTING, b"x" * MAX_AHEAD_BYTES)

    assert store.drawn(WALKING) is None
    assert store.drawn(SITTING) is not None


def test_what_is_drawn_ahead_makes_room_for_what_is_held(store: ImageStore) -> None:
    store.plan("a", WALKING)
    store.keep_ahead(WALKING, b"x" * MAX_AHEAD_BYTES)

    store.put("b", b"x" * (LIMIT_BYTES - MAX_AHEAD_BYTES + 1))

    assert store.drawn(WALKING) is None


def test_what_was_drawn_ahead_takes_no_room_once_it_is_asked_for(
    store: ImageStore,
) -> None:
    store.plan("a", WALKING)
    store.plan("b", SITTING)
    store.keep_ahead(WALKING, b"x" * MAX_AHEAD_BYTES)
    store.develop(WALKING, b"x" * MAX_AHEAD_BYTES)

    store.keep_ahead(SITTING, b"x" * MAX_AHEAD_BYTES)

    assert store.drawn(SITTING) is not None
    assert store.held_bytes == MAX_AHEAD_BYTES


@pytest.fixture
def other(store: ImageStore) -> ImageStore:
    """Another store in the same budget."""
    return ImageStore(store.budget, Signer(b"other"))


def test_what_was_drawn_ahead_takes_no_room_once_its_picture_is_freed(
    store: ImageStore,
    other: ImageStore,
) -> None:
    store.plan("a", WALKING)
    other.plan("b", SITTING)
    store.keep_ahead(WALKING, b"x" * MAX_AHEAD_BYTES)

    store.withdraw("a")
    other.keep_ahead(SITTING, b"1")

    assert store.drawn(WALKING) is None
    assert other.drawn(SITTING) is not None


def test_what_was_drawn_ahead_takes_no_room_once_its_store_is_closed(
    store: ImageStore,
    other: ImageStore,
) -> None:
    store.plan("a", WALKING)
    other.plan("b", SITTING)
    store.keep_ahead(WALKING, b"x" * MAX_AHEAD_BYTES)

    store.close()
    other.keep_ahead(SITTING, b"1")

    assert store.drawn(WALKING) is None
    assert other.drawn(SITTING) is not None
