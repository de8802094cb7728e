"""The progress of a sweep, at a terminal and elsewhere."""

import io

import pytest

from image_workflow_emulator.console.progress import Progress


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.ms = 0.0

    def __call__(self) -> float:
        return self.ms


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def add(
    progress: Progress,
    outcome: str,
    number: int,
) -> None:
    for _ in range(number):
        progress.add(outcome)


def test_without_a_terminal_a_line_says_how_far_it_is_every_ten_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    with Progress(166, [], terminal=None, now_ms=clock) as progress:
        add(progress, "survived", 38)
        add(progress, "failed", 3)
        clock.ms = 10_000
        progress.tick()

    line = "41 of 166 cells, 38 survived, 3 failed, about 30 s left\n"
    assert capsys.readouterr().err == line


def test_no_line_is_printed_before_its_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    with Progress(166, [], terminal=None, now_ms=clock) as progress:
        clock.ms = 10_000
        progress.tick()
        clock.ms = 19_999
        progress.tick()

    assert capsys.readouterr().err == "0 of 166 cells\n"


def test_cells_that_were_tried_before_count_but_not_their_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    outcomes = ["survived"] * 8
    with Progress(10, outcomes, terminal=None, now_ms=clock) as progress:
        progress.add("survived")
        clock.ms = 10_000
        progress.tick()

    line = "9 of 10 cells, 9 survived, about 10 s left\n"
    assert capsys.readouterr().err == line


def test_without_a_terminal_there_is_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(2, [], terminal=None) as progress:
        progress.add("survived")

    assert capsys.readouterr().out == ""


def test_a_terminal_has_a_bar_with_outcomes() -> None:
    terminal = Terminal()
    with Progress(4, [], terminal=terminal) as progress:
        add(progress, "survived", 2)
        progress.add("failed")

    assert "3/4" in terminal.getvalue()
    assert "2 survived, 1 failed" in terminal.getvalue()


def test_a_bar_is_cleared_before_a_finding_and_drawn_again() -> None:
    terminal = Terminal()
    with Progress(4, [], terminal=terminal) as progress:
        progress.clear()
        terminal.write("failed  getTeam#1\n")
        progress.add("failed")

    _, _, after = terminal.getvalue().partition("\r\x1b[2Kfailed  getTeam#1\n")
    assert "1/4" in after


def test_a_terminal_gets_no_lines(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    with Progress(4, [], terminal=Terminal(), now_ms=clock) as progress:
        clock.ms = 60_000
        progress.tick()

    assert capsys.readouterr().err == ""
