"""The cells that a clean run shows: each fault at each call, and why some are left out.

Pure functions of journals. A cell is left out where its result cannot differ from that
of another, or where its fault would find nothing to break.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from msgspec import structs

from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.domain.problems import BYTE_CODES, CATALOGUE
from image_workflow_emulator.scenario.matching import BYTE_SURFACES
from image_workflow_emulator.sweep import faults
from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.journals import (
    Call,
    Entry,
    Journal,
    calls_of,
    works_of,
)

CellsByPlace: TypeAlias = Mapping[str, Mapping[Cell, str]]
"""The cells of each place, each with the reason why it is left out: empty if it is
not."""
_Codes: TypeAlias = Mapping[str, Iterable[str]]
"""The problem codes of each operation and byte surface."""

_REFUSED_BEFORE = "the call was refused without a fault, before that is checked"
_FAILS_BY_RULE = "the test's own scenario lets the call fail: the fault would hide it"
_READ_AFTER = "a read commits nothing: it does not matter when its answer is lost"
_ONLY_OUTPUT = "it is the only output, which fails with its work"


class _Candidate(NamedTuple):
    """A cell, and why it is left out; empty if it is not."""

    cell: Cell
    why: str


def cells_of(journals: Mapping[str, Iterable[Journal]]) -> CellsByPlace:
    """Return all cells that the journals of sandboxes show, by place."""
    codes = _codes_by_call()
    cells: dict[str, dict[Cell, str]] = {}
    for place, sandboxes in journals.items():
        candidates: set[_Candidate] = set()
        entries: list[Entry] = []
        for journal in sandboxes:
            candidates.update(_of_calls(journal, codes))
            candidates.update(_of_works(journal))
            entries += journal
        # A cell that one sandbox can show is tried: the one without a reason is last.
        cells[place] = dict(sorted(candidates, reverse=True))
        if candidates:
            cells[place].update(_of_client(entries))
    return cells


def _codes_by_call() -> _Codes:
    codes: dict[str, Iterable[str]] = dict.fromkeys(BYTE_SURFACES, BYTE_CODES)
    for name, operation in load_contract().operations.items():
        codes[name] = operation.all_codes
    return codes


def _of_calls(journal: Journal, codes: _Codes) -> Iterator[_Candidate]:
    for call in calls_of(journal):
        for fault in (*codes[call.operation], *faults.OF_A_CALL):
            number = call.number
            if fault in faults.AFTER_COMMIT:
                number = call.number_carried_out
            if number == 0:
                continue  # nothing was done whose answer could be lost
            why = _why_not_at(call, fault)
            cell = Cell(call.operation, number, fault)
            yield _Candidate(cell, why)
            if fault in faults.RECOVERABLE:
                lasting = structs.replace(cell, lasts=True)
                yield _Candidate(lasting, why)


def _why_not_at(call: Call, fault: str) -> str:
    """Return why a fault is left out at a call; empty if it is not."""
    if call.fails_by_rule:
        return _FAILS_BY_RULE
    if fault in CATALOGUE and not call.can_return(fault):
        return _REFUSED_BEFORE
    if call.entry.is_read and fault in (faults.FAILED_AFTER, faults.LOST_AFTER):
        return _READ_AFTER
    return ""


def _of_works(journal: Journal) -> Iterator[_Candidate]:
    for work in works_of(journal):
        for fault in faults.OF_WORK:
            is_of_output = faults.is_of_one_output(fault)
            if is_of_output and not work.outputs:
                continue
            why = ""
            if is_of_output and work.outputs == 1:
                why = _ONLY_OUTPUT
            cell = Cell(work.operation, work.number, fault)
            yield _Candidate(cell, why)


# A broken client ----------------------------------------------------------------------


def _of_client(entries: Sequence[Entry]) -> Iterator[_Candidate]:
    lacking = _lacking(entries)
    for fault in faults.OF_A_CLIENT:
        cell = Cell(faults.CLIENT, 0, fault)
        yield _Candidate(cell, lacking.get(fault, ""))


def _lacking(entries: Sequence[Entry]) -> dict[str, str]:
    """Return what the requests lack, by the fault of the client that it prevents."""
    lacking: dict[str, str] = {}
    if not any(entry.idempotency_key for entry in entries):
        why = "no request has an Idempotency-Key"
        lacking |= dict.fromkeys(("drop-key", "new-key", "one-key"), why)
    if not any(entry.query and entry.operation for entry in entries):
        lacking["drop-query"] = "no request has a query"
    if not any(_asks_to_wait(entry) for entry in entries):
        lacking["ignore-hint"] = "no answer has a Retry-After"
    if not any(entry.credential for entry in entries):
        lacking["drop-authorization"] = "no request has an API key"
    return lacking


def _asks_to_wait(entry: Entry) -> bool:
    headers = entry.response_headers or {}
    return "retry-after" in headers
