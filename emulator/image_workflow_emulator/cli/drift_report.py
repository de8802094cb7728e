"""What `drift` found, for people, for a browser, and for the page on which a CI shows tests."""

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any, Final

from image_workflow_emulator.cli.invocation import json_or_page
from image_workflow_emulator.cli.verdict import finding, verdict
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.kernel.wording import count_of, first_of

if TYPE_CHECKING:
    from image_workflow_emulator.drift.judgement import DecisionRow, Report

SUITE: Final = "image-workflow-emulator.drift"
_WORDS: Final = {
    "other": "the service has another reading than the emulator",
    "neither": "no reading explains what the service did",
    "breach": "the service contradicts the specification",
    "bug": "a defect of the emulator",
}
FAILS_ON: Final = tuple(_WORDS)
"""What makes the command exit with 1, unless `--fail-on` says otherwise."""
_MAX_PLACES: Final = 3


def fails(report: "Report", fail_on: tuple[str, ...]) -> bool:
    """Whether there is something that makes the command fail."""
    found = {row.verdict for row in report.rows} | {kind for kind, group in report.groups.items() if group}
    return not found.isdisjoint(fail_on)


def as_json(report: "Report", *, ok: bool) -> dict[str, Any]:
    """Return the report for programs."""
    pin = "image-workflow-emulator drift --pin image-workflow.readings.yaml FILE"
    found = []
    for row in _telling(report):
        remedy = f"read it as {row.reading}" if row.reading else row.what
        found.append(finding(row.decision, "warning", "; ".join(row.where), remedy, pin))
    for rule, group in report.groups.items():
        found += [finding(rule, "error", one.place, one.words) for one in group]
    summary = f"{count_of(report.compared, 'call')} compared, {count_of(len(found), 'difference')}"
    return {**verdict(summary, found, ok=ok), **report.as_json()}


def lines(report: "Report") -> Iterator[str]:
    """Iterate over the lines of the report for people: what differs first, what was not told last."""
    yield f"compared {report.compared} calls" + (f"; {report.noise} left aside" if report.noise else "")
    for row in _telling(report):
        name = f"{row.decision}={row.reading}" if row.reading else row.decision
        what = f": {row.what}" if row.what else ""
        yield f"{row.verdict:9}{name}  seen {row.seen} times{what}  ({_places(row)})"
    for kind, group in report.groups.items():
        yield from (f"{kind:9}{one}" for one in group)
    told = [row.decision for row in report.rows if row.verdict == "assumed"]
    untold = [row.decision for row in report.rows if row.verdict == "untold"]
    if told:
        yield f"as assumed: {', '.join(told)}"
    if untold:
        yield f"not told by this recording: {', '.join(untold)}"


def _telling(report: "Report") -> Iterator["DecisionRow"]:
    """Iterate over the decisions that are not as assumed."""
    return (row for verdict in ("other", "neither") for row in report.rows if row.verdict == verdict)


def _places(row: "DecisionRow") -> str:
    return first_of(row.where, _MAX_PLACES, "; ")


# Files ----------------------------------------------------------------------------------------------------------------


def content_of(report: "Report", option: str, suffix: str, source: str) -> str:
    """Return what is written to the file of an option: `report`, `junit` or `pin`. `source`: what was judged."""
    if option == "report":
        return json_or_page(suffix, report.as_json(), lambda: _page(report))
    return _junit(report) if option == "junit" else _pinned(report, source)


_PIN_HEAD: Final = "# What is known of the real service. Written by `image-workflow-emulator drift --pin`.\n"


def _pinned(report: "Report", source: str) -> str:
    """Return the readings that were found as a readings file."""
    import yaml

    found = [row for row in report.rows if row.verdict == "other"]
    evidence = {
        row.decision: {"seen": row.seen, "of": row.of, "last": format_timestamp(row.last), "from": source}
        for row in found
    }
    content = {"readings": {row.decision: row.reading for row in found}, "evidence": evidence}
    return _PIN_HEAD + yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def _junit(report: "Report") -> str:
    """Return the report as JUnit XML: a test case for each decision, and for the breaches, differences and defects."""
    from image_workflow_emulator.cli.junit import Case, junit_text

    cases = []
    for row in report.rows:
        skipped = "not told by this recording" if row.verdict == "untold" else None
        words = _WORDS.get(row.verdict)
        failure = f"{words}: {row.reading or row.what}" if words else None
        cases.append(Case(row.decision, failure, skipped, _places(row) if words else ""))
    found = [(kind, group) for kind, group in report.groups.items() if group]
    cases += [Case(kind, _WORDS[kind], details="\n".join(map(str, group))) for kind, group in found]
    return junit_text(SUITE, cases)


def _page(report: "Report") -> str:
    """Return the report as one page for browsers, self-contained: no script, no network."""
    rows = "".join(
        f"<tr class={row.verdict}><th>{escape(row.decision)}<td>{row.verdict}<td>{escape(row.reading or '')}"
        f"<td>{row.seen}<td>{escape(row.what)}<td>{escape('; '.join(row.where))}"
        for row in report.rows
    )
    found = "".join(f"<li><b>{kind}</b> {escape(str(one))}" for kind, group in report.groups.items() for one in group)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Drift</title><style>{_STYLE}</style><h1>Is it like this in production?</h1>"
        f"<p>{report.compared} calls were compared, {report.noise} left aside.</p><ul>{found}</ul>"
        "<table><thead><tr><th>Decision<th>Verdict<th>Reading<th>Seen<th>What<th>Where</thead>"
        f"<tbody>{rows}</tbody></table>\n"
    )


_STYLE: Final = """
:root { color-scheme: light dark; } body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .3rem .6rem; vertical-align: top;
  border-bottom: 1px solid #8884; } .other, .neither { background: #f5a62322; } .untold { opacity: .6; }
"""
