"""The forms of a report: text, JSON, JUnit XML and a page."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import pytest

from image_workflow_emulator.console.report_output import (
    MAX_PRINTED_BYTES,
    ReportOutput,
)
from image_workflow_emulator.console.reports import text_lines
from image_workflow_emulator.console.styles import coloured
from image_workflow_emulator.report import Report, ReportFinding, ReportTable
from image_workflow_emulator.sweep.runs import OUTCOMES

HOSTILE = 'a\x00\x1b[31m\ud800\ufffe\u202e\n</script><!--"]]>&'
REMEDY = (
    "Send the same request again, with the same Idempotency-Key, until an answer says "
    "what became of it."
)
DOUBLE_SPEND = ReportFinding(
    rule="double-spend",
    severity="error",
    where="requests 3, 4",
    message="two orders were paid",
    remedy=REMEDY,
    requests=(3, 4),
    command="image-workflow-emulator requests show 3",
)
REQUESTS = ReportTable(
    title="Requests",
    columns=("operation", "status"),
    rows=[("getTeam", 200), (None, 404)],
)


def a_report(**fields: Any) -> Report:
    """A report with a finding and a table, but for these fields."""
    usual: dict[str, Any] = {
        "kind": "conduct",
        "ok": False,
        "summary": "4 requests, 1 finding",
        "findings": [DOUBLE_SPEND],
        "counts": {"requests": 4},
        "checked": {"double-spend": 1, "no-backoff": 2, "list-polled": 0},
        "tables": [REQUESTS],
        "next": ["image-workflow-emulator requests"],
        "details": {"judged": {"requests": 4, "left": 0}},
        "status": 1,
    }
    return Report(**{**usual, **fields})


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


TERSE = ReportOutput(
    is_json=False,
    is_whole=False,
    files=(),
)


def printed_json(
    capsys: pytest.CaptureFixture[str],
    report: Report,
    *,
    is_whole: bool = False,
) -> Any:
    """What is printed as JSON."""
    output = ReportOutput(
        is_json=True,
        is_whole=is_whole,
        files=(),
    )
    output.conclude(report)
    return json.loads(capsys.readouterr().out)


def lines_of(report: Report, width: int = 80) -> list[str]:
    """The lines of the text, without colours."""
    return list(text_lines(report, width))


def test_the_status_is_that_of_the_report() -> None:
    report = a_report(status=3)

    status = TERSE.conclude(report)

    assert status == 3


# Text ---------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [50, 80])
def test_no_prose_is_wider_than_the_terminal(width: int) -> None:
    lines = lines_of(a_report(), width)

    prose = [line for line in lines if "image-workflow-emulator" not in line]
    widest = max(prose, key=len)
    assert len(widest) <= width


def test_the_text_has_the_summary_and_each_finding() -> None:
    lines = lines_of(a_report())

    words = " ".join(lines).split()
    text = " ".join(words)
    assert text.startswith(
        "4 requests, 1 finding error: double-spend: two orders were paid "
        f"(requests 3, 4) remedy: {REMEDY} "
    )


def test_a_command_stays_on_one_line() -> None:
    lines = lines_of(a_report(), width=30)

    assert "    image-workflow-emulator requests show 3" in lines


def test_a_table_has_the_names_of_its_columns() -> None:
    lines = lines_of(a_report())

    assert lines[-4:-1] == ["OPERATION  STATUS", "getTeam    200", "-          404"]


def test_what_two_findings_have_in_common_is_said_once() -> None:
    report = a_report(findings=[DOUBLE_SPEND, DOUBLE_SPEND])

    lines = lines_of(report, width=200)

    assert lines.count(f"    remedy: {REMEDY}") == 1


def test_severities_and_statuses_have_colours() -> None:
    lines = list(text_lines(a_report(), 80, coloured))

    assert lines[1].startswith("  \x1b[31merror\x1b[0m: double-spend")
    assert lines[-3] == "getTeam    \x1b[32m200   \x1b[0m"
    assert lines[-2] == "-          \x1b[33m404   \x1b[0m"


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_each_outcome_of_a_cell_has_a_colour(outcome: str) -> None:
    text = coloured(outcome)

    assert text.startswith("\x1b[")


def test_what_is_printed_elsewhere_than_on_a_terminal_has_no_colours(
    capsys: pytest.CaptureFixture[str],
) -> None:
    TERSE.conclude(a_report())

    printed = capsys.readouterr().out
    assert "\x1b" not in printed


# JSON ---------------------------------------------------------------------------------


def test_json_has_the_members_of_every_report_and_those_of_its_kind(
    capsys: pytest.CaptureFixture[str],
) -> None:
    printed = printed_json(capsys, a_report())

    assert list(printed) == [
        "kind",
        "ok",
        "summary",
        "findings",
        "counts",
        "checked",
        "tables",
        "next",
        "judged",
    ]
    assert printed["judged"] == {"requests": 4, "left": 0}


def test_a_finding_is_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    printed = printed_json(capsys, a_report())

    (finding,) = printed["findings"]
    assert finding["rule"] == "double-spend"


CELLS = [{"cell": f"createProduct#{number}:no_answer"} for number in range(2000)]


def test_printed_json_stays_under_its_limit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = ReportOutput(
        is_json=True,
        is_whole=False,
        files=(),
    )

    output.conclude(a_report(details={"cells": CELLS}))

    text = capsys.readouterr().out
    assert len(text) <= MAX_PRINTED_BYTES
    assert len(text) > MAX_PRINTED_BYTES * 3 / 4


def test_shortened_json_says_how_much_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = a_report(details={"cells": CELLS})

    printed = printed_json(capsys, report)

    assert len(printed["cells"]) + printed["not_shown"] == 2000
    assert len(printed["findings"]) == 1


def test_all_of_the_json_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    report = a_report(details={"cells": CELLS})

    printed = printed_json(capsys, report, is_whole=True)

    assert printed["cells"] == CELLS


# Files --------------------------------------------------------------------------------


def written(report: Report, file: Path) -> str:
    """Write a report to a file, and return its text."""
    output = ReportOutput(
        is_json=False,
        is_whole=False,
        files=[file],
    )
    output.conclude(report)
    return file.read_text()


def junit(report: Report, folder: Path) -> Element:
    """The test suite that a report in JUnit's form has."""
    suites = fromstring(written(report, folder / "report.xml"))
    return suites[0]


