"""The plan of a sweep: which cells are tried, in which order, and in which test.

Theory of the plan. A class is an operation and a fault. Its first call represents the
others, in the test that has the fewest cells so far. What matters most is tried first.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct, field, structs

from image_workflow_emulator.contract import OperationContract, load_contract
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.sweep.candidates import CellsByPlace
from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.faults import (
    CLIENT,
    GROUPS,
    OF_A_CALL,
    OUTPUTS,
    is_of_one_output,
)

_RECOVERABLE: Final = "recoverable"
_ALL: Final = "all"
CHOICES: Final = (_RECOVERABLE, *GROUPS, CLIENT, _ALL)
"""The kinds of faults that can be chosen."""
_FAULTS_BY_COST: Final = (*OF_A_CALL, *CATALOGUE)
_SIMILAR: Final = "a similar call is tried"


class Plan(Struct, eq=False):
    """What is to be tried."""

    cells: list[Cell] = field(default_factory=list)
    """In the order in which they are tried."""
    classes: dict[str, list[Cell]] = field(default_factory=dict)
    """All cells that the tried ones represent, by the name of their class."""
    left_out: dict[Cell, str] = field(default_factory=dict)
    """Each with the reason."""

    def shard(self, number: int, shards: int) -> "Plan":
        """Return one of several parts of it, counted from 1."""
        first = number - 1
        return Plan(
            cells=self.cells[first::shards],
            classes=self.classes,
            left_out=self.left_out,
        )


def choose(
    cells_by_place: CellsByPlace,
    only: str | None,
    kinds: Sequence[str],
) -> Plan:
    """Choose what is tried.

    `only`: a glob of cells, all of which are tried in every test. `kinds`: some of
    `CHOICES`, none for the default.
    """
    planner = _Planner(only, kinds)
    planner.select(cells_by_place)
    planner.thin_out()
    if planner.is_whole:
        planner.place_everywhere()
    else:
        planner.place_once()
    planner.plan.cells = by_urgency(planner.plan.cells)
    return planner.plan


class _Planner:
    """A plan in the making."""

    def __init__(self, only: str | None, kinds: Sequence[str]) -> None:
        self.plan = Plan()
        self._only = only
        self._kinds = set(kinds)
        if not kinds and only is None:
            self._kinds = {_RECOVERABLE}
        elif not kinds:
            self._kinds = {_ALL, CLIENT}
        self._groups = set(self._kinds)
        if self._kinds & {_ALL, _RECOVERABLE}:
            self._groups.update(GROUPS)
        self.is_whole = only is not None or bool(self._kinds & {_ALL, CLIENT})
        """Whether every cell is tried in every test."""
        self._places: dict[Cell, list[str]] = {}
        """Where each cell can be tried."""
        self._tried_marks: set[str] = set()
        """The faults and operations for which no further cell is needed."""

    def select(self, cells_by_place: CellsByPlace) -> None:
        """Find the cells that are asked for, and where each can be tried."""
        for place, cells in cells_by_place.items():
            for cell, why in cells.items():
                if not self._is_asked_for(cell):
                    continue
                if not why or str(cell) == self._only:
                    places = self._places.setdefault(cell, [])
                    places.append(place)
                else:
                    self.plan.left_out[cell] = why
        for cell in self._places:
            self.plan.left_out.pop(cell, None)  # in another place

    def _is_asked_for(self, cell: Cell) -> bool:
        is_of_group = cell.group in self._groups
        return is_of_group and fnmatchcase(str(cell), self._only or "*")

    def thin_out(self) -> None:
        """Leave out the cells whose faults other cells try as well."""
        for cell in by_urgency(self._places):
            is_of_class = cell.class_name in self.plan.classes
            if not is_of_class and not self._adds_something(cell):
                self.plan.left_out[cell] = _SIMILAR
                continue
            if not cell.is_recoverable:
                self._tried_marks |= _marks(cell)
            members = self.plan.classes.setdefault(cell.class_name, [])
            members.append(cell)

    def _adds_something(self, cell: Cell) -> bool:
        if self.is_whole or cell.group in self._kinds:
            return True
        return not _marks(cell) <= self._tried_marks

    def place_everywhere(self) -> None:
        """Try each cell in every test that can show it."""
        for cell, places in self._places.items():
            for place in places:
                self.plan.cells.append(structs.replace(cell, test=place))

    def place_once(self) -> None:
        """Try the first cell of each class, in the test that has the fewest cells.

        Those that have least choice choose first.
        """
        silent_load = Counter[str]()
        other_load = Counter[str]()
        firsts = [cells[0] for cells in self.plan.classes.values()]
        firsts.sort(key=lambda cell: len(self._places[cell]))
        for cell in firsts:
            load = other_load
            if cell.is_silent:
                load = silent_load
            place = min(self._places[cell], key=load.__getitem__)
            load[place] += 1
            self.plan.cells.append(structs.replace(cell, test=place))


def _marks(cell: Cell) -> set[str]:
    """Return what a cell that no client recovers from shows: once is enough."""
    if cell.lasts:
        return {f"{cell.operation}+", f"{cell.fault}+"}
    if cell.group == OUTPUTS:
        # Each operation may have a loop of its own that waits for its work.
        kind = "work"
        if is_of_one_output(cell.fault):
            kind = "output"
        return {f"{cell.operation}:{kind}", cell.fault}
    return {cell.fault}


# The order ----------------------------------------------------------------------------


def by_urgency(cells: Iterable[Cell]) -> list[Cell]:
    """Sort cells by what matters most. Among equals, what costs most is first, and
    then other writes.
    """
    operations = load_contract().operations
    return sorted(cells, key=lambda cell: _urgency(cell, operations))


def _urgency(
    cell: Cell,
    operations: Mapping[str, OperationContract],
) -> tuple[int | str, ...]:
    operation = operations.get(cell.operation)
    is_write = operation is not None and operation.is_write
    fault = 0
    if cell.fault in _FAULTS_BY_COST:
        fault = _FAULTS_BY_COST.index(cell.fault)
    place = [*operations, cell.operation].index(cell.operation)
    return (
        _stage(cell, is_write=is_write),
        -_price(operation),
        not is_write,
        fault,
        place,
        cell.number,
        cell.test,
    )


def _stage(cell: Cell, *, is_write: bool) -> int:
    """Return how early a cell is tried: lower is earlier."""
    if cell.group == OUTPUTS:
        return 1
    if cell.is_recoverable and is_write:
        return 0
    if cell.is_recoverable:
        return 2
    if cell.lasts:
        return 3
    return 4


def _price(operation: OperationContract | None) -> int:
    """Return the most Credits that an operation names as its cost."""
    if operation is None:
        return 0
    prices = map(int, re.findall(r"(\d) Credit", operation.cost))
    return max(prices, default=0)
