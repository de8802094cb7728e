"""The coverage as a file: JSON, or one HTML page that stands by itself: no script, no font and no picture from elsewhere."""

import json
from collections.abc import Mapping
from html import escape
from typing import Any, Final

from emulator.examiner.coverage import Document, rows

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2230; --faint: #667085; --paper: #fbfbfd; --card: #fff; --line: #e3e6ee;
  --met: #2f9e68; --gap: #d9dde8; --some: #c98a1b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf3; --faint: #98a2b6; --paper: #12151d; --card: #1a1f2b;
  --line: #2a3142; --met: #46c48a; --gap: #333c50; --some: #e0ad4f; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 2.5rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.15rem; font-weight: 600; margin: 0; }
header { display: flex; gap: 2rem; align-items: end; flex-wrap: wrap; margin-bottom: 2rem; }
.percent { font-size: 4rem; line-height: 1; font-weight: 700; letter-spacing: -.03em; font-variant-numeric: tabular-nums; }
.faint { color: var(--faint); margin: 0; }
.map { display: flex; flex-wrap: wrap; gap: 3px; margin: 0 0 2rem; }
.map i, .dots i { display: block; width: 9px; height: 9px; border-radius: 2px; background: var(--gap); }
.map i.met, .dots i.met { background: var(--met); }
details { background: var(--card); border: 1px solid var(--line); border-radius: 8px; margin: 0 0 .4rem; }
summary { display: grid; grid-template-columns: minmax(15rem, 1fr) 2fr 4.5rem; gap: 1rem; align-items: center;
  padding: .55rem .9rem; cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary code { font-weight: 600; }
.dots { display: flex; flex-wrap: wrap; gap: 3px; }
.share { text-align: right; font-variant-numeric: tabular-nums; }
table { width: 100%; border-collapse: collapse; border-top: 1px solid var(--line); }
td, th { padding: .35rem .9rem; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 500; color: var(--faint); font-size: .85rem; }
tr:last-child td { border-bottom: 0; }
td.number { text-align: right; font-variant-numeric: tabular-nums; width: 5rem; }
tr.gap td:first-child { color: var(--some); }
tr.met td:first-child::before { content: "\\2713\\00a0"; color: var(--met); }
tr.gap td:first-child::before { content: "\\25cb\\00a0"; }
code { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
@media (max-width: 40rem) { summary { grid-template-columns: 1fr 4.5rem; } .dots { grid-column: 1 / -1; grid-row: 2; } }
"""


def coverage_text(coverage: Document, suffix: str) -> str:
    """Return the content of a file: the page where its name ends in .html, else JSON."""
    return coverage_page(coverage) if suffix.lower() in (".html", ".htm") else json.dumps(coverage, indent=1) + "\n"


def coverage_page(coverage: Document) -> str:
    """Return the page."""
    counts = [(met, of) for _, met, of, _ in rows(coverage)]
    met, total = sum(one for one, _ in counts), sum(of for _, of in counts)
    points = [point for operation in coverage["operations"].values() for point in operation["points"]]
    operations = "".join(_operation(name, operation["points"]) for name, operation in coverage["operations"].items())
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Coverage: {coverage["percent"]:g} %</title>
<style>{_STYLE}</style>
</head>
<body>
<header>
<div class="percent">{coverage["percent"]:g} %</div>
<div><h1>Coverage of the Image Workflow Service API</h1>
<p class="faint">{met} of {total} points met: statuses and codes, ends of work, output slots, replays, losses.</p></div>
</header>
<div class="map" role="img" aria-label="{met} of {total} points met">{"".join(map(_dot, points))}</div>
<main>{operations}</main>
</body>
</html>
"""


def _dot(point: Mapping[str, Any]) -> str:
    return f'<i class="{"met" if point["met"] else "gap"}" title="{escape(point["point"])}"></i>'


def _operation(name: str, points: list[Mapping[str, Any]]) -> str:
    met = sum(point["met"] > 0 for point in points)
    dots = f'<span class="dots">{"".join(map(_dot, points))}</span>'
    share = f'<span class="share">{met} of {len(points)}</span>'
    heads = "<tr><th>Point</th><th>Met</th><th>What closes the gap</th></tr>"
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
    return "the call itself"
