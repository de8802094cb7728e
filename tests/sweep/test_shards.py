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

FAULTS = [
    "rate_limited",
    "cut",
    "internal_error",
    "stall",
    "garbled",
]
DAMAGED = [run(f"createProduct#1:{fault}", "damaged", MADE_TWICE) for fault in FAULTS]
FAILED = [run(f"getTeam#1:{fault}", "failed", test="test_a") for fault in FAULTS]
WHY = "the command did not make the call this time"
NOT_STRUCK = run(
    "getTeam#1:cut",
    "not-struck",
    struck=False,
    why=WHY,
)


def sweep_of(*runs: Run) -> Swept:
    """A whole sweep, in the order of its plan."""
    whole = swept(*runs)
    whole.plan.cells = by_urgency(whole.plan.cells)
    return whole


def written_shards(
    folder: Path,
    whole: Swept,
    count: int,
) -> list[str]:
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
        report = report_of(shard)
        file = folder / f"{number}.json"
        file.write_text(json_text(report))
        files.append(str(file))
    return files


def test_merged_shards_say_what_one_sweep_says(tmp_path: Path) -> None:
    whole = sweep_of(*DAMAGED, *FAILED)
    whole.run_count = 8
    files = written_shards(tmp_path, whole, 8)

    joined = merged(files, Gate())

    text_of_whole = json_text(report_of(whole))
    text_of_joined = json_text(report_of(joined))
    assert text_of_whole == text_of_joined


def test_a_shard_that_is_missing_is_named(tmp_path: Path) -> None:
    whole = sweep_of(*FAILED)
    first, second, _ = written_shards(tmp_path, whole, 3)

    joined = merged([first, second], Gate())

    report = report_of(joined)
    assert 3 == report.status
    assert "no report of the shards 3/3" in report.summary


def test_merged_shards_without_any_fault_have_a_status_of_their_own(
    tmp_path: Path,
) -> None:
    whole = sweep_of(NOT_STRUCK)
    files = written_shards(tmp_path, whole, 1)

    joined = merged(files, Gate())

    report = report_of(joined)
    assert 2 == report.status
    assert WHY in report.summary


def test_reports_of_two_sweeps_are_not_joined(tmp_path: Path) -> None:
    of_pytest = sweep_of(*FAILED)
    of_tox = sweep_of(*FAILED)
    of_tox.words = ["tox"]
    folder = tmp_path / "tox"
    folder.mkdir()
    (first,) = written_shards(tmp_path, of_pytest, 1)
    (second,) = written_shards(folder, of_tox, 1)

    with pytest.raises(SettingError, match="of one sweep"):
        merged([first, second], Gate())


@pytest.mark.verify
def test_the_workflow_for_shards_says_what_one_sweep_says(tmp_path: Path) -> None:
    command = suite(written(tmp_path, SUITE))
    few = ["--only", "*#1:[cr]*"]
    options_of_whole = [*few, "--faults", "all", "--strict", "recoverable"]
    of_shard, of_all = commands_of_example()
    of_shard, _, _ = of_shard.partition(" -- ")
    of_all, _, _ = of_all.partition("shard-*.json")

    whole = swept_report_of(tmp_path, options_of_whole, command)
    files = []
    for number in range(1, 9):
        file = str(tmp_path / f"shard-{number}.json")
        options = of_shard.replace("shard-$SHARD.json", file)
        options = options.replace("$SHARD", str(number))
        words = shlex.split(options)
        shard = sweep([*few, *words], command)
        assert 0 == shard.status
        files.append(file)
    words_of_all = shlex.split(of_all)
    joined = swept_report_of(tmp_path, [*words_of_all, *files], [])

    assert 1 == whole.status
    assert 1 == joined.status
    for member in ("classes", "causes", "not_run", "command"):
        assert whole.content[member] == joined.content[member]


def commands_of_example() -> list[str]:
    """What follows `sweep` in the example: for a shard, and for all together."""
    example = ROOT / "examples" / "container" / "sweep-shards.yml"
    workflow = example.read_text(encoding="utf-8")
    return re.findall("- run: image-workflow-emulator sweep (.*)", workflow)
