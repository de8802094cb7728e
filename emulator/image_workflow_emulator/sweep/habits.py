"""The habits of docs/survive.md that a client may lack, and the remedy for each.

Owns which habit a run shows to be missing.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from image_workflow_emulator.domain.problems import CATALOGUE, MENDED_BY_CLIENT
from image_workflow_emulator.examiner.rules.credentials import (
    CREDENTIAL_IN_REQUEST,
    CREDENTIAL_SENT_TO_BYTES,
)
from image_workflow_emulator.examiner.rules.identifiers import BROKEN_ID
from image_workflow_emulator.examiner.rules.waits import RETRY_BEFORE_RETRY_AFTER
from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.comparison import MADE_LESS
from image_workflow_emulator.sweep.faults import OUTPUTS
from image_workflow_emulator.sweep.runs import Run


class Habit(Struct, frozen=True):
    """Something that a client does where it survives."""

    section: str
    """Of docs/survive.md."""
    remedy: str = ""
    """Empty: in the words of a finding, or of the catalogue's recovery."""


ONE_KEY: Final = Habit("section 1")
RETRY: Final = Habit("sections 2 to 4")
REPORT_FAILURE: Final = Habit(
    "section 5",
    "repeat what a client can recover from; if that fails, say so",
)
GIVE_UP: Final = Habit(
    "section 5",
    "give up after a number of attempts, or a total time, and say so",
)
TIMEOUT: Final = Habit("section 6", "give every request a time limit")
POLL: Final = Habit(
    "section 7",
    "poll until `completed` or `failed`, and look at each output",
)
TAKE_OUTPUTS: Final = Habit(
    "section 8",
    "look at each output: the completed ones are paid for, so take them",
)
WAIT: Final = Habit("section 9")
NEW_UPLOAD: Final = Habit("section 11")
HIDE_KEY: Final = Habit("section 12")
_OF_DAMAGE: Final = {
    MADE_LESS: REPORT_FAILURE,
    CREDENTIAL_IN_REQUEST.name: HIDE_KEY,
    CREDENTIAL_SENT_TO_BYTES.name: HIDE_KEY,
    RETRY_BEFORE_RETRY_AFTER.name: Habit("section 4"),
    BROKEN_ID.name: Habit("section 2"),
}
"""What a client lacks that did damage, by the rule that it broke. For any other rule it
is one key for each wish."""


def missing_habit(run: Run) -> Habit:
    """Return the habit that a client lacks, by a run that shows something to fix."""
    if run.outcome == "damaged":
        return _habit_of_damage(run)
    hanging = habit_of_hanging(run.trial)
    if run.outcome == "hung" and hanging is not None:
        return hanging
    if run.leaves_outputs:
        return TAKE_OUTPUTS
    if run.trial.group == OUTPUTS:
        return POLL
    if run.outcome == "failed" and run.status == 0:
        return REPORT_FAILURE
    if run.trial.fault in MENDED_BY_CLIENT:
        return NEW_UPLOAD
    if run.trial.fault == "resource_operation_in_progress":
        return WAIT
    return RETRY


def _habit_of_damage(run: Run) -> Habit:
    first_rule = run.errors[0]
    return _OF_DAMAGE.get(first_rule, ONE_KEY)


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
    if habit.remedy:
        return habit.remedy
    if runs[0].outcome == "damaged":
        return _remedy_for_damage(runs[0])
    return _recovery(habit, runs)


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
