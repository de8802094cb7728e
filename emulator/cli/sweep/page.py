"""The report of a sweep as one page for browsers, self-contained: no script, no network."""

import shlex
from collections.abc import Iterator
from html import escape
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
_STYLE: Final = """
:root { color-scheme: light dark; --ground: light-dark(#f6f7f9, #0e1015); --card: light-dark(#fff, #161920);
  --sunken: light-dark(#f1f3f6, #1d212a); --line: light-dark(#e3e6eb, #272c37); --text: light-dark(#161a22, #eceef3);
  --quiet: light-dark(#626b7c, #949cac); --survived: light-dark(#0b6b3a, #63d795); --survived-soft: light-dark(#d8f2e2, #12301f);
  --failed: light-dark(#8f4a00, #f5b95f); --failed-soft: light-dark(#ffe9c7, #3a290f); --hung: light-dark(#6d28d9, #b79bff);
  --hung-soft: light-dark(#e9ddff, #2c1f4a); --damaged: light-dark(#fff, #2a0b0d); --damaged-soft: light-dark(#c8271b, #ff8b80);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 84rem; padding: 2.5rem 1.5rem 4rem; font: 15px/1.5 system-ui, sans-serif; color: var(--text);
  background: var(--ground); }
h1 { font-size: 1.5rem; line-height: 1.2; letter-spacing: -.01em; margin: 0 0 .35rem; }
h2 { font-size: 1.05rem; margin: 2.5rem 0 .75rem; }
code { font: 13px/1.5 var(--mono); overflow-wrap: anywhere; } .quiet, small { color: var(--quiet); font-weight: 400; } p { margin: 0; }
.survived { --ink: var(--survived); --soft: var(--survived-soft); } .failed { --ink: var(--failed); --soft: var(--failed-soft); }
.hung { --ink: var(--hung); --soft: var(--hung-soft); } .damaged { --ink: var(--damaged); --soft: var(--damaged-soft); }
.bar { display: flex; gap: 3px; height: 10px; margin: 1.75rem 0 1rem; border-radius: 5px; overflow: hidden; }
.bar i { background: var(--soft); flex: var(--n) 0 4px; } .bar .survived, .bar .hung { background: var(--ink); }
.bar .failed { background: light-dark(#e0972f, #f5b95f); }
.counts { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .75rem; margin: 0; padding: 0;
  list-style: none; }
.counts li { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: .75rem 1rem; }
.counts b { display: block; font-size: 1.75rem; line-height: 1.25; font-variant-numeric: tabular-nums; }
.counts small { display: block; line-height: 1.35; }
.panel { background: var(--card); border: 1px solid var(--line); border-radius: 12px; margin-top: .75rem; padding: 1rem; overflow-x: auto; }
table { border-collapse: separate; border-spacing: 2px; } td, th { padding: 0; }
thead .heading { text-align: left; font-size: .8rem; font-weight: 600; color: var(--quiet); padding: 0 .25rem .35rem;
  white-space: nowrap; }
thead .fault { vertical-align: bottom; height: 12.5rem; width: 1.65rem; }
.fault span { writing-mode: vertical-rl; transform: rotate(180deg); font: 12px/1.65rem var(--mono); white-space: nowrap; }
tbody th { text-align: right; padding-right: .75rem; font-weight: 400; white-space: nowrap; position: sticky; left: 0;
  background: var(--card); }
tbody td { width: 1.65rem; height: 1.65rem; text-align: center; border-radius: 5px; font-size: 12px; }
td.gap { width: .75rem; min-width: .75rem; } td.none { background: var(--sunken); opacity: .55; } td.left { color: var(--quiet); }
td.ran { background: var(--soft); color: var(--ink); font-weight: 700; }
td.ran:hover { outline: 2px solid var(--quiet); } tr:hover th code { text-decoration: underline; }
td a { display: block; color: inherit; text-decoration: none; line-height: 1.65rem; }
article, details { background: var(--card); border: 1px solid var(--line); border-radius: 12px; margin: .5rem 0; }
article { padding: .9rem 1.1rem; } article h3 { margin: 0 0 .35rem; font-size: 1rem; } article h3 code { font-size: 14px; }
.tag { display: inline-block; background: var(--soft); color: var(--ink); border-radius: 5px; padding: 0 .5rem; margin-right: .5rem;
  font-size: .8rem; font-weight: 600; line-height: 1.5rem; }
article :is(p, pre) { margin: .5rem 0 0; } summary { padding: .6rem 1.1rem; cursor: pointer; }
details > :not(summary) { margin: 0; padding: 0 1.1rem .8rem 2rem; }
pre { overflow-x: auto; } pre code { display: block; background: var(--sunken); border-radius: 6px; padding: .5rem .75rem;
  white-space: pre-wrap; }
:target { outline: 2px solid var(--quiet); } li { margin: .15rem 0; }
@media print { details > * { display: block; } body { background: none; } }
"""


def as_page(sweep: Sweep) -> str:
    """Return the page."""
    command = escape(shlex.join(sweep.words))
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
            f"<title>Sweep: {command}</title>",
            f"<style>{_STYLE}</style></head><body>",
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
