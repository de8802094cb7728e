"""The choice of what is tried: classes of cells, one cell of each, in which test, and in the order of what matters
most.

Theory of operation. A class is an operation and a fault; its first call stands for the others, in the test that has the
fewest cells so far.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct, field, structs

from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.sweep.cells import CLIENT, FAILED_AFTER, FAULT_NAMES, GROUPS, LOST_AFTER, Cell

CHOICES: Final = ("recoverable", *GROUPS, CLIENT, "all")
_MONEY_FIRST: Final = (LOST_AFTER, FAILED_AFTER, *FAULT_NAMES, *CATALOGUE)
_SIMILAR: Final = "a similar call is tried"


class Plan(Struct, eq=False):
    """What is to be tried, in its order; the classes of all cells for which that stands; and what is left
    out, and why.
    """

    cells: list[Cell] = field(default_factory=list)
    classes: dict[str, list[Cell]] = field(default_factory=dict)
    left_out: dict[Cell, str] = field(default_factory=dict)

    def order(self) -> None:
        """Sort the cells by what matters most."""
        self.cells.sort(key=lambda cell: (_urgency(cell), cell.test))

    def shard(self, number: int, shards: int) -> "Plan":
        """Return the part of it that is one of some shards, counted from 1."""
        return Plan(self.cells[number - 1 :: shards], self.classes, self.left_out)


def choose(found: Mapping[str, Mapping[Cell, str]], only: str | None, faults: Sequence[str]) -> Plan:
    """Choose what is tried. `found`: by test, its cells, each with why it is left out.

    `faults` are some of `CHOICES`, none for the default; `only` is a glob of cells, all of which are tried in every
    test.
    """
    kinds = set(faults or (("all", CLIENT) if only is not None else ("recoverable",)))
    groups = kinds.union(GROUPS if {"all", "recoverable"} & kinds else ())
    is_whole = only is not None or bool({"all", CLIENT} & kinds)
    plan, tests, tried, load = Plan(), dict[Cell, list[str]](), set[str](), Counter[str]()
    for test, cells in found.items():
        for cell, why in cells.items():
            if cell.group in groups and fnmatchcase(str(cell), only or "*"):
                if why and str(cell) != only:
                    plan.left_out.setdefault(cell, why)
                else:
                    tests.setdefault(cell, []).append(test)
    for cell in sorted(tests, key=_urgency):
        plan.left_out.pop(cell, None)
        marks = {f"{cell.operation}+", f"{cell.fault}+"} if cell.lasts else {cell.fault}
        is_similar = marks <= tried and cell.class_name not in plan.classes and cell.group not in kinds
        if is_similar and not is_whole:
            plan.left_out[cell] = _SIMILAR
            continue
        if not cell.is_recoverable:
            tried |= marks
        members = plan.classes.setdefault(cell.class_name, [])
        members.append(cell)
        first = [min(tests[cell], key=load.__getitem__)] if len(members) == 1 else []
        places = tests[cell] if is_whole else first
        load.update(places)
        plan.cells += [structs.replace(cell, test=test) for test in places]
    plan.order()
    return plan


def _urgency(cell: Cell) -> tuple[int, ...]:
    """Return by what cells are ordered; among equals, what costs most goes first, then other writes."""
    operations = load_contract().operations
    operation = operations.get(cell.operation)
    price = max(map(int, re.findall(r"(\d) Credit", operation.cost if operation else "")), default=0)
    is_write = operation is not None and operation.is_write
    if cell.group == "outputs":
        stage = 1
    elif cell.is_recoverable:
        stage = 0 if is_write else 2
    else:
        stage = 3 if cell.lasts else 4
    fault = _MONEY_FIRST.index(cell.fault) if cell.fault in _MONEY_FIRST else 0
    return stage, -price, not is_write, fault, [*operations, cell.operation].index(cell.operation), cell.number
