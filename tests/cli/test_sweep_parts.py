"""What a sweep is made of: the rule of a cell, the line of its progress, and its page."""

import asyncio
import io
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from image_workflow_emulator.cli.invocation import Style
from image_workflow_emulator.cli.sweep import sweeping
from image_workflow_emulator.cli.sweep.cells import Cell, every_cell, sandboxes_of
from image_workflow_emulator.cli.sweep.gate import Gate, Strictness, read_expectations
from image_workflow_emulator.cli.sweep.matrix import Sweep, as_junit, as_text
from image_workflow_emulator.cli.sweep.notes import Noted, NotedCall, World, by_test, made_twice
from image_workflow_emulator.cli.sweep.page import as_page
from image_workflow_emulator.cli.sweep.plan import SweepPlan, choose
from image_workflow_emulator.cli.sweep.runs import NO_CELL, KeptPictures, Outcome, Run
from image_workflow_emulator.cli.sweep.sweeping import Progress
from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.scenario.faults.network import NetworkFault
from image_workflow_emulator.scenario.faults.problem import ProblemFault
from image_workflow_emulator.scenario.scenario import RequestRule, WorkOutcome
from tests.support.pictures import picture


def run(cell: str, outcome: Outcome, status: int | None, seconds: float, *more: Any, **named: Any) -> Run:
    """A run of a cell."""
    return Run(Cell.read(cell), outcome, status, seconds, *more, **named)


@pytest.mark.parametrize(
    ("cell", "struck"),
    [
        ("getTeam#1:internal_error", ProblemFault("internal_error")),
        ("createProduct#2:lost-before-commit", NetworkFault("reset", "before_commit")),
        ("upload#1:lost-after-commit", NetworkFault("reset", "after_commit")),
        ("getTeam#1:stall", NetworkFault("stall", "after_commit")),
        ("createProduct#1:internal_error-after-commit", ProblemFault("internal_error", at="after_commit")),
        ("createPose#3:fail-timed_out", WorkOutcome(fail="timed_out")),
        ("getTeam#1:overtaken", NetworkFault(latency_ms=(1000, 1000))),
        ("createPose#1:finished-at-first-poll", WorkOutcome(duration_ms=1)),
        ("createUpscaleGeneration#1:output-1-content_rejected", WorkOutcome(outputs={1: "content_rejected"})),
    ],
)
def test_a_cell_strikes_one_call_with_its_fault(cell: str, struck: object) -> None:
    (rule,) = Cell.read(cell).strike().rules
    fault = rule.fault if isinstance(rule, RequestRule) else rule.outcome
    assert (cell, struck) == (rule.name, fault)
    assert rule.when.nth.first == rule.when.nth.last == Cell.read(cell).number


def test_a_fault_that_lasts_strikes_its_call_and_all_that_follow() -> None:
    (rule,) = Cell.read("getTeam#2+:rate_limited").strike().rules
    assert (2, None) == (rule.when.nth.first, rule.when.nth.last)


def test_progress_is_one_line_on_a_terminal_which_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    progress = Progress(2, 60.5, math.inf, {})
    progress.note(run("getTeam#1:internal_error", "failed", 1, 0.1))
    progress.clear()
    shown = terminal.getvalue().split("\r\x1b[K")
    assert ["", "0 of 2 runs, about 2 min 01 s left", ""] == [shown[0], shown[1], shown[-1]]
    assert shown[2].startswith("1 of 2 runs: 1 failed, about ")


def test_progress_elsewhere_is_a_line_every_half_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    elapsed_ms = [0.0]
    monkeypatch.setattr(sweeping, "host_elapsed_ms", lambda: elapsed_ms[0])
    progress = Progress(6, 1.0, math.inf, {})
    for number in range(6):
        elapsed_ms[0] += 10_000
        progress.note(run("getTeam#1:internal_error", "failed", 1, 0.1), number == 0)
    assert capsys.readouterr().err.splitlines() == [
        "6 runs to go, about 6 s",
        "3 of 7 runs: 3 failed, about 40 s left",
        "6 of 7 runs: 6 failed, about 10 s left",
    ]


