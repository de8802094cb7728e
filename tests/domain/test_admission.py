"""What limits admission (section 8): the request rate and the concurrency budget."""

from hypothesis import given
from hypothesis import strategies as st

from image_workflow_emulator.domain.limits import ConcurrencyBudget, RateWindow

MINUTE_MS = 60_000
PAUSES = st.integers(0, 20_000) | st.sampled_from((0, 10_000, MINUTE_MS))
REQUESTS = st.lists(st.tuples(PAUSES, st.integers(0, 4)), max_size=40)
"""The milliseconds since the request before, and the limit that there is now."""


@given(REQUESTS)
def test_a_request_waits_until_fewer_than_the_limit_came_in_the_last_minute(requests: list[tuple[int, int]]) -> None:
    """D41, D42."""
    window, let_in, now = RateWindow(), list[int](), 0
    for pause, limit in requests:
        now += pause
        recent = [instant for instant in let_in if instant > now - MINUTE_MS]
        leaves_at = recent[-limit] if 0 < limit <= len(recent) else now
        wait = 0 if len(recent) < limit else leaves_at + MINUTE_MS - now
        assert wait == window.wait_ms(now, limit)
        if not wait:
            window.admit(now)
            let_in.append(now)


def test_a_full_budget_is_waited_for_until_the_next_work_finishes() -> None:
    """D42, D47."""
    budget = ConcurrencyBudget()
    assert 60_000 == budget.wait_ms(now=0)
    for work, finishes_at in (("late", 9_000), ("never", None), ("soon", 5_000)):
        budget.take(work, finishes_at)
    assert [4_000, 0] == [budget.wait_ms(now) for now in (1_000, 6_000)]
    budget.give_back("soon")
    assert (8_000, 2) == (budget.wait_ms(1_000), budget.used)
