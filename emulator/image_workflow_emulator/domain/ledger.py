"""A Team's Credits, in two phases: reserved when work is admitted, then charged or released, once.

A step that would break an invariant raises and changes nothing: no number is ever negative, and what was granted is
what is available, reserved and charged together. Knows nothing of what the Credits are for: a reservation is an
amount under the id of its work.
"""

from dataclasses import dataclass, field

from image_workflow_emulator.kernel.ranges import Amount


class LedgerError(RuntimeError):
    """A step would break an invariant: a defect of the emulator, never of a client."""


@dataclass(slots=True, eq=False)
class Ledger:
    """The Credits of one Team."""

    granted: Amount = 0
    charged: Amount = field(default=0, init=False)
    reserved: Amount = field(default=0, init=False)
    reservations: dict[str, Amount] = field(default_factory=dict, init=False)
    """By id of unfinished work: what is reserved for it."""

    @property
    def available(self) -> int:
        """The balance less what is reserved: what GET /team shows (D29)."""
        return self.granted - self.charged - self.reserved

    def grant(self, amount: int) -> None:
        """Add Credits; a negative amount takes available ones away."""
        if self.available + amount < 0:
            raise LedgerError(f"{-amount} Credits cannot be taken from {self.available}")
        self.granted += amount

    def reserve(self, work_id: str, amount: int) -> None:
        """Set Credits aside for admitted work; the caller has checked that they are available."""
        if not 0 <= amount <= self.available or work_id in self.reservations:
            raise LedgerError(f"{amount} Credits cannot be reserved for {work_id} from {self.available}")
        self.reservations[work_id] = amount
        self.reserved += amount

    def settle(self, work_id: str, charge: int) -> None:
        """End a reservation: take what is charged, release the rest."""
        amount = self.reservations.get(work_id)
        if amount is None or not 0 <= charge <= amount:
            raise LedgerError(f"{charge} Credits cannot be charged for {work_id}: reserved {amount}")
        del self.reservations[work_id]
        self.reserved -= amount
        self.charged += charge
