"""Which of the waiting trials the next run tries."""

from collections.abc import Sequence

from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.evidence import EndedTest, Place
from image_workflow_emulator.sweep.time_limits import TimeLimits
from image_workflow_emulator.sweep.waiting import Batch, Waiting

FAULTS = [f"fault-{number}" for number in range(100)]


def trials(test: str, count: int = 100) -> list[Cell]:
    """Cells of one test."""
    return [Cell("getTeam", 1, fault, test=test) for fault in FAULTS[:count]]


def place(name: str, *, is_repeatable: bool = True) -> Place:
    """A place in which one test ended."""
    ended = EndedTest(
        test=name,
        places=[name],
        status=0,
        seconds=0.1,
        is_repeatable=is_repeatable,
    )
    return Place(tests={name: ended})


def waiting(
    cells: Sequence[Cell],
    *,
    jobs: int = 1,
    limits: TimeLimits | None = None,
    **places: Place,
) -> Waiting:
    """Trials that wait; each test has a place of its own unless `places` are named."""
    if limits is None:
        limits = TimeLimits(None)
    if not places:
        places = {cell.test: place(cell.test) for cell in cells}
    return Waiting(
        cells,
        jobs=jobs,
        limits=limits,
        places=places,
    )


def next_batch(queue: Waiting, *under_way: Batch) -> Batch:
    """The next run, beside those that have not ended."""
    batch = queue.next_batch(under_way)
    assert batch is not None
    return batch


def next_sizes(queue: Waiting, count: int) -> list[int]:
    """How many cells each of the next runs tries, one after the other."""
    sizes = []
    for _ in range(count):
        batch = next_batch(queue)
        sizes.append(len(batch.trials))
    return sizes


def test_the_first_run_tries_one_cell_in_each_test() -> None:
    of_a = trials("a")
    of_b = trials("b")
    queue = waiting([*of_a, *of_b])

    batch = next_batch(queue)

    tests = [trial.test for trial in batch.trials]
    assert ["a", "b"] == tests


def test_each_run_repeats_a_test_twice_as_often_as_the_one_before() -> None:
    queue = waiting(trials("a"))

    sizes = next_sizes(queue, 6)

    assert [1, 2, 4, 8, 16, 16] == sizes


def test_a_run_leaves_their_share_to_the_other_jobs() -> None:
    queue = waiting(trials("a", 9), jobs=4)
    first = next_batch(queue)
    second = next_batch(queue, first)

    third = next_batch(queue, first, second)

    assert 2 == len(third.trials)


def test_tests_that_wait_no_more_leave_the_share_of_a_run_as_it_is() -> None:
    queue = waiting(
        trials("a"),
        a=place("a"),
        b=place("b"),
        c=place("c"),
    )

    sizes = next_sizes(queue, 5)

    assert [1, 2, 4, 8, 16] == sizes


def test_a_test_that_cannot_be_repeated_has_one_cell_in_a_run() -> None:
    once = place("a", is_repeatable=False)
    queue = waiting(trials("a"), a=once)

    sizes = next_sizes(queue, 2)

    assert [1, 1] == sizes


def test_a_place_that_tests_share_has_one_cell_in_a_run() -> None:
    ended = EndedTest(
        test="a",
        places=["shop"],
        status=0,
        seconds=0.1,
        is_repeatable=True,
    )
    shop = Place(tests={"a": ended})
    queue = waiting(trials("shop"), shop=shop)

    sizes = next_sizes(queue, 2)

    assert [1, 1] == sizes


def test_a_second_attempt_is_in_the_first_round() -> None:
    limits = TimeLimits(None)
    queue = waiting(trials("a"), limits=limits)
    first_batch = next_batch(queue)
    second_batch = next_batch(queue)
    (first,) = first_batch.trials
    second = second_batch.trials[0]
    limits.note_second_attempt(first)
    limits.note_second_attempt(second)
    queue.put_back([first, second])

    batch = next_batch(queue)

    assert first == batch.trials[0]
    assert second not in batch.trials


def test_a_client_that_waits_does_not_count_as_a_job() -> None:
    silent = Cell("getTeam", 1, "stall", test="a")
    queue = waiting([silent])
    working = Batch(trials("b", 1), is_idle=False)

    batch = next_batch(queue, working)

    assert [silent] == batch.trials
    assert batch.is_idle


def test_no_run_begins_beside_as_many_as_there_are_jobs() -> None:
    queue = waiting(trials("a"))
    working = Batch(trials("b", 1), is_idle=False)

    batch = queue.next_batch([working])

    assert batch is None
