"""A sweep so far: its plan, how the runs ended, and what is left."""

import shlex
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from image_workflow_emulator.report import ReportFinding
from image_workflow_emulator.sweep.causes import Cause, causes_of, unnoticed_by
from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.gate import Gate
from image_workflow_emulator.sweep.planning import Plan
from image_workflow_emulator.sweep.runs import Run


class Swept(Struct, eq=False, kw_only=True):
    """A sweep so far."""

    plan: Plan
    words: Sequence[str]
    """The command."""
    repeat: Sequence[str]
    """The options that a repetition has to have."""
    gate: Gate
    shard: str | None = None
    """Which part of the plan it is, such as `2/8`."""
    runs: dict[Cell, Run] = field(default_factory=dict)
    why_stopped: str = ""
    """Why cells are left that have no reason of their own."""
    why_left: dict[Cell, str] = field(default_factory=dict)
    """The reasons of single cells."""
    run_count: int = 1
    """How many runs there were, with the clean one."""
    clean_findings: Sequence[ReportFinding] = ()
    """What the clean run itself shows."""
    missing_shards: Sequence[str] = ()
    """The shards whose reports were not merged."""

    @property
    def ended(self) -> list[Run]:
        """The runs that have ended, in the order of the plan."""
        return [self.runs[trial] for trial in self.plan.cells if trial in self.runs]

    @property
    def tried(self) -> list[Run]:
        """The runs whose fault happened."""
        return [run for run in self.ended if run.outcome != "not-struck"]

    @property
    def without_run(self) -> list[Cell]:
        """The trials that have no run."""
        return [trial for trial in self.plan.cells if trial not in self.runs]

    @property
    def not_run(self) -> Mapping[Cell, str]:
        """The trials that count as not tried, each with the reason."""
        reasons: dict[Cell, str] = {}
        for trial in self.plan.cells:
            run = self.runs.get(trial)
            if run is None:
                reasons[trial] = self.why_left.get(trial, self.why_stopped)
            elif run.outcome == "not-struck":
                reasons[trial] = run.why
        return reasons

    @property
    def causes(self) -> list[Cause]:
        """What is to be fixed."""
        untried = {str(trial) for trial in self.without_run}
        return [
            *causes_of(self.ended, self.gate, self.line_to_repeat),
            *unnoticed_by(self.ended, untried, self.line_to_repeat),
        ]

    @property
    def percent(self) -> float:
        """How many percent of the classes were tried; in a shard, of its own."""
        planned = set(self.plan.classes)
        if self.shard:
            planned = {trial.class_name for trial in self.plan.cells}
        begun = {run.trial.class_name for run in self.tried}
        left = {trial.class_name for trial in self.not_run}
        tried = begun - left
        return 100 * len(tried) / max(len(planned), 1)

    def line_to_repeat(self, cell: str, test: str) -> str:
        """Return the command line that repeats a cell."""
        options = [*self.repeat, "--only", cell]
        if test:
            options += ["--test", test]
        words = ["image-workflow-emulator", "sweep", *options, "--", *self.words]
        return shlex.join(words)
