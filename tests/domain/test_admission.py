"""The request rate (section 8)."""

from hypothesis import given
from hypothesis import strategies as st

from image_workflow_emulator.domain.limits import RateWindow

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
