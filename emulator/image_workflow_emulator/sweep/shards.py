"""Shards: the part of a plan that one machine tries, and their JSON reports joined to one sweep again."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import convert, json

from image_workflow_emulator.settings import SettingError
from image_workflow_emulator.sweep.causes import Swept
from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.expected import Gate
from image_workflow_emulator.sweep.plan import Plan, Trial
from image_workflow_emulator.sweep.runs import Run
from image_workflow_emulator.testing.options import read_file


def shard_of(text: str) -> tuple[int, int]:
    """Read `K/N`. Raises SettingError."""
    found = re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", text)
    if found is None or int(found[1]) > int(found[2]):
        raise SettingError("--shard", text, "K/N such as 2/8, with K from 1 to N")
    return int(found[1]), int(found[2])


def merged(files: Sequence[str], gate: Gate) -> Swept:
    """Join the reports of the shards of one sweep. Raises SettingError, UnusableFileError."""
    reports = [_read(name) for name in files]
    first = reports[0]
    for name, report in zip(files, reports, strict=True):
        if any(report[key] != first[key] for key in ("command", "options")) or _classes(report) != _classes(first):
            raise SettingError("--merge", name, f"the report of a shard of the same sweep as {files[0]}")
    runs = {run.trial: run for report in reports for run in convert(report["cells"], list[Run])}
    left = {Trial(Cell.read(row["cell"]), row["test"]) for report in reports for row in report["not_run"]}
    plan = Plan([*runs, *(left - runs.keys())])
    plan.classes = _classes(first)
    plan.left_out = {Cell.read(row["cell"]): row["why"] for row in first["left_out"]}
    plan.order()
    swept = Swept(plan, runs, first["command"], first["options"], gate, first["clean_seconds"])
    swept.number = sum(report["counts"]["runs"] for report in reports)
    shards = {report["shard"] for report in reports} - {None}
    number = shard_of(min(shards))[1] if shards else 0
    swept.missing = [f"{one}/{number}" for one in range(1, number + 1) if f"{one}/{number}" not in shards]
    swept.why_stopped = "in the shards that were merged"
    return swept


def _classes(report: Mapping[str, Any]) -> dict[str, list[Cell]]:
    return {row["class"]: list(map(Cell.read, row["stands_for"])) for row in report["classes"]}


def _read(name: str) -> dict[str, Any]:
    try:
        report: dict[str, Any] = json.decode(read_file(name))
        _ = report["cells"], report["not_run"], _classes(report)
    except (ValueError, TypeError, KeyError):
        raise SettingError("--merge", name, "a JSON report of sweep") from None
    return report