OPEN = Gate()


def sweep_of(
    *runs: Run, gate: Gate = OPEN, not_run: Sequence[str] = (), left_out: Mapping[str, str] = MappingProxyType({})
) -> Sweep:
    """A sweep that has ended so, in which each cell is a class of its own."""
    cells = [*(run.cell for run in runs), *map(Cell.read, not_run)]
    plan = SweepPlan(cells, {cell.class_name: [cell] for cell in cells}, runs={run.cell: run for run in runs})
    plan.left_out = {Cell.read(cell): why for cell, why in left_out.items()}
    clean = Run(NO_CELL, "survived", 0, 0.2)
    return Sweep(load_contract(), clean, plan, ["python", "a.py"], (), gate, "the sweep was stopped")


MADE_TWICE = {"rule": "made-twice", "severity": "error", "message": "2 Product instead of 1"}


def test_a_sweep_that_was_stopped_says_in_all_its_forms_what_it_did_not_run() -> None:
    stopped = sweep_of(run("getTeam#1:internal_error", "survived", 0, 0.1), not_run=["createUpload#1:rate_limited"])
    text = as_text(stopped, Style(None, {}))
    assert "createUpload\n  not run   rate_limited" in text
    assert text.endswith("; incomplete: 1 run had not ended\n")
    assert stopped.as_json()["not_run"] == ["createUpload#1:rate_limited"]
    assert "Incomplete" in as_page(stopped)
    assert '<skipped message="the sweep was stopped" />' in as_junit(stopped)


def test_the_page_tells_what_to_fix_what_survived_and_what_was_left_out() -> None:
    runs = [
        run("getTeam#1:internal_error", "survived", 0, 0.1),
        run("getTeam#1:lost-before-commit", "hung", None, 9.0),
        run("createProduct#1:idempotency_key_reused", "failed", 1, 0.1),
    ]
    page = as_page(sweep_of(*runs, left_out={"getTeam#2:internal_error": "it cannot differ"}))
    assert 'class="ran survived" title="getTeam#1:internal_error: survived"' in page
    assert '<td class="none"></td>' in page
    assert "1 call does not end after a lost request" in page
    assert '<details class="hung" id="getTeam#1:lost-before-commit">' in page
    assert "it cannot differ" in page


def test_what_to_fix_is_told_by_cause_the_worst_first() -> None:
    runs = [
        run("getTeam#1:rate_limited", "failed", 1, 0.1, tests=["test_a.py::test_it"]),
        run("createProduct#1:rate_limited", "failed", 1, 0.1),
        run("createProduct#1:lost-after-commit", "damaged", 0, 0.1, [MADE_TWICE]),
        run("createProduct#1:cut", "damaged", 0, 0.1, [MADE_TWICE]),
        run("getTeam#1+:rate_limited", "failed", 1, 0.1),
        run("getTeam#1+:internal_error", "hung", None, 9),
        run("getTeam#1:stall", "hung", None, 9),
        run("getTeam#1+:stall", "hung", None, 9),  # one is enough
    ]
    swept = sweep_of(*runs)
    assert [(cause.summary, len(cause.cells)) for cause in swept.causes] == [
        ("1 call may be made twice after a lost answer", 2),
        ("1 call does not give up while a fault lasts", 1),
        ("1 call does not have a time limit: the run waits for an answer that does not come", 1),
        ("2 calls do not retry after 429 rate_limited", 2),
    ]
    assert "   in test_a.py::test_it\n   image-workflow-emulator sweep --only 'getTeam#1:rate_limited'" in as_text(
        swept, Style(None, {})
    )


FAILED = run("getTeam#1:rate_limited", "failed", 1, 0.1)
LASTING = run("getTeam#1+:rate_limited", "failed", 1, 0.1)
REFUSED = run("getTeam#1:credential_expired", "failed", 1, 0.1)
FLAKY = run("getTeam#1:cut", "failed", 1, 0.1, is_flaky=True)
HUNG = run("getTeam#1:stall", "hung", None, 9.0)
DAMAGED = run("getTeam#1:garbled", "damaged", 0, 0.1, [MADE_TWICE])


