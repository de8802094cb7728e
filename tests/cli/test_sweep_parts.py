"""What a sweep is made of: the rule of a cell, the line of its progress, and its page."""

import io
import sys

import pytest

from emulator.cli.output import Style
from emulator.cli.sweep import progress as progress_of_sweeps
from emulator.cli.sweep.cells import Cell, LeftOut
from emulator.cli.sweep.matrix import Sweep, as_text
from emulator.cli.sweep.page import as_page
from emulator.cli.sweep.progress import Progress
from emulator.cli.sweep.runs import Run
from emulator.contract import load_contract
from emulator.scenario.faults.loss import LossFault
from emulator.scenario.faults.problem import ProblemFault
from emulator.scenario.outcomes import WorkOutcome
from emulator.scenario.rules import RequestRule


@pytest.mark.parametrize(
    ("cell", "struck"),
    [
        ("getTeam#1:internal_error", ProblemFault("internal_error")),
        ("createProduct#2:lost-before-commit", LossFault("reset", "before_commit")),
        ("upload#1:lost-after-commit", LossFault("reset", "after_commit")),
        ("getTeam#1:stall", LossFault("stall", "after_commit")),
        ("createProduct#1:internal_error-after-commit", ProblemFault("internal_error", at="after_commit")),
        ("createPose#3:fail-timed_out", WorkOutcome(fail="timed_out")),
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


def test_a_cell_of_an_unknown_failure_strikes_nothing() -> None:
    with pytest.raises(ValueError, match="fail-nonsense"):
        Cell.read("createPose#1:fail-nonsense").strike()


def test_progress_is_one_line_on_a_terminal_which_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress(2, 0, 1, 60.0, {}) as progress:
        progress.note(Run("getTeam#1:internal_error", "failed", 1, 0.1))
    shown = terminal.getvalue().split("\r\x1b[K")
    assert ["", "0 of 2 runs, about 2 min 01 s left", ""] == [shown[0], shown[1], shown[-1]]
    assert shown[2].startswith("1 of 2 runs: 1 failed, about ")


def test_progress_elsewhere_is_a_line_every_half_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    elapsed_ms = [0.0]
    monkeypatch.setattr(progress_of_sweeps, "host_elapsed_ms", lambda: elapsed_ms[0])
    with Progress(7, 0, 1, 0.5, {}) as progress:
        for _ in range(6):
            elapsed_ms[0] += 10_000
            progress.note(Run("getTeam#1:internal_error", "failed", 1, 0.1))
    assert capsys.readouterr().err.splitlines() == [
        "7 runs to go, about 7 s",
        "3 of 7 runs: 3 failed, about 40 s left",
        "6 of 7 runs: 6 failed, about 10 s left",
    ]


def test_progress_that_is_broken_off_says_how_far_it_came(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError), Progress(3, 1, 1, 1.0, {}):
        raise RuntimeError
    assert ["2 runs to go, about 3 s", "stopped after 1 of 3 runs"] == capsys.readouterr().err.splitlines()


def test_a_sweep_that_was_stopped_says_in_all_its_forms_what_it_did_not_run() -> None:
    runs, not_run = [Run("getTeam#1:internal_error", "survived", 0, 0.1)], [Cell.read("createUpload#1:rate_limited")]
    stopped = Sweep(load_contract(), Run("", "survived", 0, 0.2), runs, [], ["a"], (), not_run)
    text = as_text(stopped, Style(None, {}))
    assert "createUpload#1  ?" in text
    assert text.endswith("; incomplete: 1 run had not ended\n")
    assert stopped.as_json()["not_run"] == ["createUpload#1:rate_limited"]
    assert "Incomplete" in as_page(stopped)


def test_the_page_tells_what_survived_what_was_left_out_and_what_has_to_be_mended() -> None:
    runs = [
        Run("getTeam#1:internal_error", "survived", 0, 0.1),
        Run("getTeam#1:lost-before-commit", "hung", None, 9.0),
        Run("createProduct#1:idempotency_key_reused", "failed", 1, 0.1),
    ]
    left_out = [LeftOut(Cell.read("getTeam#2:internal_error"), "it cannot differ")]
    page = as_page(Sweep(load_contract(), Run("", "survived", 0, 0.2), runs, left_out, ["python", "a.py"], ()))
    assert 'class="ran survived" title="getTeam#1:internal_error: survived"' in page
    assert '<td class="none"></td>' in page
    assert "What has to be mended" in page
    assert '<article class="hung" id="getTeam#1:lost-before-commit">' in page
