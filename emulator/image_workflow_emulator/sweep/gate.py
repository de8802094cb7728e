"""The gate of a sweep: which outcomes are accepted, and which let it fail."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct, convert, json

from image_workflow_emulator.client.local_files import read_file
from image_workflow_emulator.documents.document import read_document
from image_workflow_emulator.documents.schemas import Schemas
from image_workflow_emulator.sweep.comparison import MADE_LESS
from image_workflow_emulator.sweep.runs import Run

EXPECTED_FILE: Final = "sweep.expected.yaml"
"""The file that is read where it lies in the working directory."""
Strictness = Literal["off", "recoverable", "all"]


class Expectation(Struct, frozen=True, forbid_unknown_fields=True):
    """An outcome that is accepted of the cells that a glob fits, and why.

    `made-less` is the only damage that can be accepted.
    """

    cell: str
    outcome: Literal["survived", "failed", "hung", "made-less"]
    reason: str

    def fits(self, run: Run) -> bool:
        """Tell whether it is about the cell of a run."""
        return fnmatchcase(run.cell, self.cell)

    def accepts(self, run: Run) -> bool:
        """Tell whether a run ended as it says."""
        if not self.fits(run):
            return False
        if self.outcome == MADE_LESS:
            return run.is_made_less
        return self.outcome == run.outcome


class Gate(Struct, frozen=True):
    """Judges runs."""

    strict: Strictness = "off"
    expectations: tuple[Expectation, ...] = ()
    least_percent: float = 100.0
    """How many of the classes have to be tried."""

    def accepts(self, run: Run) -> bool:
        """Tell whether the outcome of a run is expected."""
        return any(expectation.accepts(run) for expectation in self.expectations)

    def is_weakness(self, run: Run) -> bool:
        """Tell whether a run shows something to fix: damage, a hang, no recovery from
        what a client can recover from, a failure of a command that ended with 0, or
        completed outputs that were not taken.
        """
        if run.outcome == "damaged" and not run.is_made_less:
            return True
        if run.is_flaky or self.accepts(run):
            return False
        if run.outcome in ("damaged", "hung") or run.leaves_outputs:
            return True
        if run.outcome != "failed":
            return False
        is_silent = run.status == 0
        return is_silent or run.trial.is_recoverable

    def fails(self, run: Run) -> bool:
        """Tell whether a run makes the sweep exit with 1."""
        if run.outcome in ("damaged", "hung"):
            return self.is_weakness(run)
        if run.outcome != "failed" or self.strict == "off":
            return False
        if self.strict == "all":
            return not self.accepts(run)
        return run.trial.is_recoverable and self.is_weakness(run)

    def unused(self, runs: Iterable[Run]) -> list[Expectation]:
        """Return the expectations about tried cells, none of which ended so."""
        unused = []
        for expectation in self.expectations:
            fitting = [run for run in runs if expectation.fits(run)]
            if fitting and not any(map(expectation.accepts, fitting)):
                unused.append(expectation)
        return unused


def read_expectations(name: str | None) -> tuple[Expectation, ...]:
    """Read the file of this name; for None the usual one, if it is there.

    Raises DocumentError or UnusableFileError.
    """
    if name is None and not Path(EXPECTED_FILE).exists():
        return ()
    file = name or EXPECTED_FILE
    document = read_document(read_file(file), file)
    schema = json.schema(list[Expectation])
    document.check(Schemas(schema, formats={}))
    return tuple(convert(document.value, list[Expectation]))
