"""The results of a sweep: causes and calls as text for people, and all of it as JSON and JUnit XML. The page is `page`'s."""

import shlex
import shutil
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, structs

from image_workflow_emulator.cli.arguments import PROGRAM
from image_workflow_emulator.cli.invocation import BOLD, DIM, GREEN, RED, YELLOW, Style
from image_workflow_emulator.cli.junit import Case, junit_text
from image_workflow_emulator.cli.sweep.cells import FAULT_NAMES, LOST_AFTER, LOST_BEFORE, Cell, circumstance
from image_workflow_emulator.cli.sweep.gate import Gate
from image_workflow_emulator.cli.sweep.notes import MADE_TWICE, order_of
from image_workflow_emulator.cli.sweep.plan import SweepPlan
from image_workflow_emulator.cli.sweep.runs import OUTCOMES, Outcome, Run
from image_workflow_emulator.cli.verdict import finding, verdict
from image_workflow_emulator.contract import Contract
from image_workflow_emulator.kernel.wording import count_of, first_of

NOT_RUN: Final = "not run"
_SUITE: Final = "image-workflow-emulator.sweep"
_COLOURS: Final[Mapping[str, str]] = {"survived": GREEN, "failed": YELLOW, "hung": RED, "damaged": RED}
_EFFECT_UNKNOWN: Final = set(FAULT_NAMES) - {LOST_BEFORE}


class CommonCause(Struct, frozen=True):
    """What several runs have in common, and the command that repeats one of them."""

    summary: str
    outcome: Outcome
    cells: Sequence[str]
    command: str
    tests: Sequence[str] = ()
    alone: str | None = None
    """The one test that the command runs, since it shows the cause alone."""