@pytest.mark.parametrize(
    ("strict", "failing"),
    [
        ("off", [HUNG, DAMAGED]),
        ("recoverable", [FAILED, HUNG, DAMAGED]),
        ("all", [FAILED, LASTING, REFUSED, FLAKY, HUNG, DAMAGED]),
    ],
)
def test_the_gate_fails_of_what_its_strictness_forbids(strict: Strictness, failing: list[Run]) -> None:
    runs = [FAILED, LASTING, REFUSED, FLAKY, HUNG, DAMAGED]
    assert failing == [run for run in runs if Gate(strict).fails(run)]
    assert len(failing) == as_junit(sweep_of(*runs, gate=Gate(strict))).count("<failure")


def test_what_is_expected_passes_the_gate_but_damage_never_and_what_does_not_occur_is_told(tmp_path: Path) -> None:
    file = tmp_path / "expected.yaml"
    file.write_text(
        "- {cell: 'getTeam#1:[rs]*', outcome: failed, reason: no retry yet}\n"
        "- {cell: '*:stall', outcome: hung, reason: no limit yet}\n"
        "- {cell: '*:garbled', outcome: failed, reason: it was so}\n"
        "- {cell: 'createPose#*', outcome: failed, reason: not called}\n"
    )
    gate = Gate("recoverable", read_expectations(str(file)))
    runs = [FAILED, HUNG, DAMAGED]
    assert [DAMAGED] == [run for run in runs if gate.fails(run)]
    assert ["*:garbled"] == [one["cell"] for one in sweep_of(*runs, gate=gate).as_json()["unused_expectations"]]
    file.write_text("- {cell: '*', outcome: damaged, reason: never}\n")
    with pytest.raises(DocumentError, match=r"expected.yaml:1:24: /0/outcome: "):
        read_expectations(str(file))


def cells_of(*calls: str, fault: str = "rate_limited") -> list[Cell]:
    return [Cell.read(f"{call}:{fault}") for call in calls]


def test_one_cell_of_each_class_is_run_money_first_and_what_nobody_mends_once() -> None:
    cells = [
        *cells_of("getTeam#1", "getTeam#2", "createPose#1", "createPose#2"),
        *cells_of("getTeam#1", "createPose#1", fault="credential_expired"),
    ]
    chosen = choose(dict.fromkeys(cells, ""), None, (), load_contract())
    assert ["createPose#1:rate_limited", "getTeam#1:rate_limited", "createPose#1:credential_expired"] == [
        str(cell) for cell in chosen.cells
    ]
    assert cells_of("getTeam#1", "getTeam#2") == chosen.classes["getTeam:rate_limited"]
    assert cells_of("getTeam#1", fault="credential_expired") == list(chosen.left_out)
    assert len(cells) == len(choose(dict.fromkeys(cells, ""), None, ("all",), load_contract()).cells)
    assert cells_of("getTeam#2") == choose(dict.fromkeys(cells, ""), "getTeam#2:rate*", (), load_contract()).cells


def test_each_fault_that_lasts_is_tried_at_one_call_and_one_at_each_operation() -> None:
    calls = ("getTeam#1+", "createPose#1+")
    cells = [*cells_of(*calls), *cells_of(*calls, fault="internal_error")]
    chosen = choose(dict.fromkeys(cells, ""), None, (), load_contract())
    assert {*cells_of(*calls), *cells_of(calls[1], fault="internal_error")} == set(chosen.cells)
    assert cells_of(calls[0], fault="internal_error") == list(chosen.left_out)


def test_a_class_is_widened_where_the_last_call_of_a_write_ends_otherwise_than_the_first() -> None:
    cells = cells_of("createPose#1", "createPose#2", "createPose#3", fault="lost-after-commit")
    chosen = choose(dict.fromkeys(cells, ""), None, (), load_contract())
    first, middle, last = cells
    assert [first, last] == chosen.cells
    assert [] == chosen.note(run(str(first), "survived", 0, 1.0))
    assert [middle] == chosen.note(run(str(last), "damaged", 0, 1.0))
    assert ["damaged"] == list(map(chosen.worst, chosen.classes.values()))


