"""The Team's Credits and its budget of concurrent work (D29, D40)."""

from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from image_workflow_emulator.drift.observations.observation import (
    Fits,
    Observation,
    Observations,
    fits_value,
)
from image_workflow_emulator.drift.traffic import RecordedCall, RecordedWork, Traffic

Stage: TypeAlias = Literal["before", "open", "finished"]
"""Where work is in its life: not admitted yet, unfinished, or finished."""


class _Account(NamedTuple):
    """The Credits that work had taken from the Team at some moment, by reading."""

    plain: int
    gross: int


def team_credits(traffic: Traffic) -> Observations:
    """D29: whether a Team's Credits fall with a reservation, or only with a charge."""
    reads = [call for call in traffic.whole("getTeam") if "credits" in call.answer]
    for earlier, later in pairwise(reads):
        before = _account(traffic, earlier)
        after = _account(traffic, later)
        if before is None or after is None:
            continue
        spent = {
            "plain": after.plain - before.plain,
            "gross": after.gross - before.gross,
        }
        taken = earlier.answer["credits"] - later.answer["credits"]
        is_without_deposit = taken >= min(0, *spent.values())
        if is_without_deposit:
            fits = fits_value(taken, spent)
            expected = spent["plain"]
            description = f"{taken} Credits were taken where {expected} were expected"
            yield Observation(fits, later, description)


def _account(traffic: Traffic, call: RecordedCall) -> _Account | None:
    """Return the Credits taken until a call; None if the recording does not tell."""
    plain = 0
    gross = 0
    for work in traffic.works.values():
        stage = _stage(work, call)
        if stage is None:
            return None
        if stage == "before":
            continue
        amount = work.credits("reserved" if stage == "open" else "charged")
        if amount is None:
            return None
        plain += amount
        if stage == "finished":
            gross += amount
    return _Account(plain, gross)


def _stage(work: RecordedWork, call: RecordedCall) -> Stage | None:
    """Return the stage of work at a call; None if it is not certain."""
    first = work.first.call
    finished = work.finished_by
    is_admitted_here = work.admission is not None
    if finished is not None:
        was_finished_before = finished is first and not is_admitted_here
        if was_finished_before or call.number >= finished.number:
            return "finished"
    if not is_admitted_here:
        return None
    if call.number < first.number:
        return "before"
    for snapshot in work.snapshots:
        if snapshot.call.number >= call.number and not snapshot.is_terminal:
            return "open"
    return None


def concurrency_unit(traffic: Traffic) -> Observations:
    """D40: whether the budget counts works, or their open outputs."""
    for call in traffic.whole("getTeam"):
        capabilities = call.answer.get("capabilities", {})
        used = capabilities.get("api_concurrency", {}).get("used")
        works = list(traffic.works.values())
        stages = [_stage(work, call) for work in works]
        if used is None or None in stages:
            continue
        running = [
            work for work, stage in zip(works, stages, strict=True) if stage == "open"
        ]
        slots = sum(max(1, len(work.last.outputs)) for work in running)
        if slots > len(running):
            fits = _fits_budget(used, len(running), slots)
            description = (
                f"{used} places used by {len(running)} works with {slots} outputs"
            )
            yield Observation(fits, call, description)


def _fits_budget(used: int, works: int, slots: int) -> Fits:
    if used == works:
        return ["plain"]
    return ["by-output"] if works < used <= slots else []
