"""The choice of what is tried: classes of cells, one cell of each, in which test, and in the order of what matters most.

Theory of operation. A class is an operation and a fault; its first call stands for the others, in the test that has the
fewest cells so far.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct, field

from image_workflow_emulator.contract import Contract, load_contract
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.sweep.cells import CLIENT, FAILED_AFTER, FAULT_NAMES, GROUPS, LOST_AFTER, Cell

CHOICES: Final = ("recoverable", *GROUPS, CLIENT, "all")
_MONEY_FIRST: Final = (LOST_AFTER, FAILED_AFTER, *FAULT_NAMES, *CATALOGUE)
_SIMILAR: Final = "a similar call is tried"


class Trial(Struct, frozen=True, order=True):
    """A cell in one test, or in all that the command does."""

    cell: Cell
    test: str = ""
    """The id of the test, or the place and name of a fixture that tests share; empty: all of the command."""


class Plan(Struct, eq=False):
    """What is to be tried, in its order; the classes of all cells for which that stands; and what is left out, and why."""

    trials: list[Trial] = field(default_factory=list)
    classes: dict[str, list[Cell]] = field(default_factory=dict)
    left_out: dict[Cell, str] = field(default_factory=dict)

    def order(self) -> None:
        """Sort the trials by what matters most."""
        contract = load_contract()
        self.trials.sort(key=lambda trial: (_urgency(trial.cell, contract), trial.test))

    def shard(self, number: int, shards: int) -> "Plan":
        """Return the part of it that is one of some shards, counted from 1."""
        return Plan(self.trials[number - 1 :: shards], self.classes, self.left_out)


def choose(
    found: Mapping[str, Mapping[Cell, str]], only: str | None, faults: Sequence[str], contract: Contract
) -> Plan:
    """Choose what is tried. `found`: by test, its cells, each with why it is left out.

    `faults` are some of `CHOICES`, none for the default; `only` is a glob of cells, all of which are tried in every test.
    """
    groups = set(faults or (("all", CLIENT) if only is not None else ("recoverable",)))
    plan, tests = Plan(), dict[Cell, list[str]]()
    for test, cells in found.items():
        for cell, why in cells.items():
            is_chosen = cell.group in groups or (cell.group != CLIENT and bool({"all", "recoverable"} & groups))
            if is_chosen and (only is None or fnmatchcase(str(cell), only)):
                if why and str(cell) != only:
                    plan.left_out.setdefault(cell, why)
                else:
                    tests.setdefault(cell, []).append(test)
    plan.left_out = {cell: why for cell, why in plan.left_out.items() if cell not in tests}
    is_whole, load = bool({"all", CLIENT} & groups) or only is not None, Counter[str]()
    ordered = sorted(tests, key=lambda cell: _urgency(cell, contract))
    for cell in _of_each_class(plan, ordered, groups, is_whole=is_whole):
        for test in tests[cell] if is_whole else [min(tests[cell], key=load.__getitem__)]:
            load[test] += 1
            plan.trials.append(Trial(cell, test))
    plan.order()
    return plan


def _of_each_class(plan: Plan, ordered: Sequence[Cell], groups: Set[str], *, is_whole: bool) -> list[Cell]:
    """Return the cells that stand for all of them, and note the classes. `is_whole`: each stands for itself."""
    tried, chosen = set[str](), list[Cell]()
    for cell in ordered:
        marks = {f"{cell.operation}+", f"{cell.fault}+"} if cell.lasts else {cell.fault}
        is_known = marks <= tried and cell.class_name not in plan.classes and cell.group not in groups
        if not is_whole and is_known:
            plan.left_out[cell] = _SIMILAR
            continue
        if not cell.is_recoverable:
            tried |= marks
        members = plan.classes.setdefault(cell.class_name, [])
        members.append(cell)
        if is_whole or len(members) == 1:
            chosen.append(cell)
    return chosen


def _urgency(cell: Cell, contract: Contract) -> tuple[int, ...]:
    """Return by what cells are ordered; among equals, what costs most goes first, then other writes."""
    operation = contract.operations.get(cell.operation)
    price = max(map(int, re.findall(r"(\d) Credit", operation.cost if operation else "")), default=0)
    is_write = operation is not None and operation.is_write
    if cell.group == "outputs":
        stage = 1
    elif cell.is_recoverable:
        stage = 0 if is_write else 2
    else:
        stage = 3 if cell.lasts else 4
    fault = _MONEY_FIRST.index(cell.fault) if cell.fault in _MONEY_FIRST else 0
    place = list(contract.operations).index(cell.operation) if operation else len(contract.operations)
    return stage, -price, not is_write, fault, place, cell.number
