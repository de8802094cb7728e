"""The reports of shards joined again, as if they were one sweep."""

from collections.abc import Sequence

from msgspec import Struct, ValidationError, field, json

from image_workflow_emulator.client.local_files import read_file
from image_workflow_emulator.documents.files import MAX_RECORDING_BYTES
from image_workflow_emulator.report import ReportFinding
from image_workflow_emulator.settings import SettingError
from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.gate import Gate
from image_workflow_emulator.sweep.planning import Plan, by_urgency
from image_workflow_emulator.sweep.runs import Run
from image_workflow_emulator.sweep.swept import Swept


class _LeftOut(Struct):
    cell: str
    why: str


class _NotRun(Struct):
    cell: str
    test: str
    why: str

    @property
    def trial(self) -> Cell:
        return Cell.read(self.cell, self.test)


class _Class(Struct):
    name: str = field(name="class")
    stands_for: list[str]


class _Counts(Struct):
    runs: int


class _Shard(Struct):
    """What is read of the report of a shard."""

    kind: str
    command: list[str]
    options: list[str]
    left_out: list[_LeftOut]
    cells: list[Run]
    not_run: list[_NotRun]
    classes: list[_Class]
    counts: _Counts
    clean_findings: list[ReportFinding]
    shard: str | None
    not_shown: int = 0
    """How many entries were left out of a report that was printed."""

    def is_of_same_sweep(self, other: "_Shard") -> bool:
        """Tell whether two shards have their command and their plan in common."""
        if self.command != other.command or self.options != other.options:
            return False
        return self.left_out == other.left_out


def merged(files: Sequence[str], gate: Gate) -> Swept:
    """Join the reports of the shards of one sweep.

    Raises SettingError, UnusableFileError.
    """
    contents = [read_file(name, MAX_RECORDING_BYTES) for name in files]
    try:
        shards = [json.decode(content, type=_Shard) for content in contents]
        _check(shards)
        return _joined(shards, gate)
    except (RecursionError, ValidationError, ValueError):
        expected = "whole JSON reports of the shards of one sweep"
        raise SettingError("--merge", " ".join(files), expected) from None


def _check(shards: Sequence[_Shard]) -> None:
    """Check that reports are whole and of one sweep. Raises ValueError."""
    first = shards[0]
    for shard in shards:
        is_whole = shard.kind == "sweep" and not shard.not_shown
        if not is_whole or not shard.is_of_same_sweep(first):
            raise ValueError(shard.shard)


def _joined(shards: Sequence[_Shard], gate: Gate) -> Swept:
    first = shards[0]
    swept = Swept(
        plan=Plan(),
        words=first.command,
        repeat=first.options,
        gate=gate,
        run_count=0,
    )
    for shard in shards:
        swept.run_count += shard.counts.runs
        for run in shard.cells:
            swept.runs[run.trial] = run
        for left in shard.not_run:
            swept.why_left[left.trial] = left.why
    swept.plan.cells = by_urgency({*swept.runs, *swept.why_left})
    for group in first.classes:
        cells = [Cell.read(cell) for cell in group.stands_for]
        swept.plan.classes[group.name] = cells
    for left_out in first.left_out:
        cell = Cell.read(left_out.cell)
        swept.plan.left_out[cell] = left_out.why
    swept.clean_findings = first.clean_findings
    swept.missing_shards = _missing({shard.shard for shard in shards})
    return swept


def _missing(shards: set[str | None]) -> list[str]:
    """Return the shards that are missing beside these, such as `3/8`."""
    shard_count = 0
    for shard in shards:
        if shard:
            _, _, total = shard.partition("/")
            shard_count = max(shard_count, int(total))
    numbers = range(1, shard_count + 1)
    all_shards = [f"{number}/{shard_count}" for number in numbers]
    return [shard for shard in all_shards if shard not in shards]
