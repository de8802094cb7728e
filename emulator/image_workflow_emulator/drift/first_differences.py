"""The differences of a replayed recording that depend on no earlier one.

After a first difference, the answers about the same resources differ too: they are passed
over, except for breaches, which depend on nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from image_workflow_emulator.drift.breaches import breaches
from image_workflow_emulator.drift.comparison import Comparison
from image_workflow_emulator.drift.differences import Difference
from image_workflow_emulator.drift.json_values import leaves
from image_workflow_emulator.drift.names import is_name
from image_workflow_emulator.drift.prices import Prices
from image_workflow_emulator.drift.replay import Replayed
from image_workflow_emulator.drift.traffic import RecordedCall


class FirstDifferences:
    """Goes through the replayed calls in order, and keeps the first differences."""

    def __init__(self, comparison: Comparison, prices: Prices) -> None:
        self._comparison = comparison
        self._prices = prices
        self._doubtful: set[str] = set()
        """Names of what a difference was about or has made."""
        self._mentioned: set[str] = set()
        self.differences: list[Difference] = []
        self.passed_over = 0
        """How many calls were not compared, since they depend on a difference."""

    def compare_all(self, replayed: Iterable[Replayed]) -> None:
        """Compare all calls of a replay, in order."""
        for replayed_call in replayed:
            self._compare(replayed_call)

    def _compare(self, replayed: Replayed) -> None:
        call = replayed.call
        subjects = set(_subjects(call))
        in_answer = set(_names_in(call.answer))
        in_body = set(_names_in(call.body))
        call_breaches = list(breaches(call))
        call_breaches += self._prices.breaches.get(call.number, ())
        self.differences += call_breaches
        if not self._doubtful.isdisjoint(subjects | in_answer | in_body):
            self.passed_over += 1
        elif not any(breach.where in ("status", "/code") for breach in call_breaches):
            of_answer = self._comparison.differences(call, replayed.answer)
            new_differences = list(of_answer)
            self.differences += new_differences
            if new_differences:
                made = in_answer - self._mentioned
                self._doubtful |= subjects | made
        self._mentioned |= in_answer | in_body


def _subjects(call: RecordedCall) -> Iterator[str]:
    """Iterate over what a call is about: the resource in its path, its address, its key."""
    yield from call.parameters.values()
    if call.surface is not None:
        yield call.url
    if call.key is not None:
        yield f"key {call.key}"


def _names_in(body: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over the ids and links in a body, except those in the items of a list."""
    for member, value in body.items():
        if member == "data":
            continue
        for name, leaf in leaves(value, member):
            if isinstance(leaf, str) and is_name(name):
                yield leaf
