"""A Team's Credits: a step that would break an invariant changes nothing."""

from collections.abc import Callable

import pytest

from image_workflow_emulator.domain.limits import Ledger, LedgerError


@pytest.mark.parametrize(
    "step",
    [
        lambda ledger: ledger.grant(-7),
        lambda ledger: ledger.reserve("gen_2", 7),
        lambda ledger: ledger.reserve("gen_2", -1),
        lambda ledger: ledger.reserve("gen_1", 1),
        lambda ledger: ledger.settle("gen_2", 0),
        lambda ledger: ledger.settle("gen_1", 5),
        lambda ledger: ledger.settle("gen_1", -1),
    ],
)
def test_a_step_that_would_lose_or_invent_credits_is_refused(step: Callable[[Ledger], None]) -> None:
    ledger = Ledger()
    ledger.grant(10)
    ledger.reserve("gen_1", 4)
    with pytest.raises(LedgerError):
        step(ledger)
    assert (6, 4, 0) == (ledger.available, ledger.reserved, ledger.charged)
