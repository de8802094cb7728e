"""The report of a sweep as one page for browsers, self-contained: no script, no network."""

import shlex
from collections.abc import Iterator
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Final

from image_workflow_emulator.cli.sweep.cells import FAULT_NAMES
from image_workflow_emulator.cli.sweep.matrix import Sweep
from image_workflow_emulator.cli.sweep.runs import OUTCOMES
from image_workflow_emulator.domain.problems import CATALOGUE

_SIGNS: Final = {"survived": "✓", "failed": "F", "hung": "H", "damaged": "D"}
_STYLE: Final = Path(__file__).with_suffix(".css")


def as_page(sweep: Sweep) -> str:
    """Return the page."""
    command = escape(shlex.join(sweep.words))
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
            f"<title>Sweep: {command}</title>",
            f"<style>{_STYLE.read_text('utf-8')}</style></head><body>",
            "<h1>What does it survive?</h1>",
            f'<p class="quiet"><code>{command}</code>, {sweep.clean.seconds:.1f} s without a fault</p>',
            *(
                [f"<p>Incomplete: {escape(sweep.why_stopped)} before all runs had ended.</p>"]
                if sweep.plan.not_run
                else []
            ),
            f"<p>{escape(sweep.summary())}</p>",
            *_causes(sweep),
            *_matrix(sweep),
            *_broken(sweep),
            *_left_out(sweep),
            "</body></html>\n",
        ]
    )


def _causes(sweep: Sweep) -> Iterator[str]:
    if sweep.causes:
        yield "<h2>What to fix first</h2>"
    for cause in sweep.causes:
        cells = ", ".join(f'<a href="#{escape(cell)}"><code>{escape(cell)}</code></a>' for cell in cause.cells)
        tests = f"<p><small>in {escape(', '.join(cause.tests))}</small></p>" if cause.tests else ""
        yield f'<article class="{cause.outcome}"><h3>{escape(cause.summary)}</h3><p>{cells}</p>{tests}{_command(cause.command)}</article>'


def _matrix(sweep: Sweep) -> Iterator[str]:
    order = [*CATALOGUE, *FAULT_NAMES]
    met = {cell.label for cell, _ in sweep.outcomes}
    faults = sorted(met, key=lambda fault: (order.index(fault) if fault in order else len(order), fault))
    heads = "".join(f'<th class="fault" scope="col"><span>{escape(fault)}</span></th>' for fault in faults)
    yield f'<div class="panel"><table><thead><tr><td></td>{heads}</tr></thead><tbody>'
    for call, row in groupby(sweep.outcomes, key=lambda found: found[0].call):
        words = {cell.label: word for cell, word in row}
        cells = "".join(_cell(f"{call}:{fault}", words.get(fault)) for fault in faults)
        yield f'<tr><th scope="row"><code>{escape(call)}</code></th>{cells}</tr>'
    yield "</tbody></table></div>"


def _cell(cell: str, word: str | None) -> str:
    if word is None:
        return '<td class="none"></td>'
    title = f'title="{escape(cell)}: {word}"'
    if word in _SIGNS:
        sign = _SIGNS[word] if word == "survived" else f'<a href="#{escape(cell)}">{_SIGNS[word]}</a>'
        return f'<td class="ran {word}" {title}>{sign}</td>'
    return f'<td class="left" {title}>?</td>'


def _broken(sweep: Sweep) -> Iterator[str]:
    """Show each run that did not survive, folded."""
    broken = sorted(
        (run for run in sweep.runs if run.outcome != "survived"), key=lambda run: -OUTCOMES.index(run.outcome)
    )
    if broken:
        yield '<h2>What it did not survive</h2><p class="quiet">Where a fault lasts, or no client can mend it, that is right if it failed at once.</p>'
    for run in broken:
        cell = escape(str(run.cell))
        findings = "".join(
            f"<p>{escape(finding['severity'])} <b>{escape(finding['rule'])}</b>: {escape(finding['message'])}<br>"
            f"<small>{escape(str(finding.get('remedy') or ''))}</small></p>"
            for finding in run.findings
        )
        end = f'<span class="tag">{run.outcome}</span><code>{cell}</code> <small>{run.end}</small>'
        details = findings + _command(sweep.line_to_repeat(run))
        yield f'<details class="{run.outcome}" id="{cell}"><summary>{end}</summary>{details}</details>'


def _command(line: str) -> str:
    return f"<pre><code>{escape(line)}</code></pre>"


def _left_out(sweep: Sweep) -> Iterator[str]:
    if sweep.remarks:
        yield "<h2>What was not run</h2>"
    yield from (f"<p>{escape(remark)}</p>" for remark in sweep.remarks)