def test_more_than_the_clean_run_made_is_made_twice_unless_it_was_taken_back() -> None:
    clean: dict[str, World] = {"test_a": {"Product": (1, 1), "Credit": (2, 2)}}
    assert not list(made_twice(clean, {"test_a": {"Product": (2, 1), "Credit": (2, 2)}}))
    (finding,) = made_twice(clean, {"test_a": {"Product": (2, 2), "Credit": (2, 2), "pose.create": (1, 1)}})
    assert (
        "more was made than in the clean run: 2 Product instead of 1, 1 pose.create instead of 0" == finding["message"]
    )


def test_a_test_that_is_repeated_makes_what_it_makes_once() -> None:
    worlds: list[tuple[str, World]] = [("a", {"Product": (1, 1)}), ("b", {"Product": (1, 1)})]
    assert {"test_a": {"Product": (1, 1)}} == by_test(worlds, {"a": "test_a", "b": "test_a"})
    assert {"": {"Product": (2, 2)}} == by_test(worlds, {})


def test_a_reading_is_tried_where_a_call_of_the_clean_run_can_meet_it() -> None:
    calls = [NotedCall("listPoses", 1, is_read=True, sandboxes={"default"}), NotedCall("getTeam", 1, is_read=True)]
    noted = Noted(calls)
    cells = [cell for cell, why in every_cell(noted, {"listPoses": [], "getTeam": []}).items() if not why]
    tried = {str(cell) for cell in cells if cell.group == "readings"}
    assert "--readings D76=shuffled" == " ".join(Cell.read("createPose#1:outputs-reordered").options)
    assert {"reading:D26=always-a-cursor", "reading:D29=gross", "reading:D73=offset"} < tried
    assert not tried & {"reading:D19=redirects", "reading:D71=skips", "reading:D66=silent"}
    cell = Cell.read("reading:D26=always-a-cursor")
    assert (("--readings", "D26=always-a-cursor"), ()) == (cell.options, cell.strike().rules)
    assert {"default"} == sandboxes_of(cell, noted)
    assert not [
        cell for cell in choose(dict.fromkeys(cells, ""), None, (), load_contract()).cells if cell.group == "readings"
    ]
    assert len(tried) == len(choose(dict.fromkeys(cells, ""), None, ("readings",), load_contract()).cells)


def test_a_pair_also_strikes_the_repetition_of_what_survived() -> None:
    pair = Cell.read("createPose#1:lost-after-commit & createPose#2:rate_limited")
    first, second = pair.strike().rules
    assert (1, 2) == (first.when.nth.first, second.when.nth.first)
    (cell,) = cells_of("createPose#1", fault="lost-after-commit")
    chosen = choose({cell: ""}, None, (), load_contract(), with_pairs=True)
    assert [cell] == chosen.cells
    survived = run(str(cell), "survived", 0, 1.0)
    assert pair in chosen.note(survived)
    assert "createPose:lost-after-commit & createPose:rate_limited" in chosen.classes
    assert [pair] == choose({cell: ""}, str(pair), (), load_contract()).cells
    assert cell == choose({cell: ""}, f"{cell}*", (), load_contract(), with_pairs=True).cells[0]
    assert not choose({cell: ""}, None, (), load_contract()).note(survived)


def test_what_the_clean_run_had_drawn_is_not_drawn_again(tmp_path: Path) -> None:
    job, photo = {"job": "normalize", "content_type": "image/png", "max_pixels": 1}, picture()
    clean, later = KeptPictures(tmp_path, keeps=True), KeptPictures(tmp_path, keeps=False)
    answer = asyncio.run(clean.run(job, [photo]))
    clean.close()
    later.close()  # so that it cannot start a helper
    assert answer == asyncio.run(later.run(job, [photo]))
