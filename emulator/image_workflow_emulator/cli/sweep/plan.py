"""The choice of what is run: classes of cells, one cell of each, in the order of what matters most.

Theory of operation. A class is an operation and a fault; its first call stands for the others. Of a write with several
calls the last is run too with a lost answer: if the two end differently, the calls of this operation come from places that
differ, and every one of them is run (`SweepPlan.note`).
"""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct, field

from image_workflow_emulator.cli.sweep.cells import FAILED_AFTER, FAULT_NAMES, GROUPS, LOST_AFTER, Cell
from image_workflow_emulator.cli.sweep.runs import OUTCOMES, Run
from image_workflow_emulator.contract import Contract
from image_workflow_emulator.domain.problems import CATALOGUE

CHOICES: Final = ("recoverable", *GROUPS, "all")
_MONEY_FIRST: Final = (LOST_AFTER, FAILED_AFTER, *FAULT_NAMES, *CATALOGUE)
_LASTING_SAMPLE: Final = "rate_limited"
"""The lasting fault that is tried early: a client that never gives up shows it there."""
_LASTING: Final = "each fault that lasts is tried at one call, and one at each operation, with --faults all all of them"
_ONCE: Final = "no client can mend it: each of these faults is tried at one call, with --faults all at every call"


class SweepPlan(Struct, eq=False):
    """The cells to run, in their order; the classes of all that they stand for; what is left out, and why; and the runs."""

    cells: list[Cell] = field(default_factory=list)
    classes: dict[str, list[Cell]] = field(default_factory=dict)
    left_out: dict[Cell, str] = field(default_factory=dict)
    known: frozenset[Cell] = frozenset()
    """All cells of the clean run."""
    twins: dict[Cell, Cell] = field(default_factory=dict)
    """Of the writes with several calls: the last call with a lost answer, and the first."""
    pairs: dict[Cell, list[Cell]] = field(default_factory=dict)
    """By their first cell, which has to survive before they are run."""
    runs: dict[Cell, Run] = field(default_factory=dict)
    """Those that have ended."""

    def note(self, run: Run) -> list[Cell]:
        """Take a run that has ended; return the cells that are to be run too because of it."""
        self.runs[run.cell] = run
        further: list[Cell] = []
        for last, first in list(self.twins.items()):
            if last in self.runs and first in self.runs:
                del self.twins[last]
                if self.runs[last].outcome != self.runs[first].outcome:
                    further += self._others(first.operation)
        if run.outcome == "survived":
            further += self.pairs.pop(run.cell, [])
        elif run.outcome != "failed" or run.cell.then:  # do fewer faults suffice?
            further += [cell for cell in run.cell.smaller if cell in self.known and cell not in self.cells]
        for cell in further:
            members = self.classes.setdefault(cell.class_name, [])
            members += [] if cell in members else [cell]
        self.cells += further
        return further

    def _others(self, operation: str) -> list[Cell]:
        """Return the cells of an operation that others stand for."""
        members = [cell for cells in self.classes.values() for cell in cells if cell.operation == operation]
        return [cell for cell in members if cell.is_recoverable and cell not in self.cells]

    @property
    def ended(self) -> list[Run]:
        """The runs that have ended, in the order of the cells."""
        return [self.runs[cell] for cell in self.cells if cell in self.runs]

    def worst(self, cells: Sequence[Cell]) -> str | None:
        """Return the worst outcome of the runs of some cells; None if none was run."""
        return max((self.runs[cell].outcome for cell in cells if cell in self.runs), key=OUTCOMES.index, default=None)

    @property
    def not_run(self) -> list[Cell]:
        """The cells whose runs have not ended."""
        return [cell for cell in self.cells if cell not in self.runs]


def choose(
    found: Mapping[Cell, str], only: str | None, faults: Sequence[str], contract: Contract, *, with_pairs: bool = False
) -> SweepPlan:
    """Choose what is run. `found`: all cells, each with why it is left out.

    `faults` are some of `CHOICES`, none for the default; `only` is a glob of cells, all of which are run.

    Pairs are those of writes: with a glob they are chosen as cells are, else they follow what survived.
    """
    groups = faults or (("all",) if only is not None else ("recoverable",))
    cells = [cell for cell, why in found.items() if not why]
    plan = SweepPlan(known=frozenset(cells))

    def is_meant(cell: Cell) -> bool:
        is_chosen = "all" in groups or (cell.group != "readings" and "recoverable" in groups) or cell.group in groups
        return is_chosen and (only is None or fnmatchcase(str(cell), only))

    operations = contract.operations
    writes = [cell for cell in cells if cell.operation in operations and operations[cell.operation].is_write]
    if only is not None and (with_pairs or "&" in only):
        cells += [pair for cell in writes for pair in cell.pairs()]
    plan.left_out |= {cell: why for cell, why in found.items() if why and is_meant(cell)}
    is_whole = "all" in groups or only is not None
    tried: set[str] = set()
    for cell in sorted(filter(is_meant, cells), key=lambda cell: _urgency(cell, contract)):
        name = cell.class_name
        marks = {f"{cell.operation}+", f"{cell.fault}+"} if cell.lasts else {cell.fault}
        if not is_whole and marks <= tried and name not in plan.classes and cell.group not in groups:
            plan.left_out[cell] = _LASTING if cell.lasts else _ONCE
            continue
        if not cell.is_recoverable:
            tried |= marks
        members = plan.classes.setdefault(name, [])
        members.append(cell)
        if is_whole or len(members) == 1:
            plan.cells.append(cell)
    if only is None and with_pairs:
        plan.pairs = {cell: list(cell.pairs()) for cell in plan.cells if cell in writes}
    for members in plan.classes.values():
        if members[0].label == LOST_AFTER and members[0].is_recoverable and members[-1] not in plan.cells:
            plan.cells.insert(plan.cells.index(members[0]) + 1, members[-1])
            plan.twins[members[-1]] = members[0]
    return plan


def _urgency(cell: Cell, contract: Contract) -> tuple[int, ...]:
    """Return by what cells are ordered; among equals, what costs most goes first, then other writes."""
    operation = contract.operations.get(cell.operation)
    price = max(map(int, re.findall(r"(\d) Credit", operation.cost if operation else "")), default=0)
    is_write = operation is not None and operation.is_write
    is_sample = cell.lasts and cell.fault == _LASTING_SAMPLE
    if cell.group == "outputs":
        stage = 1
    elif cell.is_recoverable:
        stage = 0 if is_write else 3
    elif cell.lasts:
        stage = 2 if price and is_sample else 4
    else:
        stage = 5
    fault = -1 if is_sample else _MONEY_FIRST.index(cell.fault) if cell.fault in _MONEY_FIRST else 0
    place = list(contract.operations).index(cell.operation) if operation else len(contract.operations)
    return cell.then is not None, stage, -price, not is_write, fault, place, cell.number
