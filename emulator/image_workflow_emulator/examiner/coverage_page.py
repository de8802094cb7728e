"""The coverage as a file: JSON, or a self-contained HTML page without scripts, fonts or pictures from elsewhere."""

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

from image_workflow_emulator.examiner.coverage import Coverage, rows

_STYLE: Final = Path(__file__).with_suffix(".css")


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
<style>{_STYLE.read_text("utf-8")}</style>
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
<h2>Next gaps to close</h2>
<div class="panel closing">{"".join(map(_gap, coverage["next_gaps"])) or "none"}</div>
<h2>Operations</h2>
<main>{operations}</main>
</body>
</html>
"""


def _gap(gap: Mapping[str, Any]) -> str:
    return (
        f"<code>{escape(gap['operation'])}</code><b>{escape(gap['point'])}</b><span>{_closing(gap['closed_by'])}</span>"
    )


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
