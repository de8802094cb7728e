"""The choice of what is run: classes of cells, one cell of each, in the order of what matters most.

Theory of operation. A class is an operation and a fault; its first call stands for the others. Of a write with several
calls the last is run too with a lost answer: if the two end differently, the calls of this operation come from places that
differ, and every one of them is run (`SweepPlan.further`).
"""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from msgspec import Struct, field

from emulator.cli.sweep.cells import FAILED_AFTER, FAULT_NAMES, GROUPS, LOST_AFTER, Cell, LeftOut
from emulator.cli.sweep.runs import OUTCOMES, Run
from emulator.contract import Contract
from emulator.domain.problems import CATALOGUE

CHOICES: Final = ("recoverable", *GROUPS, "all")
_MONEY_FIRST: Final = (LOST_AFTER, FAILED_AFTER, *FAULT_NAMES, *CATALOGUE)
_LASTING_SAMPLE: Final = "rate_limited"
"""The lasting fault that is tried early: a client that never gives up shows it there."""
_LASTING: Final = "each fault that lasts is tried at one call, and one at each operation, with --faults all all of them"
_ONCE: Final = "no client can mend it: each of these faults is tried at one call, with --faults all at every call"


class SweepPlan(Struct, eq=False):
    """The cells to run, in their order; the classes of all that they stand for; and the cells that are left out."""

    cells: list[Cell] = field(default_factory=list)
    classes: dict[str, list[Cell]] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    known: frozenset[Cell] = frozenset()
    """All cells of the clean run."""
    twins: dict[Cell, Cell] = field(default_factory=dict)
    """Of the writes with several calls: the last call with a lost answer, and the first."""
    pairs: dict[Cell, list[Cell]] = field(default_factory=dict)
    """By their first cell, which has to survive before they are run."""

    def further(self, ended: Cell, runs: Mapping[Cell, Run]) -> list[Cell]:
        """Return the cells that are to be run too, now that the run of one has ended."""
        further, outcome = [], runs[ended].outcome
        for last, first in list(self.twins.items()):
            if last in runs and first in runs:
                del self.twins[last]
                if runs[last].outcome != runs[first].outcome:
                    further += self._others(first.operation)
        if outcome == "survived":
            further += self.pairs.pop(ended, [])
        elif outcome != "failed" or ended.then:  # do fewer faults suffice?
            further += [cell for cell in ended.smaller if cell in self.known and cell not in self.cells]
        for cell in further:
            members = self.classes.setdefault(class_of(cell), [])
            members += [] if cell in members else [cell]
        self.cells += further
        return further

    def _others(self, operation: str) -> list[Cell]:
        """Return the cells of an operation that others stand for."""
        members = [cell for cells in self.classes.values() for cell in cells if cell.operation == operation]
        return [cell for cell in members if cell.is_recoverable and cell not in self.cells]

    def classes_as_json(self, runs: Mapping[Cell, Run]) -> list[dict[str, Any]]:
        """Return the classes for the report, each with the worst outcome of its runs; null if none was run."""
        return [
            {
                "class": name,
                "stands_for": [str(cell) for cell in cells],
                "outcome": max(
                    (runs[cell].outcome for cell in cells if cell in runs), key=OUTCOMES.index, default=None
                ),
            }
            for name, cells in self.classes.items()
        ]


def choose(
    cells: Sequence[Cell],
    left_out: Sequence[LeftOut],
    only: str | None,
    faults: Sequence[str],
    contract: Contract,
    *,
    with_pairs: bool = False,
) -> SweepPlan:
    """Choose what is run. `faults` are some of `CHOICES`, none for the default; `only` is a glob of cells, all of which are.

    Pairs are those of writes: with a glob they are chosen as cells are, else they follow what survived.
    """
    groups = faults or (("all",) if only is not None else ("recoverable",))
    plan = SweepPlan(known=frozenset(cells))

    def is_meant(cell: Cell) -> bool:
        is_fault = cell.group != "readings"
        is_chosen = "all" in groups or (is_fault and "recoverable" in groups) or cell.group in groups
        return is_chosen and (only is None or fnmatchcase(str(cell), only))

    writes = [
        cell for cell in cells if cell.operation in contract.operations and contract.operations[cell.operation].is_write
    ]
    if only is not None and (with_pairs or "&" in only):
        cells = [*cells, *(pair for cell in writes for pair in cell.pairs())]
    plan.left_out += [left for left in left_out if is_meant(left.cell)]
    tried: set[str] = set()
    for cell in sorted(filter(is_meant, cells), key=lambda cell: _urgency(cell, contract)):
        name = class_of(cell)
        is_whole = "all" in groups or only is not None
        marks = {f"{cell.operation}+", f"{cell.fault}+"} if cell.lasts else {cell.fault}
        if not is_whole and marks <= tried and name not in plan.classes and cell.group not in groups:
            plan.left_out.append(LeftOut(cell, _LASTING if cell.lasts else _ONCE))
            continue
        if not cell.is_recoverable:
            tried |= marks
        members = plan.classes.setdefault(name, [])
        members.append(cell)
        if is_whole or len(members) == 1:
            plan.cells.append(cell)
    if only is None and with_pairs:
        paired = {cell: list(cell.pairs()) for cell in plan.cells if cell in writes}
        plan.pairs = {cell: pairs for cell, pairs in paired.items() if pairs}
    for members in plan.classes.values():
        if members[0].label == LOST_AFTER and members[0].is_recoverable and members[-1] not in plan.cells:
            plan.cells.insert(plan.cells.index(members[0]) + 1, members[-1])
            plan.twins[members[-1]] = members[0]
    return plan


def class_of(cell: Cell) -> str:
    """Return the name of a cell's class."""
    return f"{cell.operation}{'+' if cell.lasts else ''}:{cell.fault}" + (
        f" & {class_of(cell.then)}" if cell.then else ""
    )


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
