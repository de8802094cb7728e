"""How the trial of a cell ended."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

from msgspec import Struct, field, structs

from image_workflow_emulator.report import ReportFinding
from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.comparison import (
    MADE_LESS,
    MADE_TWICE,
    OUTPUTS_NOT_TAKEN,
)

Outcome = Literal[
    "not-struck", "survived", "unnoticed", "noticed", "failed", "hung", "damaged"
]
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
"""From the best to the worst. `not-struck`: the fault had no call. `noticed`: a test
failed, or the conduct of the broken client had an error."""
GOOD_OUTCOMES: Final = ("survived", "noticed")


class Run(Struct, frozen=True):
    """How the trial of a cell ended."""

    cell: str
    test: str
    outcome: Outcome
    status: int | None
    """That of the command, or 1 for a test that failed. None: no end in time."""
    seconds: float
    findings: Sequence[ReportFinding] = ()
    struck: bool = True
    """Whether the fault happened."""
    is_flaky: bool = False
    """Whether it failed, and did not when it was repeated."""
    why: str = ""
    """Why the fault did not happen, or why a command failed that ended with 0."""
    broken: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The parameters that the requests of a broken client lost, by operation. None for
    faults that leave the query alone."""

    @property
    def trial(self) -> Cell:
        """What was tried."""
        return Cell.read(self.cell, self.test)

    @property
    def errors(self) -> list[str]:
        """The rules that were broken with damage."""
        rules = dict.fromkeys(
            finding.rule for finding in self.findings if finding.severity == "error"
        )
        return list(rules)

    @property
    def is_made_less(self) -> bool:
        """Whether its only damage is that less was made."""
        return self.errors == [MADE_LESS]

    @property
    def leaves_outputs(self) -> bool:
        """Whether outputs that were paid for were not downloaded."""
        return any(finding.rule == OUTPUTS_NOT_TAKEN for finding in self.findings)


def is_sure(run: Run) -> bool:
    """Tell whether chance cannot have ended a run so: a busy machine is slow, and a
    suite may be flaky.
    """
    if run.outcome == "failed":
        return run.struck and not run.trial.is_recoverable
    if run.outcome == "hung":
        return run.trial.is_silent and run.struck
    return not {MADE_TWICE, MADE_LESS} & set(run.errors)


def agreed(first: Run | None, second: Run) -> Run:
    """Return what two runs of a trial are together. A failure that a repetition does
    not show is flaky.

    None stands for a first run that did not come first in its process: it may show what
    others have left, so the second one counts alone.
    """
    if first is None or not first.struck or first.outcome == "hung":
        return second
    if OUTCOMES.index(second.outcome) > OUTCOMES.index(first.outcome):
        return second
    if second.outcome != first.outcome or not second.struck:
        return structs.replace(first, outcome="failed", is_flaky=True)
    return first