class Sweep(Struct, eq=False):
    """The whole report of a sweep. `repeat` holds the options that a repetition has to have; `why_stopped` says by what it was."""

    contract: Contract
    clean: Run
    plan: SweepPlan
    words: Sequence[str]
    repeat: Sequence[str]
    gate: Gate
    why_stopped: str = ""

    @property
    def runs(self) -> list[Run]:
        """The runs that have ended."""
        return self.plan.ended

    def as_json(self) -> dict[str, Any]:
        """Return the report, with what every command that judges answers programs."""
        causes, runs, plan = self.causes, self.runs, self.plan
        found = [
            finding(
                "sweep",
                "warning" if cause.outcome == "failed" else "error",
                first_of(cause.cells),
                cause.summary,
                cause.command,
            )
            for cause in causes
        ]
        is_good = not any(map(self.gate.fails, runs))
        return verdict(self.summary(), found, ok=is_good) | {
            "cells": [structs.asdict(run) | {"cell": str(run.cell)} for run in runs],
            "classes": [
                {"class": name, "stands_for": list(map(str, cells)), "outcome": plan.worst(cells)}
                for name, cells in plan.classes.items()
            ],
            "causes": [structs.asdict(cause) for cause in causes],
            "flaky": [str(run.cell) for run in runs if run.is_flaky],
            "unused_expectations": [structs.asdict(one) for one in self.gate.unused(runs)],
            "left_out": [{"cell": str(cell), "why": why} for cell, why in plan.left_out.items()],
            "not_run": list(map(str, plan.not_run)),
            "command": list(self.words),
            "clean_seconds": self.clean.seconds,
        }

    def line_to_repeat(self, run: Run) -> str:
        """Return the command line that repeats a run, or the shortest part of it that ends so."""
        test = [] if run.alone is None else ["--test", run.alone]
        return shlex.join([PROGRAM, "sweep", *self.repeat, "--only", str(run.cell), *test, "--", *self.words])

    @property
    def causes(self) -> list[CommonCause]:
        """What is to be fixed, the worst first, and of what is equal the most frequent."""
        groups: dict[tuple[str, ...], list[Run]] = {}
        ranks = {run.cell: OUTCOMES.index(run.outcome) for run in self.runs}
        for run in filter(self.gate.is_weakness, self.runs):
            if all(ranks.get(one, 0) < ranks[run.cell] for one in run.cell.smaller):  # else fewer faults suffice
                groups.setdefault(_cause_of(run), []).append(run)
        causes = []
        for runs in sorted(groups.values(), key=lambda runs: (-OUTCOMES.index(runs[0].outcome), -len(runs))):
            runs.sort(key=lambda run: run.alone is None)
            tests = dict.fromkeys(test for run in runs for test in run.tests)
            command, cells = self.line_to_repeat(runs[0]), [str(run.cell) for run in runs]
            causes.append(CommonCause(_summary(runs), runs[0].outcome, cells, command, list(tests), runs[0].alone))
        return causes

    @property
    def outcomes(self) -> list[tuple[Cell, str]]:
        """How the run of each cell ended, in a word; operations are in the order of the contract."""
        order, runs = order_of(self.contract), self.plan.runs
        cells = sorted(self.plan.cells, key=lambda cell: (order.get(cell.operation, -1), cell.number, cell.lasts))
        return [(cell, runs[cell].outcome if cell in runs else NOT_RUN) for cell in cells]

    @property
    def remarks(self) -> list[str]:
        """What is flaky, what was expected and did not occur, and what was not run, each in a sentence."""
        remarks, plan = [], self.plan
        flaky = [run.cell for run in self.runs if run.is_flaky]
        if flaky:
            remarks.append(
                f"flaky: {first_of(flaky)} failed, and did not when repeated: the suite does not always end alike"
            )
        unused = self.gate.unused(self.runs)
        remarks += [f"expected, but did not occur: {one.cell} {one.outcome} ({one.reason})" for one in unused]
        others = sum(map(len, plan.classes.values())) - len(plan.cells)
        if others:
            remarks.append(f"{count_of(others, 'cell')} not run, for which another call stands; --faults all runs them")
        left_out = Counter(plan.left_out.values())
        remarks += [f"left out {count_of(count, 'cell')}: {why}" for why, count in left_out.items()]
        if plan.not_run:
            remarks.append(f"{count_of(len(plan.not_run), 'run')} had not ended when {self.why_stopped}")
        return remarks

    def summary(self) -> str:
        """Return the number of runs by outcome, in words."""
        counts, left = Counter(run.outcome for run in self.runs), len(self.plan.not_run)
        stopped = f"; incomplete: {count_of(left, 'run')} had not ended" if left else ""
        words = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES)
        return f"{count_of(len(self.runs), 'run')}: {words}{stopped}"


def _cause_of(run: Run) -> tuple[str, ...]:
    """Return what runs share that one change of the client would mend."""
    cell = run.cell.then or run.cell
    if run.outcome == "damaged":
        return run.outcome, *run.errors, LOST_AFTER if cell.fault in _EFFECT_UNKNOWN else cell.fault
    if run.outcome == "hung" and (cell.is_silent or cell.lasts):
        return run.outcome, "stall" if cell.is_silent else "+"
    return run.outcome, cell.fault


def _summary(runs: Sequence[Run]) -> str:
    """Say what several runs of one cause have in common."""
    cell, run, (*_, fault) = runs[0].cell, runs[0], _cause_of(runs[0])
    after = circumstance(fault)
    calls = count_of(len({(run.cell.operation, run.cell.number) for run in runs}), "call")
    does = "does" if calls == "1 call" else "do"
    if run.outcome == "failed":
        return f"{calls} {does} not {'succeed' if after.startswith('where') else 'retry'} {after}"
    if MADE_TWICE in run.errors:
        return f"{calls} may be made twice {after}"
    if run.outcome == "damaged":
        return f"{calls} may end in {', '.join(run.errors)} {after}"
    if cell.is_silent:
        return f"{calls} {does} not have a time limit: the run waits for an answer that does not come"
    return f"{calls} {does} not give up while a fault lasts" if cell.lasts else f"{calls} {does} not end {after}"


