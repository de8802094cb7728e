"""Credits: two phases, and never a Credit more or less."""

from collections.abc import Callable

import pytest

from image_workflow_emulator.domain.ledger import Ledger, LedgerError


def ledger_of(amount: int) -> Ledger:
    ledger = Ledger()
    ledger.grant(amount)
    return ledger


def state(ledger: Ledger) -> tuple[int, int, int]:
    return ledger.available, ledger.reserved, ledger.charged


@pytest.mark.parametrize(
    "step",
    [
        lambda ledger: ledger.grant(-11),
        lambda ledger: ledger.reserve("gen_1", 11),
        lambda ledger: ledger.reserve("gen_1", -1),
    ],
)
def test_credits_that_are_not_there_are_neither_taken_away_nor_reserved(step: Callable[[Ledger], None]) -> None:
    ledger = ledger_of(10)
    with pytest.raises(LedgerError):
        step(ledger)
    assert state(ledger) == (10, 0, 0)


def test_one_piece_of_work_cannot_be_reserved_for_twice() -> None:
    ledger = ledger_of(10)
    ledger.reserve("gen_1", 1)
    with pytest.raises(LedgerError):
        ledger.reserve("gen_1", 1)


@pytest.mark.parametrize(("work_id", "charge"), [("gen_2", 0), ("gen_1", 5), ("gen_1", -1)])
def test_a_reservation_is_settled_once_within_its_amount_or_not_at_all(work_id: str, charge: int) -> None:
    ledger = ledger_of(10)
    ledger.reserve("gen_1", 4)
    with pytest.raises(LedgerError):
        ledger.settle(work_id, charge)
    assert state(ledger) == (6, 4, 0)
    ledger.settle("gen_1", 0)
    with pytest.raises(LedgerError):
        ledger.settle("gen_1", 0)
