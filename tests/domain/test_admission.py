"""Windows, budgets: what limits admission (D40 to D42)."""

from hypothesis import given
from hypothesis import strategies as st

from emulator.domain.admission import RATE_WINDOW_MS, ConcurrencyBudget, RateWindow


def window_of(*instants: int) -> RateWindow:
    window = RateWindow()
    for instant in instants:
        window.admit(instant)
    return window


def test_a_window_with_room_asks_for_no_wait() -> None:
    assert window_of(0, 0).wait_ms(0, 3) == 0


def test_a_full_window_asks_for_the_time_until_its_oldest_request_leaves_it() -> None:
    assert window_of(1_000, 2_000, 3_000).wait_ms(4_000, 3) == 57_000


def test_a_request_leaves_the_window_after_a_minute_to_the_millisecond() -> None:
    window = window_of(1_000)
    assert (window.wait_ms(60_999, 1), window.wait_ms(61_000, 1)) == (1, 0)


def test_a_lowered_limit_waits_until_enough_requests_have_left() -> None:
    assert window_of(0, 10_000, 20_000).wait_ms(30_000, 1) == 50_000


def test_a_limit_of_nothing_lets_nobody_in() -> None:
    assert RateWindow().wait_ms(0, 0) == RATE_WINDOW_MS


@given(st.lists(st.integers(0, 5_000), max_size=60), st.integers(1, 5))
def test_no_minute_ever_holds_more_than_the_limit_and_every_wait_is_exact(gaps: list[int], limit: int) -> None:
    window, now, let_in = RateWindow(), 0, list[int]()
    for gap in gaps:
        now += gap
        wait = window.wait_ms(now, limit)
        recent = [instant for instant in let_in if instant > now - RATE_WINDOW_MS]
        assert (wait == 0) == (len(recent) < limit)
        if wait:
            at_its_end = [instant for instant in let_in if instant > now + wait - RATE_WINDOW_MS]
            just_before = [instant for instant in let_in if instant > now + wait - 1 - RATE_WINDOW_MS]
            assert len(at_its_end) < limit <= len(just_before)
        else:
            window.admit(now)
            let_in.append(now)


def test_each_piece_of_work_takes_one_place_until_it_gives_it_back() -> None:
    budget = ConcurrencyBudget()
    budget.take("gen_1", 5_000)
    budget.take("op_1", None)
    budget.give_back("gen_1")
    assert budget.used == 1


def test_the_wait_of_a_budget_is_the_time_to_the_next_end_of_work() -> None:
    budget = ConcurrencyBudget()
    budget.take("gen_1", 9_000)
    budget.take("gen_2", 5_500)
    budget.take("gen_3", None)
    assert budget.wait_ms(1_000) == 4_500


def test_a_budget_of_work_that_never_ends_has_no_wait() -> None:
    budget = ConcurrencyBudget()
    budget.take("gen_1", None)
    assert budget.wait_ms(0) is None
