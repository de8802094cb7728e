"""What limits admission: the request rate (D41), the concurrency budget (D40), the
pause of writes, and Credits.

Counts, amounts and windows only: the caller knows who is limited, and what to answer.
"""

from bisect import bisect_right
from dataclasses import dataclass, field

from image_workflow_emulator.domain.credit_changes import (
    CreditChange,
    CreditHistory,
    CreditReason,
)
from image_workflow_emulator.domain.resources import Amount, Instant

RATE_WINDOW_MS = 60_000
TEAM_REQUESTS_PER_MINUTE = 600
NOTHING_DUE_MS = 60_000
"""How long to wait for a place in the budget when none of the work in it is due to
finish (D47)."""


@dataclass(slots=True, eq=False)
class RateWindow:
    """The instants of the requests let in during the last minute: an exact sliding
    window (D41).
    """

    admitted: list[Instant] = field(default_factory=list)

    def wait_ms(self, now: int, limit: int) -> int:
        """Return how long a request must wait to be let in; 0 if it may come now. Exact
        (D42).
        """
        admitted = self.admitted
        window_begins = now - RATE_WINDOW_MS
        if admitted and admitted[0] <= window_begins:
            del admitted[: bisect_right(admitted, window_begins)]
        if len(admitted) < limit:
            return 0
        if limit <= 0:
            return RATE_WINDOW_MS
        return admitted[len(admitted) - limit] + RATE_WINDOW_MS - now


@dataclass(slots=True, eq=False)
class ConcurrencyBudget:
    """A Team's unfinished creative work: each piece takes one place, or one for each
    open output (D40).
    """

    finishes_at: dict[str, Instant | None] = field(default_factory=dict)
    """By id of the work; None where it never finishes by itself."""
    places: dict[str, Amount] = field(default_factory=dict)
    """By id of the work: the places that it takes."""

    @property
    def used(self) -> int:
        """The places taken."""
        return sum(self.places.values())

    def take(
        self,
        work_id: str,
        finishes_at: int | None,
        places: int = 1,
    ) -> None:
        """Take the places of admitted work."""
        self.finishes_at[work_id] = finishes_at
        self.places[work_id] = places

    def give_back(self, work_id: str) -> None:
        """Free the places of finished work."""
        del self.finishes_at[work_id]
        del self.places[work_id]

    def give_back_place(self, work_id: str) -> None:
        """Free one of the further places of work, if it has any."""
        self.places[work_id] = max(self.places[work_id] - 1, 1)

    def wait_ms(self, now: int) -> int:
        """Return the time until the next piece of work finishes (D42)."""
        due = [instant for instant in self.finishes_at.values() if instant is not None]
        if not due:
            return NOTHING_DUE_MS
        return max(min(due) - now, 0)


@dataclass(slots=True, eq=False)
class AdmissionPause:
    """Whether new writes are let in (503 `service_unavailable` if not)."""

    paused: bool = False
    retry_after: Amount = 5
    """Seconds that a refused writer is asked to wait."""
    opens_at: Instant | None = None
    """When it ends by itself, if that is known."""


class LedgerError(RuntimeError):
    """A step would break an invariant: a defect of the emulator, never of a client."""


@dataclass(slots=True, eq=False)
class Ledger:
    """The Credits of one Team. Every change of them is noted in its history."""

    granted: Amount = 0
    charged: Amount = field(default=0, init=False)
    reserved: Amount = field(default=0, init=False)
    reservations: dict[str, Amount] = field(default_factory=dict, init=False)
    """By id of unfinished work: what is reserved for it."""
    history: CreditHistory = field(default_factory=CreditHistory, init=False)

    @property
    def available(self) -> int:
        """The balance less what is reserved: what GET /team shows (D29)."""
        return self.granted - self.charged - self.reserved

    def grant(
        self,
        amount: int,
        now: int,
        reason: CreditReason,
    ) -> None:
        """Add Credits; a negative amount takes available ones away."""
        if self.available + amount < 0:
            raise LedgerError(
                f"{-amount} Credits cannot be taken from {self.available}"
            )
        if amount == 0:
            return
        self.granted += amount
        self._note(now, amount, reason)

    def reserve(
        self,
        work_id: str,
        amount: int,
        now: int,
    ) -> None:
        """Set Credits aside for admitted work; the caller has checked that they are
        available.
        """
        if not 0 <= amount <= self.available or work_id in self.reservations:
            raise LedgerError(
                f"{amount} Credits cannot be reserved for {work_id} from "
                f"{self.available}"
            )
        self.reservations[work_id] = amount
        if amount > 0:
            self.reserved += amount
            self._note(now, -amount, "reserved", work_id)

    def settle(
        self,
        work_id: str,
        charge: int,
        now: int,
    ) -> None:
        """End a reservation: take what is charged, release the rest."""
        amount = self.reservations.get(work_id)
        if amount is None or not 0 <= charge <= amount:
            raise LedgerError(
                f"{charge} Credits cannot be charged for {work_id}: reserved {amount}"
            )
        del self.reservations[work_id]
        if charge > 0:
            self.reserved -= charge
            self.charged += charge
            self._note(now, 0, "charged", work_id)
        released = amount - charge
        if released > 0:
            self.reserved -= released
            self._note(now, released, "released", work_id)

    def _note(
        self,
        now: int,
        change: int,
        reason: CreditReason,
        work_id: str | None = None,
    ) -> None:
        """Add the change that was just made to the history."""
        sequence = self.history.next_sequence
        noted = CreditChange(
            sequence,
            now,
            change,
            self.available,
            self.reserved,
            reason,
            work_id,
        )
        self.history.add(noted)
