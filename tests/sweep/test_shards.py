"""The reports of shards joined."""

import re
import shlex
from pathlib import Path

import pytest

from image_workflow_emulator.console.reports import json_text
from image_workflow_emulator.settings import SettingError
from image_workflow_emulator.sweep.gate import Gate
from image_workflow_emulator.sweep.planning import by_urgency
from image_workflow_emulator.sweep.runs import Run
from image_workflow_emulator.sweep.shards import merged
from image_workflow_emulator.sweep.sweep_report import report_of
from image_workflow_emulator.sweep.swept import Swept
from tests.support.served import ROOT
from tests.sweep.commands import report_of as swept_report_of
from tests.sweep.commands import suite, sweep, written
from tests.sweep.test_broken_clients import SUITE
from tests.sweep.values import MADE_TWICE, run, swept

FAULTS = ["rate_limited", "cut", "internal_error", "stall", "garbled"]
DAMAGED = [run(f"createProduct#1:{fault}", "damaged", MADE_TWICE) for fault in FAULTS]
FAILED = [run(f"getTeam#1:{fault}", "failed", test="test_a") for fault in FAULTS]
WHY = "the command did not make the call this time"
NOT_STRUCK = run("getTeam#1:cut", "not-struck", struck=False, why=WHY)


def sweep_of(*runs: Run) -> Swept:
    """A whole sweep, in the order of its plan."""
    whole = swept(*runs)
    whole.plan.cells = by_urgency(whole.plan.cells)
    return whole


def written_shards(folder: Path, whole: Swept, count: int) -> list[str]:
    """The reports of its shards."""
    files = []
    for number in range(1, count + 1):
        plan = whole.plan.shard(number, count)
        shard = Swept(
            plan=plan,
            runs={trial: whole.runs[trial] for trial in plan.cells},
            words=whole.words,
            repeat=whole.repeat,
            gate=whole.gate,
            shard=f"{number}/{count}",
        )
        file = folder / f"{number}.json"
        file.write_text(json_text(report_of(shard)))
        files.append(str(file))
    return files


def test_merged_shards_say_what_one_sweep_says(tmp_path: Path) -> None:
    whole = sweep_of(*DAMAGED, *FAILED)
    whole.run_count = 8

    joined = merged(written_shards(tmp_path, whole, 8), Gate())

    assert json_text(report_of(whole)) == json_text(report_of(joined))


def test_a_shard_that_is_missing_is_named(tmp_path: Path) -> None:
    files = written_shards(tmp_path, sweep_of(*FAILED), 3)

    report = report_of(merged(files[:-1], Gate()))

    assert 3 == report.status
    assert "no report of the shards 3/3" in report.summary


def test_merged_shards_without_any_fault_have_a_status_of_their_own(
    tmp_path: Path,
) -> None:
    files = written_shards(tmp_path, sweep_of(NOT_STRUCK), 1)

    report = report_of(merged(files, Gate()))

    assert 2 == report.status
    assert WHY in report.summary


def test_reports_of_two_sweeps_are_not_joined(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    first = written_shards(tmp_path, sweep_of(*FAILED), 1)
    other = sweep_of(*FAILED)
    other.words = ["tox"]

    second = written_shards(tmp_path / "a", other, 1)

    with pytest.raises(SettingError, match="of one sweep"):
        merged([*first, *second], Gate())


@pytest.mark.verify
def test_the_workflow_for_shards_says_what_one_sweep_says(tmp_path: Path) -> None:
    command = suite(written(tmp_path, SUITE))
    few = ["--only", "*#1:[cr]*"]
    of_shard, of_all = shard_options()
    whole = swept_report_of(
        tmp_path,
        [*few, "--faults", "all", "--strict", "recoverable"],
        command,
    )
    reports = [str(tmp_path / f"shard-{number}.json") for number in range(1, 9)]

    for number, file in enumerate(reports, 1):
        options = of_shard.replace("shard-$SHARD.json", file)
        options = options.replace("$SHARD", str(number))
        assert 0 == sweep([*few, *shlex.split(options)], command).status
    joined = swept_report_of(tmp_path, [*shlex.split(of_all), *reports], [])

    assert 1 == whole.status
    assert 1 == joined.status
    for member in ("classes", "causes", "not_run", "command"):
        assert whole.content[member] == joined.content[member]


def shard_options() -> tuple[str, str]:
    """The options of a shard and of the merging sweep in the example."""
    example = ROOT / "examples" / "container" / "sweep-shards.yml"
    lines = re.findall(
        "- run: image-workflow-emulator sweep (.*)",
        example.read_text(encoding="utf-8"),
    )
    of_shard, of_all = lines
    return of_shard.partition(" -- ")[0], of_all.partition("shard-*.json")[0]
