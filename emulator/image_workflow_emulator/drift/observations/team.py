"""The Team's Credits and its budget of concurrent work (D29, D40)."""

from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple, TypeAlias

from image_workflow_emulator.drift.observations.observation import (
    Fits,
    Observation,
    Observations,
    fits_value,
)
from image_workflow_emulator.drift.traffic import RecordedWork, Traffic

_Stage: TypeAlias = Literal["open", "finished", "unknown"]


class _Span(NamedTuple):
    """The calls, by number, during which work was in a stage."""

    stage: _Stage
    """`unknown`: the recording does not tell whether the work had finished."""
    start: int
    stop: int
    """The first call after them."""


def team_credits(traffic: Traffic) -> Observations:
    """D29: whether a Team's Credits fall with a reservation, or only with a charge."""
    account = _Account(traffic)
    reads = [call for call in traffic.whole("getTeam") if "credits" in call.answer]
    for earlier, later in pairwise(reads):
        before = account.taken_until(earlier.number)
        after = account.taken_until(later.number)
        if before is None or after is None:
            continue
        spent = {reading: after[reading] - before[reading] for reading in before}
        taken = earlier.answer["credits"] - later.answer["credits"]
        least_spent = min(0, *spent.values())
        if taken >= least_spent:  # else somebody added Credits
            fits = fits_value(taken, spent)
            expected = spent["plain"]
            description = f"{taken} Credits were taken where {expected} were expected"
            yield Observation(fits, later, description)


def concurrency_unit(traffic: Traffic) -> Observations:
    """D40: whether the budget counts works, or their open outputs."""
    budget = _Budget(traffic)
    for call in traffic.whole("getTeam"):
        capabilities = call.answer.get("capabilities", {})
        concurrency = capabilities.get("api_concurrency", {})
        used = concurrency.get("used")
        works = budget.works[call.number]
        slots = budget.slots[call.number]
        if used is None or budget.unknown[call.number]:
            continue
        if slots > works:
            fits = _fits_budget(used, works, slots)
            description = f"{used} places used by {works} works with {slots} outputs"
            yield Observation(fits, call, description)


def _fits_budget(
    used: int,
    works: int,
    slots: int,
) -> Fits:
    if used == works:
        return ["plain"]
    if works < used <= slots:
        return ["by-output"]
    return []


class _Account:
    """The Credits that work had taken from the Team at each call, by reading."""

    def __init__(self, traffic: Traffic) -> None:
        plain = _Sums(traffic)
        gross = _Sums(traffic)
        unknown = _Sums(traffic)
        for work in traffic.works.values():
            for span in _spans(work, len(traffic.calls)):
                amount = _amount(work, span.stage)
                if amount is None:
                    unknown.add(span, 1)
                    continue
                plain.add(span, amount)
                if span.stage == "finished":
                    gross.add(span, amount)
        self._plain = plain.by_call()
        self._gross = gross.by_call()
        self._unknown = unknown.by_call()

    def taken_until(self, number: int) -> dict[str, int] | None:
        """Return the Credits taken until a call; None if the recording does not tell."""
        if self._unknown[number]:
            return None
        return {
            "plain": self._plain[number],
            "gross": self._gross[number],
        }


class _Budget:
    """The works that were open at each call, their outputs, and how many may have been."""

    def __init__(self, traffic: Traffic) -> None:
        works = _Sums(traffic)
        slots = _Sums(traffic)
        unknown = _Sums(traffic)
        for work in traffic.works.values():
            for span in _spans(work, len(traffic.calls)):
                if span.stage == "open":
                    slot_count = max(1, len(work.last.outputs))
                    works.add(span, 1)
                    slots.add(span, slot_count)
                elif span.stage == "unknown":
                    unknown.add(span, 1)
        self.works = works.by_call()
        self.slots = slots.by_call()
        self.unknown = unknown.by_call()


class _Sums:
    """A sum at each call, of amounts that count during spans of calls."""

    def __init__(self, traffic: Traffic) -> None:
        self._changes = [0] * (len(traffic.calls) + 1)

    def add(self, span: _Span, amount: int) -> None:
        """Count an amount during a span."""
        self._changes[span.start] += amount
        self._changes[span.stop] -= amount

    def by_call(self) -> list[int]:
        """Return the sum at each call, by number."""
        return list(accumulate(self._changes))


def _amount(work: RecordedWork, stage: _Stage) -> int | None:
    """Return what work takes from the Team in a stage; None if that is not known."""
    if stage == "unknown":
        return None
    if stage == "open":
        return work.credits("reserved")
    return work.credits("charged")


def _spans(work: RecordedWork, end: int) -> Iterator[_Span]:
    """Iterate over the stages of work since its admission, up to the last call."""
    first = work.first.call.number
    finished_by = work.finished_by
    finished = end
    if finished_by is not None:
        finished = finished_by.number
    if work.admission is not None:
        after_open = min(_last_unfinished(work) + 1, finished)
        if after_open > first:
            yield _Span("open", first, after_open)
        yield _Span("unknown", max(first, after_open), finished)
    elif finished == first:  # it had finished before the recording
        finished = 0
    else:
        yield _Span("unknown", 0, finished)
    yield _Span("finished", finished, end)


def _last_unfinished(work: RecordedWork) -> int:
    """Return the number of the last call that showed work unfinished; -1 if none did."""
    last = -1
    for snapshot in work.snapshots:
        if not snapshot.is_terminal:
            last = max(last, snapshot.call.number)
    return last