def told(sweep: Sweep, run: Run, style: Style) -> str:
    """Return the lines about a run that has just ended: its findings, and the command that repeats it."""
    lines = [f"{style(f'{run.outcome:8}', _COLOURS[run.outcome])}  {run.cell}  ({run.end})"]
    lines += dict.fromkeys(f"  {one['severity']} {one['rule']}: {one['message']}" for one in run.findings)
    return "\n".join([*lines, f"  {sweep.line_to_repeat(run)}"]) + "\n"


def as_text(sweep: Sweep, style: Style) -> str:
    """Return what to fix first, the warnings of runs that survived, how each call ended, and what was not run."""
    lines: list[str] = []
    if sweep.causes:
        lines += ["", style("What to fix first", BOLD)]
    for number, cause in enumerate(sweep.causes, start=1):
        lines += [f"{number}. {cause.summary}: {first_of(cause.cells)}"]
        lines += [f"   in {first_of(cause.tests)}"] if cause.tests else []
        lines += [f"   {cause.command}"]
    lines += _warnings(sweep, style)
    lines += ["", style("How the calls of each operation ended", BOLD)]
    lines += _outcomes(sweep, style)
    lines += ["", *sweep.remarks, sweep.summary()]
    return "\n".join(lines) + "\n"


def _outcomes(sweep: Sweep, style: Style) -> Iterator[str]:
    """List the faults of each operation by how their runs ended, in the width of the terminal; with the calls, where these differ."""
    width = max(shutil.get_terminal_size().columns, 40)
    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    for cell, word in sweep.outcomes:
        name = f"{cell.operation}, while the fault lasts (to give up is right)" if cell.lasts else cell.operation
        call = cell.call.removeprefix(cell.operation)
        found.setdefault(name, {}).setdefault(word, {}).setdefault(cell.label, []).append(call)
    for name, by_word in found.items():
        yield name
        for word in (*reversed(OUTCOMES), NOT_RUN):
            shown = [
                f"{fault} ({first_of(calls)})" if sum(fault in faults for faults in by_word.values()) > 1 else fault
                for fault, calls in by_word.get(word, {}).items()
            ]
            rows = textwrap.wrap(", ".join(shown), width - 12, break_on_hyphens=False)
            heads = [f"  {style(f'{word:8}', _COLOURS.get(word, DIM))}  ", *[" " * 12] * len(rows)]
            yield from map(str.__add__, heads, rows)


def _warnings(sweep: Sweep, style: Style) -> Iterator[str]:
    """List what was wrong with runs that survived, each rule once."""
    usual = {one["rule"] for one in sweep.clean.findings}
    survived = [run for run in sweep.runs if run.outcome == "survived"]
    found: dict[str, tuple[str, dict[Cell, None]]] = {}
    for cell, one in ((run.cell, one) for run in survived for one in run.findings):
        if one["severity"] == "warning" and one["rule"] not in usual:
            found.setdefault(one["rule"], (one["message"], {}))[1][cell] = None
    yield from ("", style("Warnings of runs that survived", BOLD)) if found else ()
    yield from (f"{rule}: {message} ({first_of(cells)})" for rule, (message, cells) in found.items())


def as_junit(sweep: Sweep) -> str:
    """Return the report as JUnit XML: a test case for each run; what makes the sweep exit with 1 is a failure."""
    causes = {cell: cause.summary for cause in reversed(sweep.causes) for cell in cause.cells}
    cases = []
    for run in sweep.runs:
        name = str(run.cell)
        if run.outcome == "survived":
            cases.append(Case(name, seconds=run.seconds))
            continue
        findings = [f"{one['severity']} {one['rule']}: {one['message']}" for one in run.findings]
        text = "\n".join([f"{run.outcome}: {run.end}", *findings, sweep.line_to_repeat(run)])
        failure = causes.get(name, f"{name}: {run.outcome}") if sweep.gate.fails(run) else None
        cases.append(Case(name, failure, details=text, kind=run.outcome, seconds=run.seconds))
    cases += [Case(str(cell), skipped=sweep.why_stopped) for cell in sweep.plan.not_run]
    return junit_text(_SUITE, cases)
