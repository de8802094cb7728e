"""The coverage as a file: JSON, or a self-contained HTML page without scripts, fonts or pictures from elsewhere."""

import json
from collections import Counter
from collections.abc import Mapping
from html import escape
from typing import Any, Final

from emulator.examiner.coverage import Coverage, rows
from emulator.kernel.wording import count_of

_MOST_CLOSING: Final = 8
"""Limit of the listed scenarios that close most gaps."""
_STYLE: Final = """
:root { color-scheme: light dark; --ground: light-dark(#f6f7f9, #0e1015); --card: light-dark(#fff, #161920);
  --sunken: light-dark(#f1f3f6, #1d212a); --line: light-dark(#e3e6eb, #272c37); --text: light-dark(#161a22, #eceef3);
  --quiet: light-dark(#626b7c, #949cac); --met: light-dark(#0b8a4a, #63d795); --gap: light-dark(#d7dbe3, #333947);
  --open: light-dark(#8f4a00, #f5b95f);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 2.5rem 1.5rem 4rem; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.25rem; line-height: 1.3; letter-spacing: -.01em; margin: 0; }
h2 { font-size: 1.05rem; margin: 2.25rem 0 .75rem; } p { margin: 0; } .quiet { color: var(--quiet); }
code { font: 13px/1.5 var(--mono); overflow-wrap: anywhere; }
header { display: flex; gap: 1.5rem 2rem; align-items: center; flex-wrap: wrap; }
.ring { width: 8.5rem; height: 8.5rem; border-radius: 50%; display: grid; place-items: center; flex: none;
  background: radial-gradient(closest-side, var(--ground) 79%, transparent 80%), conic-gradient(var(--met) var(--share), var(--gap) 0); }
.ring b { font-size: 1.9rem; letter-spacing: -.03em; font-variant-numeric: tabular-nums; }
.key { display: flex; gap: 1.25rem; margin-top: .6rem; font-size: .85rem; color: var(--quiet); }
.key i { display: inline-block; margin-right: .4rem; }
i { width: 10px; height: 10px; border-radius: 2.5px; background: var(--gap); } i.met { background: var(--met); }
.panel { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: .75rem 1.1rem; }
.closing { display: grid; grid-template-columns: max-content 1fr max-content; gap: .35rem 1rem; align-items: center; }
.closing span { height: 8px; border-radius: 4px; background: light-dark(#e0972f, #f5b95f); width: var(--share); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
main { background: var(--card); border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
details + details { border-top: 1px solid var(--line); }
summary { display: grid; grid-template-columns: 17rem 1fr 4.5rem; gap: 1rem; align-items: center; padding: .5rem 1.1rem;
  cursor: pointer; list-style: none; }
summary:hover, details[open] > summary { background: var(--sunken); } summary::-webkit-details-marker { display: none; }
.dots { display: flex; flex-wrap: wrap; gap: 3px; }
table { width: 100%; border-collapse: collapse; border-top: 1px solid var(--line); }
td, th { padding: .35rem 1.1rem; text-align: left; vertical-align: top; } tr + tr td { border-top: 1px solid var(--line); }
th { font-weight: 500; color: var(--quiet); font-size: .85rem; } th.number, td.number { text-align: right; width: 5rem; }
td:first-child { white-space: nowrap; } tr.gap td:first-child { color: var(--open); }
tr.met td:first-child::before { content: "\\2713\\00a0"; color: var(--met); } tr.gap td:first-child::before { content: "\\25cb\\00a0"; }
@media (max-width: 44rem) { summary { grid-template-columns: 1fr 4.5rem; } .dots { grid-column: 1 / -1; grid-row: 2; }
  td:first-child { white-space: normal; } }
@media print { details > * { display: block; } }
"""


def coverage_text(coverage: Coverage, suffix: str) -> str:
    """Return the content of a file: the page where its name ends in .html, else JSON."""
    return coverage_page(coverage) if suffix.lower() in (".html", ".htm") else json.dumps(coverage, indent=1) + "\n"


def coverage_page(coverage: Coverage) -> str:
    """Return the page."""
    counts = [(met, of) for _, met, of, _ in rows(coverage)]
    met, total = sum(one for one, _ in counts), sum(of for _, of in counts)
    operations = "".join(_operation(name, operation["points"]) for name, operation in coverage["operations"].items())
    percent = f"{coverage['percent']:g}"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Coverage: {percent} %</title>
<style>{_STYLE}</style>
</head>
<body>
<header>
<div class="ring" style="--share: {percent}%" role="img" aria-label="{percent} percent"><b>{percent} %</b></div>
<div><h1>Coverage of the Image Workflow Service API</h1>
<p>{met} of {total} points covered: statuses and codes, ends of work, output slots, replays, losses.
{coverage["percent_of_used"]:g} % of the operations that were used.</p>
<p class="key"><span><i class="met"></i>covered</span><span><i></i>not yet</span><span>open an operation to see what closes its gaps</span></p>
</div>
</header>
{_closing_most(coverage)}
<h2>Operations</h2>
<main>{operations}</main>
</body>
</html>
"""


def _closing_most(coverage: Coverage) -> str:
    """Show the scenarios of the library that close most gaps."""
    points = (point for operation in coverage["operations"].values() for point in operation["points"])
    closing = Counter(str(point["closed_by"]["scenario"]) for point in points if _is_closed_by_scenario(point))
    if not closing:
        return ""
    most = closing.most_common(_MOST_CLOSING)
    lines = "".join(
        f'<code>{escape(name)}</code><span style="--share: {100 * count // most[0][1]}%"></span>'
        f'<b class="number">{count_of(count, "gap")}</b>'
        for name, count in most
    )
    return f'<h2>Scenarios that close most gaps</h2><div class="panel closing">{lines}</div>'


def _is_closed_by_scenario(point: Mapping[str, Any]) -> bool:
    return not point["met"] and "scenario" in point["closed_by"]


def _dot(point: Mapping[str, Any]) -> str:
    return f'<i class="{"met" if point["met"] else "gap"}" title="{escape(point["point"])}"></i>'


def _operation(name: str, points: list[Mapping[str, Any]]) -> str:
    met = sum(point["met"] > 0 for point in points)
    dots = f'<span class="dots">{"".join(map(_dot, points))}</span>'
    share = f'<span class="number">{met} of {len(points)}</span>'
    heads = '<tr><th>Point</th><th class="number">Times</th><th>What closes the gap</th></tr>'
    lines = "".join(map(_row, points))
    head = f"<summary><code>{escape(name)}</code>{dots}{share}</summary>"
    return f"<details>{head}<table>{heads}{lines}</table></details>\n"


def _row(point: Mapping[str, Any]) -> str:
    kind = "met" if point["met"] else "gap"
    closing = "" if point["met"] else _closing(point["closed_by"])
    return f'<tr class="{kind}"><td>{escape(point["point"])}</td><td class="number">{point["met"]}</td><td>{closing}</td></tr>'


def _closing(closed_by: Mapping[str, Any]) -> str:
    if "scenario" in closed_by:
        return f"the scenario <code>{escape(str(closed_by['scenario']))}</code>"
    if "rule" in closed_by:
        return f"a rule: <code>{escape(json.dumps(closed_by['rule']))}</code>"
    return escape(closed_by.get("request", "the call itself"))
