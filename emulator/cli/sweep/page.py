"""The report of a sweep as one page for browsers, which needs nothing beside itself: no script, no network."""

from collections.abc import Iterator
from html import escape
from typing import Final

from emulator.cli.sweep.matrix import LEFT_OUT, SIGNS, Sweep
from emulator.cli.sweep.runs import OUTCOMES, Run

_WORDS: Final = {sign: outcome for outcome, sign in SIGNS.items()} | {LEFT_OUT: "left out"}
_STYLE: Final = """
:root { color-scheme: light dark; --line: light-dark(#d9dee6, #333a45); --text: light-dark(#1d2430, #e6e9ee);
  --quiet: light-dark(#667085, #98a2b3); --ground: light-dark(#fff, #14181f); --card: light-dark(#f7f8fa, #1b212b);
  --survived: light-dark(#2f9e5b, #37b46b); --failed: light-dark(#e0a100, #f0b429); --hung: #8b5cf6; --damaged: #dc2f45; }
body { margin: 2rem auto; max-width: 80rem; padding: 0 1.5rem; font: 15px/1.5 system-ui, sans-serif; color: var(--text);
  background: var(--ground); }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2.5rem 0 .5rem; }
code { font: .92em ui-monospace, monospace; } p.command { color: var(--quiet); margin: .2rem 0 1.5rem; }
.counts { display: flex; gap: .75rem; flex-wrap: wrap; margin: 0; padding: 0; list-style: none; }
.counts li { background: var(--card); border-left: 4px solid var(--c, var(--line)); border-radius: 6px; padding: .5rem 1rem; }
.counts b { display: block; font-size: 1.6rem; line-height: 1.2; }
.survived { --c: var(--survived); } .failed { --c: var(--failed); } .hung { --c: var(--hung); } .damaged { --c: var(--damaged); }
.matrix { overflow-x: auto; margin-top: 1.5rem; } table { border-collapse: separate; border-spacing: 2px; }
thead th { height: 13.5rem; vertical-align: bottom; padding: 0; }
thead th span { writing-mode: vertical-rl; transform: rotate(180deg); font-weight: 500; white-space: nowrap; }
tbody th { text-align: right; padding-right: .75rem; font-weight: 500; white-space: nowrap; position: sticky; left: 0;
  background: var(--ground); }
td { width: 1.6rem; height: 1.6rem; padding: 0; text-align: center; border-radius: 4px; background: var(--card); }
td.ran { background: var(--c); color: #fff; } td.survived { opacity: .75; } td.left { color: var(--quiet); }
td a { display: block; color: inherit; text-decoration: none; font-weight: 700; line-height: 1.6rem; }
tr:hover th, td:hover { filter: brightness(1.15); outline: 1px solid var(--line); }
article { background: var(--card); border-left: 4px solid var(--c); border-radius: 6px; padding: .75rem 1rem; margin: .75rem 0; }
article:target { outline: 2px solid var(--c); } article h3 { margin: 0; font-size: 1rem; } article p { margin: .25rem 0; }
article pre { margin: .5rem 0 0; padding: .5rem .75rem; overflow-x: auto; background: var(--ground); border-radius: 4px; }
small { color: var(--quiet); font-weight: 400; } details { margin-top: 2rem; } li { margin: .15rem 0; }
"""


def as_page(sweep: Sweep) -> str:
    """Return the page."""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
            f"<title>Sweep: {escape(' '.join(sweep.words))}</title>",
            f"<style>{_STYLE}</style>",
            "<h1>What does it survive?</h1>",
            f'<p class="command"><code>{escape(" ".join(sweep.words))}</code></p>',
            *_counts(sweep),
            *_matrix(sweep),
            *_broken(sweep),
            *_left_out(sweep),
            "</html>\n",
        ]
    )


def _counts(sweep: Sweep) -> Iterator[str]:
    yield '<ul class="counts">'
    for outcome in OUTCOMES:
        yield f'<li class="{outcome}"><b>{sum(run.outcome == outcome for run in sweep.runs)}</b>{outcome}</li>'
    yield f"<li><b>{len(sweep.left_out)}</b>left out</li></ul>"


def _matrix(sweep: Sweep) -> Iterator[str]:
    signs, faults = sweep.signs, sweep.faults
    heads = "".join(f'<th scope="col"><span>{escape(fault)}</span></th>' for fault in faults)
    yield f'<div class="matrix"><table><thead><tr><td></td>{heads}</tr></thead><tbody>'
    for call in sweep.calls:
        cells = "".join(_cell(f"{call}:{fault}", signs.get((call, fault))) for fault in faults)
        yield f'<tr><th scope="row"><code>{escape(call)}</code></th>{cells}</tr>'
    yield "</tbody></table></div>"


def _cell(cell: str, sign: str | None) -> str:
    if sign is None:
        return "<td></td>"
    title = f'title="{escape(cell)}: {_WORDS[sign]}"'
    if sign == LEFT_OUT:
        return f'<td class="left" {title}>–</td>'
    if sign == SIGNS["survived"]:
        return f'<td class="ran survived" {title}>✓</td>'
    return f'<td class="ran {_WORDS[sign]}" {title}><a href="#{escape(cell)}">{sign}</a></td>'


def _broken(sweep: Sweep) -> Iterator[str]:
    if sweep.broken:
        yield "<h2>What it did not survive</h2>"
    for run in sweep.broken:
        yield f'<article class="{run.outcome}" id="{escape(run.cell)}"><h3><code>{escape(run.cell)}</code> {_end(run)}</h3>'
        for finding in run.findings:
            text = f"{finding['severity']} {finding['rule']}: {finding['message']}"
            yield f"<p>{escape(text)}<br><small>{escape(str(finding.get('remedy') or ''))}</small></p>"
        yield f"<pre><code>{escape(sweep.line_to_repeat(run))}</code></pre></article>"


def _end(run: Run) -> str:
    end = "no end in time" if run.status is None else f"status {run.status}"
    return f"<small>{run.outcome}, {end}, {run.seconds:.1f} s</small>"


def _left_out(sweep: Sweep) -> Iterator[str]:
    if not sweep.left_out:
        return
    yield "<details><summary>Left out, since they cannot differ from another</summary><ul>"
    for left in sweep.left_out:
        yield f"<li><code>{escape(str(left.cell))}</code> <small>{escape(left.why)}</small></li>"
    yield "</ul></details>"
