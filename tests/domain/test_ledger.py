"""Credits: two phases, and never a Credit more or less."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from emulator.domain.ledger import Ledger, LedgerError


def ledger_of(amount: int) -> Ledger:
    ledger = Ledger()
    ledger.grant(amount)
    return ledger


def state(ledger: Ledger) -> tuple[int, int, int]:
    return ledger.available, ledger.reserved, ledger.charged


def test_a_reservation_is_charged_and_released_in_one_step() -> None:
    ledger = ledger_of(10)
    ledger.reserve("gen_1", 4)
    assert state(ledger) == (6, 4, 0)
    ledger.settle("gen_1", 3)
    assert state(ledger) == (7, 0, 3)


def test_the_available_credits_can_be_set_whatever_is_reserved() -> None:
    ledger = ledger_of(10)
    ledger.reserve("gen_1", 4)
    ledger.set_available(0)
    assert state(ledger) == (0, 4, 0)
    ledger.settle("gen_1", 1)
    assert state(ledger) == (3, 0, 1)


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


def test_work_that_is_taken_over_counts_as_it_did() -> None:
    ledger = Ledger(granted=10)
    ledger.restore("gen_1", 4, charged=3)
    ledger.restore("gen_2", 2, charged=None)
    assert state(ledger) == (5, 2, 3)
    ledger.settle("gen_2", 2)
    assert state(ledger) == (5, 0, 5)


@pytest.mark.parametrize("charged", [None, 11])
def test_work_that_was_never_granted_is_not_taken_over(charged: int | None) -> None:
    with pytest.raises(LedgerError, match="10 granted Credits"):
        Ledger(granted=10).restore("gen_1", 11, charged)


class AnyHistory(RuleBasedStateMachine):
    """Any sequence of acts, sensible or not, beside a model of plain numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger()
        self.granted = 0
        self.charged = 0
        self.open: dict[str, int] = {}
        self.count = 0

    @property
    def available(self) -> int:
        return self.granted - self.charged - sum(self.open.values())

    @rule(amount=st.integers(-5, 20))
    def grant(self, amount: int) -> None:
        if self.available + amount < 0:
            with pytest.raises(LedgerError):
                self.ledger.grant(amount)
        else:
            self.ledger.grant(amount)
            self.granted += amount

    @rule(amount=st.integers(-1, 20))
    def reserve(self, amount: int) -> None:
        self.count += 1
        work_id = f"gen_{self.count}"
        if 0 <= amount <= self.available:
            self.ledger.reserve(work_id, amount)
            self.open[work_id] = amount
        else:
            with pytest.raises(LedgerError):
                self.ledger.reserve(work_id, amount)

    @precondition(lambda self: bool(self.open))
    @rule(data=st.data())
    def settle(self, data: st.DataObject) -> None:
        work_id = data.draw(st.sampled_from(sorted(self.open)))
        charge = data.draw(st.integers(-1, self.open[work_id] + 1))
        if 0 <= charge <= self.open[work_id]:
            self.ledger.settle(work_id, charge)
            self.charged += charge
            del self.open[work_id]
        else:
            with pytest.raises(LedgerError):
                self.ledger.settle(work_id, charge)

    @invariant()
    def every_credit_is_available_reserved_or_charged(self) -> None:
        ledger = self.ledger
        assert (self.available, sum(self.open.values()), self.charged) == state(ledger)
        assert ledger.granted == ledger.available + ledger.reserved + ledger.charged
        assert min(state(ledger)) >= 0


TestAnyHistory = AnyHistory.TestCase
