"""The report of a sweep as one page for browsers, self-contained: no script, no network."""

import shlex
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Final

from emulator.cli.sweep.matrix import LEFT_OUT, NOT_RUN, SIGNS, Sweep
from emulator.cli.sweep.runs import OUTCOMES, Run

_WORDS: Final = {sign: outcome for outcome, sign in SIGNS.items()} | {LEFT_OUT: "left out", NOT_RUN: "not run"}
_SURVIVED: Final = "✓"
_MEANINGS: Final = {
    "survived": "the command succeeded all the same",
    "failed": "it exited with another status",
    "hung": "it did not end in time, twice",
    "damaged": "it did what costs money or leaks a key",
}
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
            *(["<p>Incomplete: the sweep was stopped before all runs had ended.</p>"] if sweep.not_run else []),
            *_counts(sweep),
            *_matrix(sweep),
            *_broken(sweep),
            *_left_out(sweep),
            "</body></html>\n",
        ]
    )


def _counts(sweep: Sweep) -> Iterator[str]:
    counts = {outcome: sum(run.outcome == outcome for run in sweep.runs) for outcome in OUTCOMES}
    parts = "".join(f'<i class="{outcome}" style="--n: {count}"></i>' for outcome, count in counts.items() if count)
    yield f'<div class="bar" role="img" aria-label="{escape(sweep.summary())}">{parts}</div><ul class="counts">'
    for outcome, count in counts.items():
        tag = f'<span class="tag {outcome}">{SIGNS[outcome] if outcome != "survived" else _SURVIVED}</span>'
        yield f"<li><b>{count}</b>{tag}{outcome}<small>{_MEANINGS[outcome]}</small></li>"
    yield "</ul>"


def _matrix(sweep: Sweep) -> Iterator[str]:
    signs, columns = sweep.signs, sweep.columns
    gap = '<td class="gap"></td>'
    headings = gap.join(f'<th class="heading" colspan="{len(under)}">{heading}</th>' for heading, under in columns)
    faults = gap.join("".join(_head(fault) for fault in under) for _, under in columns)
    yield f'<div class="panel"><table><thead><tr><td></td>{headings}</tr><tr><td></td>{faults}</tr></thead><tbody>'
    for call in sweep.calls:
        cells = gap.join(
            "".join(_cell(f"{call}:{fault}", signs.get((call, fault))) for fault in under) for _, under in columns
        )
        yield f'<tr><th scope="row"><code>{escape(call)}</code></th>{cells}</tr>'
    yield "</tbody></table></div>"


def _head(fault: str) -> str:
    return f'<th class="fault" scope="col"><span>{escape(fault)}</span></th>'


def _cell(cell: str, sign: str | None) -> str:
    if sign is None:
        return '<td class="none"></td>'
    title = f'title="{escape(cell)}: {_WORDS[sign]}"'
    if sign in (LEFT_OUT, NOT_RUN):
        return f'<td class="left" {title}>{"–" if sign == LEFT_OUT else sign}</td>'
    if sign == SIGNS["survived"]:
        return f'<td class="ran survived" {title}>{_SURVIVED}</td>'
    return f'<td class="ran {_WORDS[sign]}" {title}><a href="#{escape(cell)}">{sign}</a></td>'


def _broken(sweep: Sweep) -> Iterator[str]:
    """Show runs that are worse than failed in full; failures, most of which are right, are folded."""
    worse = [run for run in sweep.broken if run.outcome != "failed"]
    failed = [run for run in sweep.broken if run.outcome == "failed"]
    if worse:
        yield "<h2>What has to be mended</h2>"
    for run in worse:
        yield f'<article class="{run.outcome}" id="{escape(run.cell)}"><h3>{_end(run)}</h3>{_details(sweep, run)}</article>'
    if failed:
        yield '<h2>What it did not survive</h2><p class="quiet">Under “Somebody has to act” that is right, if it failed at once.</p>'
    for run in failed:
        yield f'<details class="failed" id="{escape(run.cell)}"><summary>{_end(run)}</summary>{_details(sweep, run)}</details>'


def _details(sweep: Sweep, run: Run) -> str:
    findings = "".join(
        f"<p>{escape(finding['severity'])} <b>{escape(finding['rule'])}</b>: {escape(finding['message'])}<br>"
        f"<small>{escape(str(finding.get('remedy') or ''))}</small></p>"
        for finding in run.findings
    )
    return f"{findings}<pre><code>{escape(sweep.line_to_repeat(run))}</code></pre>"


def _end(run: Run) -> str:
    tag = f'<span class="tag">{run.outcome}</span>'
    return f"{tag}<code>{escape(run.cell)}</code> <small>{run.end}</small>"


def _left_out(sweep: Sweep) -> Iterator[str]:
    if not sweep.left_out:
        return
    yield "<h2>What was left out, since it cannot differ from another</h2>"
    for why, cells in sweep.left_out_by_reason.items():
        listed = ", ".join(f"<code>{escape(str(cell))}</code>" for cell in cells)
        yield f"<details><summary>{len(cells)}: {escape(why)}</summary><p>{listed}</p></details>"
