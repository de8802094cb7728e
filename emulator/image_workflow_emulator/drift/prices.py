"""Prices: what recorded work costs, held against section 4 of the specification."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from image_workflow_emulator.domain import orders
from image_workflow_emulator.domain.readings import Readings
from image_workflow_emulator.domain.resources import operation_admitting
from image_workflow_emulator.drift.differences import Difference, difference
from image_workflow_emulator.drift.observations.observation import meaning_of
from image_workflow_emulator.drift.traffic import RecordedCall, RecordedWork, Traffic
from image_workflow_emulator.kernel.wording import count_of

_CREDIT_COSTS: Final = "Credit costs (section 4)"


class _Price(NamedTuple):
    """What section 4 says that something costs."""

    subject: str
    """What costs it, in words."""
    amounts: tuple[int, ...]
    """The possible Credits: a Background costs 0 or 1."""
    quantity: int = 1
    """How many equal things it is for."""

    def costs(self, amount: int) -> str:
        """Say that it costs an amount, for one thing if that is a whole number."""
        unit = self._unit_of(amount)
        subject = self.subject
        if unit < self.quantity:
            subject = f"{self.quantity} times {self.subject}"
        return f"{subject} costs {count_of(amount // unit, 'Credit')}"

    def says(self, amount: int) -> str:
        """Say what section 4 says instead of an amount, in the same unit."""
        unit = self._unit_of(amount)
        amounts = " or ".join(str(expected // unit) for expected in self.amounts)
        return f"section 4 says {amounts}"

    def _unit_of(self, amount: int) -> int:
        """Return what an amount is divided by to be the price of one thing: 1 if that is no
        whole number.
        """
        if amount % self.quantity == 0:
            return self.quantity
        return 1


class Prices:
    """The prices of the work that a recording admits, by some readings."""

    def __init__(self, traffic: Traffic, readings: Readings) -> None:
        self.breaches: dict[int, list[Difference]] = {}
        """The prices that differ, by the number of the call that shows them."""
        self.mispriced: set[str] = set()
        """The ids of the work that has such a price."""
        for call, work in traffic.admissions():
            price = _price_of(call, work, readings)
            if price is not None:
                self._judge(call, work, price)

    def _judge(
        self,
        call: RecordedCall,
        work: RecordedWork,
        price: _Price,
    ) -> None:
        reserved = work.first.credits("reserved")
        if reserved is not None and _is_too_much(reserved, work, price):
            self._note(call, work, "/credits/reserved", price, reserved)
            return
        charged = work.credits("charged")
        finished = work.finished_by
        if finished is None or charged is None or not _is_complete(work):
            return
        if charged not in price.amounts:
            self._note(finished, work, "/credits/charged", price, charged)

    def _note(
        self,
        call: RecordedCall,
        work: RecordedWork,
        where: str,
        price: _Price,
        amount: int,
    ) -> None:
        breach = difference(
            call,
            where,
            recorded=price.costs(amount),
            expected=price.says(amount),
            sentence=_CREDIT_COSTS,
            about="price",
        )
        breaches = self.breaches.setdefault(call.number, [])
        breaches.append(breach)
        self.mispriced.add(work.id)


def _is_too_much(
    reserved: int,
    work: RecordedWork,
    price: _Price,
) -> bool:
    """Whether a reservation differs from a price.

    Only of a Generation does section 4 say that the whole price is reserved.
    """
    if "." in work.kind:
        return reserved > max(price.amounts)
    return reserved not in price.amounts


def _is_complete(work: RecordedWork) -> bool:
    """Whether work completed, with all of its outputs."""
    statuses = {work.last.status, *work.last.output_statuses}
    return statuses == {"completed"}


def _price_of(
    call: RecordedCall,
    work: RecordedWork,
    readings: Readings,
) -> _Price | None:
    """Return what work should cost; None if the recording does not tell what it is."""
    if operation_admitting(work.kind) != call.name:
        return None
    ingredient, _, _ = work.kind.partition(".")
    if ingredient in orders.AUTHORING_PRICES:
        possible = {orders.AUTHORING_PRICES[ingredient]}
        if ingredient == "background":
            possible.add(0)
        return _Price(
            subject=work.kind,
            amounts=tuple(sorted(possible)),
        )
    order = meaning_of(call, readings)
    if order is None:
        return None
    amount = orders.generation_price(work.kind, order)
    quantity = 1
    if order.get("output_mode") == "single_shots":
        quantity = order["image_count"]
    return _Price(
        subject=_subject_of(work.kind, order),
        amounts=(amount,),
        quantity=quantity,
    )


def _subject_of(workflow: str, order: Mapping[str, Any]) -> str:
    if workflow == "upscale":
        return f"upscale at {order['target_resolution']}"
    if workflow == "edit_images":
        return f"edit images at {order['resolution']}"
    if order["output_mode"] == "photoshoot":
        return "a photoshoot"
    return f"a single shot at {order['resolution']}"