def test_a_file_holds_all_of_the_json(tmp_path: Path) -> None:
    report = a_report(details={"cells": CELLS})

    text = written(report, tmp_path / "report.json")

    content = json.loads(text)
    assert content["cells"] == CELLS


def test_a_file_that_cannot_be_written_ends_with_status_2(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "none" / "report.json"
    output = ReportOutput(
        is_json=False,
        is_whole=False,
        files=[file],
    )

    status = output.conclude(a_report(status=0))

    complaint = capsys.readouterr().err
    assert status == 2
    assert "cannot write" in complaint


def test_junit_has_a_case_for_each_rule(tmp_path: Path) -> None:
    suite = junit(a_report(), tmp_path)

    elements = {case.get("name"): [child.tag for child in case] for case in suite}
    assert elements == {
        "double-spend": ["failure"],
        "no-backoff": [],
        "list-polled": ["skipped"],
        "outcome": ["system-out"],
    }


def test_junit_begins_with_the_outcome(tmp_path: Path) -> None:
    suite = junit(a_report(), tmp_path)

    first_case = suite[0]
    assert first_case.get("name") == "outcome"


def test_junit_tells_a_rule_that_was_not_checked_from_one_without_occasion(
    tmp_path: Path,
) -> None:
    report = a_report(
        checked={"no-backoff": 0, "list-polled": 0},
        not_checked=["no-backoff"],
    )

    suite = junit(report, tmp_path)

    reasons = {}
    for case in suite.findall("testcase[skipped]"):
        (skipped,) = case.findall("skipped")
        reasons[case.get("name")] = skipped.get("message")
    assert reasons == {"no-backoff": "not checked", "list-polled": "no occasion"}


def test_junit_counts_its_cases(tmp_path: Path) -> None:
    suite = junit(a_report(), tmp_path)

    assert suite.get("tests") == "4"
    assert suite.get("failures") == "1"
    assert suite.get("skipped") == "1"


def test_a_failure_in_junit_says_what_to_do(tmp_path: Path) -> None:
    suite = junit(a_report(), tmp_path)

    explanation = suite.findtext(".//failure")
    assert explanation is not None
    assert REMEDY in explanation


@pytest.mark.parametrize(
    ("ok", "severity", "failures"),
    [
        pytest.param(True, "error", [], id="an error that is accepted"),
        pytest.param(False, "warning", ["outcome"], id="a warning that is not"),
    ],
)
def test_junit_fails_if_the_report_does(
    tmp_path: Path,
    ok: bool,
    severity: Any,
    failures: list[str],
) -> None:
    finding = ReportFinding(
        rule="no-backoff",
        severity=severity,
        where=None,
        message="no pauses",
    )
    report = a_report(ok=ok, findings=[finding])

    suite = junit(report, tmp_path)

    failed = [case.get("name") for case in suite.findall("testcase[failure]")]
    assert failed == failures


# Hostile texts ------------------------------------------------------------------------


@pytest.fixture
def hostile() -> Report:
    """A report in which all that clients and files wrote is hostile."""
    finding = ReportFinding(
        rule=HOSTILE,
        severity="note",
        where=HOSTILE,
        message=HOSTILE,
        remedy=HOSTILE,
        command=HOSTILE,
    )
    table = ReportTable(
        title=HOSTILE,
        columns=(HOSTILE,),
        rows=[(HOSTILE,)],
    )
    return a_report(
        summary=HOSTILE,
        findings=[finding],
        tables=[table],
        next=[HOSTILE],
        checked={HOSTILE: 0},
        details={HOSTILE: HOSTILE},
    )


def test_a_hostile_text_moves_no_cursor(hostile: Report) -> None:
    lines = lines_of(hostile)

    assert "\x1b" not in "\n".join(lines)


def test_a_hostile_text_is_whole_in_json(
    hostile: Report,
    capsys: pytest.CaptureFixture[str],
) -> None:
    printed = printed_json(capsys, hostile)

    (finding,) = printed["findings"]
    assert finding["rule"] == HOSTILE


def test_a_hostile_text_leaves_xml_well_formed(hostile: Report, tmp_path: Path) -> None:
    suite = junit(hostile, tmp_path)

    assert suite.tag == "testsuite"


def test_a_hostile_text_puts_no_element_into_a_page(
    hostile: Report,
    tmp_path: Path,
) -> None:
    tags = set[str]()

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            tags.add(tag)

    page = written(hostile, tmp_path / "report.html")
    Tags().feed(page)

    assert tags == {"html", "head", "meta", "title", "style", "body", "pre"}
    assert "http://" not in page
    assert "https://" not in page
