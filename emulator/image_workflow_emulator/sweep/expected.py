"""What makes a sweep fail: the strictness, the outcomes that a file does not expect, and what was not tried."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, convert, json

from image_workflow_emulator.client.files import read_file
from image_workflow_emulator.documents.document import read_document
from image_workflow_emulator.documents.schemas import Schemas
from image_workflow_emulator.sweep.runs import Run

Strictness = Literal["recoverable", "all", "off"]
EXPECTED_FILE: Final = "sweep.expected.yaml"
"""The file that is read where it lies in the working directory."""
_Text = Annotated[str, Meta(min_length=1)]


class Expectation(Struct, frozen=True, forbid_unknown_fields=True):
    """An outcome that is accepted of the cells that a glob fits, and why. Nothing excuses damage."""

    cell: _Text
    outcome: Literal["survived", "failed", "hung"]
    reason: _Text

    def fits(self, run: Run) -> bool:
        """Tell whether it is about the cell of a run."""
        return fnmatchcase(run.cell, self.cell)


class Gate(Struct, frozen=True):
    """Judges runs."""

    strict: Strictness = "off"
    expectations: tuple[Expectation, ...] = ()
    least_percent: float = 100.0
    """How many of the classes have to be tried."""

    def accepts(self, run: Run) -> bool:
        """Tell whether the outcome of a run is expected."""
        return any(one.fits(run) and one.outcome == run.outcome for one in self.expectations)

    def is_weakness(self, run: Run) -> bool:
        """Tell whether a run shows something to fix: damage, hanging, or no recovery from what a client can recover
        from.
        """
        if run.outcome == "damaged":
            return True
        is_sure = not run.is_flaky and not self.accepts(run)
        return is_sure and (run.outcome == "hung" or (run.outcome == "failed" and run.trial.is_recoverable))

    def fails(self, run: Run) -> bool:
        """Tell whether a run makes the sweep exit with 1."""
        if run.outcome == "failed" and self.strict != "recoverable":
            return self.strict == "all" and not self.accepts(run)
        return self.is_weakness(run)

    def unused(self, runs: Iterable[Run]) -> list[Expectation]:
        """Return the expectations about cells that were run, none of which ended so."""
        fitting = {one: [run.outcome for run in runs if one.fits(run)] for one in self.expectations}
        return [one for one, outcomes in fitting.items() if outcomes and one.outcome not in outcomes]


def read_expectations(name: str | None) -> tuple[Expectation, ...]:
    """Read the file of this name; for None the usual one, if it is there. Raises DocumentError or UnusableFileError."""
    if name is None and not Path(EXPECTED_FILE).exists():
        return ()
    file = name or EXPECTED_FILE
    document = read_document(read_file(file), file)
    document.check(Schemas(json.schema(list[Expectation]), formats={}))
    document.raise_complaints()
    return tuple(convert(document.value, list[Expectation]))
