"""The habits of docs/survive.md that a client may lack, and the remedy for each.

Owns which habit a run shows to be missing.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from image_workflow_emulator.domain.problems import CATALOGUE, MENDED_BY_CLIENT
from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.faults import OUTPUTS
from image_workflow_emulator.sweep.runs import Run


class Habit(Struct, frozen=True):
    """Something that a client does where it survives."""

    section: int
    """Of docs/survive.md."""
    remedy: str = ""
    """Empty: in the words of a finding, or of the catalogue's recovery."""


ONE_KEY: Final = Habit(1)
RETRY: Final = Habit(2)
REPORT_FAILURE: Final = Habit(
    5,
    "repeat what a client can recover from; if that fails, say so",
)
GIVE_UP: Final = Habit(
    5,
    "give up after a number of attempts, or a total time, and say so",
)
TIMEOUT: Final = Habit(6, "give every request a time limit")
POLL: Final = Habit(7, "poll until `completed` or `failed`, and look at each output")
TAKE_OUTPUTS: Final = Habit(
    8,
    "look at each output: the completed ones are paid for, so take them",
)
WAIT: Final = Habit(9)
NEW_UPLOAD: Final = Habit(11)


def missing_habit(run: Run) -> Habit:
    """Return the habit that a client lacks, by a run that shows something to fix."""
    if run.outcome == "damaged":
        return _habit_of_damage(run)
    hanging = habit_of_hanging(run.trial)
    if run.outcome == "hung" and hanging is not None:
        return hanging
    if run.outcome == "failed" and run.status == 0:
        return REPORT_FAILURE
    if run.leaves_outputs:
        return TAKE_OUTPUTS
    if run.trial.group == OUTPUTS:
        return POLL
    if run.trial.fault in MENDED_BY_CLIENT:
        return NEW_UPLOAD
    if run.trial.fault == "resource_operation_in_progress":
        return WAIT
    return RETRY


def _habit_of_damage(run: Run) -> Habit:
    if run.is_made_less:
        return REPORT_FAILURE
    return ONE_KEY


def habit_of_hanging(trial: Cell) -> Habit | None:
    """Return the habit that a client lacks where it hangs; None where the fault neither
    lasts nor is silent.
    """
    if trial.lasts:
        return GIVE_UP
    if trial.is_silent:
        return TIMEOUT
    return None


def remedy_for(habit: Habit, runs: Sequence[Run]) -> str:
    """Return what a client has to do that lacks a habit, by the runs that show it."""
    if habit == ONE_KEY:
        return _remedy_for_damage(runs[0])
    return habit.remedy or _recovery(habit, runs)


def _remedy_for_damage(run: Run) -> str:
    for finding in run.findings:
        if finding.severity == "error" and finding.remedy:
            return finding.remedy
    return ""


def _recovery(habit: Habit, runs: Sequence[Run]) -> str:
    """Return the recovery of the catalogue: that of the code, if all have the same."""
    usual = CATALOGUE["internal_error"]
    recoveries = set[str]()
    for run in runs:
        recoveries.add(CATALOGUE.get(run.trial.fault, usual).recovery)
    recovery = usual.recovery
    if len(recoveries) == 1:
        (recovery,) = recoveries
    if habit == RETRY and all(run.cell.startswith("delete") for run in runs):
        recovery += "; a DELETE that is repeated and finds 404 is done"
    return recovery
