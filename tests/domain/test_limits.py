"""The request rate (D41, D42), the concurrency budget (D40, D47), and the Credits of a
Team.
"""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from image_workflow_emulator.domain.credit_changes import (
    MAX_CREDIT_CHANGES,
    CreditChange,
    CreditHistory,
)
from image_workflow_emulator.domain.limits import (
    ConcurrencyBudget,
    Ledger,
    LedgerError,
    RateWindow,
)

MINUTE_MS = 60_000
PAUSES = st.integers(0, 20_000) | st.sampled_from((0, 10_000, MINUTE_MS))
LIMITS = st.integers(0, 4)
REQUESTS = st.lists(st.tuples(PAUSES, LIMITS), max_size=40)
"""The milliseconds since the request before, and the limit that there is now."""


def wait_ms(
    admitted: list[int],
    now: int,
    limit: int,
) -> int:
    """Return how long a request must wait, worked out from all admitted instants."""
    recent = [instant for instant in admitted if instant > now - MINUTE_MS]
    if len(recent) < limit:
        return 0
    if limit == 0:
        return MINUTE_MS
    return recent[-limit] + MINUTE_MS - now


@given(REQUESTS)
def test_a_request_waits_until_fewer_than_the_limit_came_in_the_last_minute(
    requests: list[tuple[int, int]],
) -> None:
    window = RateWindow()
    admitted: list[int] = []
    now = 0
    for pause, limit in requests:
        now += pause

        wait = window.wait_ms(now, limit)

        assert wait == wait_ms(admitted, now, limit)
        if wait == 0:
            window.admitted.append(now)
            admitted.append(now)


@pytest.mark.parametrize(
    "step",
    [
        lambda ledger: ledger.grant(-7, 0, "set"),
        lambda ledger: ledger.reserve("gen_2", 7, 0),
        lambda ledger: ledger.reserve("gen_2", -1, 0),
        lambda ledger: ledger.reserve("gen_1", 1, 0),
        lambda ledger: ledger.settle("gen_2", 0, 0),
        lambda ledger: ledger.settle("gen_1", 5, 0),
        lambda ledger: ledger.settle("gen_1", -1, 0),
    ],
)
def test_a_step_that_would_lose_or_invent_credits_is_refused(
    step: Callable[[Ledger], None],
) -> None:
    ledger = Ledger()
    ledger.grant(10, 0, "start")
    ledger.reserve("gen_1", 4, 0)

    with pytest.raises(LedgerError):
        step(ledger)

    assert ledger.available == 6
    assert ledger.reserved == 4
    assert ledger.charged == 0


def test_each_change_of_credits_is_noted_with_what_it_left() -> None:
    ledger = Ledger()

    ledger.grant(10, 1, "start")
    ledger.grant(0, 2, "set")
    ledger.reserve("gen_1", 4, 3)
    ledger.reserve("op_1", 0, 4)
    ledger.settle("gen_1", 3, 5)
    ledger.settle("op_1", 0, 6)
    ledger.reserve("op_2", 1, 7)
    ledger.grant(-6, 8, "set")

    assert ledger.history.changes == [
        CreditChange(1, 1, 10, 10, 0, "start", None),
        CreditChange(2, 3, -4, 6, 4, "reserved", "gen_1"),
        CreditChange(3, 5, 0, 6, 1, "charged", "gen_1"),
        CreditChange(4, 5, 1, 7, 0, "released", "gen_1"),
        CreditChange(5, 7, -1, 6, 1, "reserved", "op_2"),
        CreditChange(6, 8, -6, 0, 1, "set", None),
    ]


def test_all_available_credits_can_be_taken_away_and_reserved_and_charged() -> None:
    ledger = Ledger()
    ledger.grant(10, 0, "start")

    ledger.grant(-4, 0, "set")
    ledger.reserve("gen_1", 6, 0)
    ledger.settle("gen_1", 6, 0)

    assert ledger.granted == 6
    assert ledger.charged == 6
    assert ledger.reserved == 0
    assert ledger.available == 0
    assert ledger.reservations == {}


def test_reservations_stand_side_by_side() -> None:
    ledger = Ledger()
    ledger.grant(10, 0, "start")

    ledger.reserve("gen_1", 4, 0)
    ledger.reserve("gen_2", 3, 0)
    ledger.settle("gen_1", 1, 0)
    ledger.reserve("gen_3", 2, 0)
    ledger.settle("gen_3", 1, 0)

    assert ledger.reservations == {"gen_2": 3}
    assert ledger.reserved == 3
    assert ledger.charged == 2
    assert ledger.available == 5


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (
            lambda ledger: ledger.grant(-7, 0, "set"),
            "7 Credits cannot be taken from 6",
        ),
        (
            lambda ledger: ledger.reserve("gen_2", 7, 0),
            "7 Credits cannot be reserved for gen_2 from 6",
        ),
        (
            lambda ledger: ledger.settle("gen_1", 5, 0),
            "5 Credits cannot be charged for gen_1: reserved 4",
        ),
    ],
)
def test_a_refused_step_says_what_there_was(
    step: Callable[[Ledger], None],
    message: str,
) -> None:
    ledger = Ledger()
    ledger.grant(10, 0, "start")
    ledger.reserve("gen_1", 4, 0)

    with pytest.raises(LedgerError, match=f"^{message}$"):
        step(ledger)


def test_the_newest_changes_of_credits_are_kept_and_the_others_counted() -> None:
    history = CreditHistory()

    for _ in range(MAX_CREDIT_CHANGES + 2):
        change = CreditChange(history.next_sequence, 0, 1, 1, 0, "set", None)
        history.add(change)

    assert len(history.changes) == MAX_CREDIT_CHANGES
    assert history.changes[0].sequence == 3
    assert history.left == 2
    assert history.next_sequence == MAX_CREDIT_CHANGES + 3


def test_a_new_history_of_credits_is_empty() -> None:
    history = CreditHistory()

    assert history.left == 0
    assert history.next_sequence == 1


def test_each_work_takes_a_place_or_one_for_each_output() -> None:
    budget = ConcurrencyBudget()

    budget.take("op_1", 5_000)
    budget.take("gen_1", 9_000, 3)

    assert budget.used == 4


def test_places_are_given_back_one_by_one_but_for_the_last() -> None:
    budget = ConcurrencyBudget()
    budget.take("gen_1", 9_000, 3)
    used = []

    for _ in range(3):
        budget.give_back_place("gen_1")
        used.append(budget.used)
    budget.give_back("gen_1")

    assert used == [2, 1, 1]
    assert budget.used == 0


def test_a_place_is_free_when_the_next_work_finishes() -> None:
    budget = ConcurrencyBudget()
    budget.take("gen_1", 9_000)
    budget.take("gen_2", 5_000)
    budget.take("gen_3", None)

    instants = (0, 4_999, 5_000, 6_000)
    waits = [budget.wait_ms(now) for now in instants]
    budget.give_back("gen_2")
    wait_for_the_next = budget.wait_ms(6_000)

    assert waits == [5_000, 1, 0, 0]
    assert wait_for_the_next == 3_000


def test_work_that_never_finishes_lets_others_wait_a_minute() -> None:
    budget = ConcurrencyBudget()
    budget.take("gen_1", None)

    wait = budget.wait_ms(0)

    assert wait == MINUTE_MS
