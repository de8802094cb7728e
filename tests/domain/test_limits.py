"""The request rate (D41, D42), and the Credits of a Team."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from image_workflow_emulator.domain.limits import Ledger, LedgerError, RateWindow

MINUTE_MS = 60_000
PAUSES = st.integers(0, 20_000) | st.sampled_from((0, 10_000, MINUTE_MS))
REQUESTS = st.lists(st.tuples(PAUSES, st.integers(0, 4)), max_size=40)
"""The milliseconds since the request before, and the limit that there is now."""


def wait_ms(admitted: list[int], now: int, limit: int) -> int:
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
