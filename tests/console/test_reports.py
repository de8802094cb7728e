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


def printed_json(
    capsys: pytest.CaptureFixture[str],
    report: Report,
    *,
    is_whole: bool = False,
) -> Any:
    ReportOutput(True, is_whole, ()).conclude(report)
    return json.loads(capsys.readouterr().out)


def test_the_status_is_that_of_the_report() -> None:
    assert ReportOutput(False, False, ()).conclude(a_report(status=3)) == 3


# Text ---------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [50, 80])
def test_no_prose_is_wider_than_the_terminal(width: int) -> None:
    lines = list(text_lines(a_report(), width))
    prose = [line for line in lines if "image-workflow-emulator" not in line]

    assert max(map(len, prose)) <= width


def test_the_text_has_the_summary_and_each_finding() -> None:
    text = " ".join(" ".join(text_lines(a_report(), 80)).split())

    assert text.startswith(
        "4 requests, 1 finding error: double-spend: two orders were paid "
        f"(requests 3, 4) remedy: {REMEDY} "
    )


def test_a_command_stays_on_one_line() -> None:
    lines = list(text_lines(a_report(), 30))

    assert "    image-workflow-emulator requests show 3" in lines


def test_a_table_has_the_names_of_its_columns() -> None:
    lines = list(text_lines(a_report(), 80))

    assert lines[-4:-1] == ["OPERATION  STATUS", "getTeam    200", "-          404"]


def test_what_two_findings_have_in_common_is_said_once() -> None:
    lines = list(text_lines(a_report(findings=[DOUBLE_SPEND, DOUBLE_SPEND]), 200))

    assert lines.count(f"    remedy: {REMEDY}") == 1


def test_severities_and_statuses_have_colours() -> None:
    lines = list(text_lines(a_report(), 80, coloured))

    assert lines[1].startswith("  \x1b[31merror\x1b[0m: double-spend")
    assert lines[-3] == "getTeam    \x1b[32m200   \x1b[0m"
    assert lines[-2] == "-          \x1b[33m404   \x1b[0m"


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_each_outcome_of_a_cell_has_a_colour(outcome: str) -> None:
    assert coloured(outcome).startswith("\x1b[")


def test_what_is_printed_elsewhere_than_on_a_terminal_has_no_colours(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ReportOutput(False, False, ()).conclude(a_report())

    assert "\x1b" not in capsys.readouterr().out


# JSON ---------------------------------------------------------------------------------


def test_json_has_the_members_of_every_report_and_those_of_its_kind(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = printed_json(capsys, a_report())
    common = ["kind", "ok", "summary", "findings", "counts", "checked", "tables"]

    assert list(report) == [*common, "next", "judged"]
    assert report["judged"] == {"requests": 4, "left": 0}


def test_a_finding_is_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    (finding,) = printed_json(capsys, a_report())["findings"]

    assert finding["rule"] == "double-spend"


CELLS = [{"cell": f"createProduct#{number}:no_answer"} for number in range(2000)]


def test_printed_json_stays_under_its_limit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ReportOutput(True, False, ()).conclude(a_report(details={"cells": CELLS}))
    text = capsys.readouterr().out

    assert len(text) <= MAX_PRINTED_BYTES
    assert len(text) > MAX_PRINTED_BYTES * 3 / 4


def test_shortened_json_says_how_much_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = printed_json(capsys, a_report(details={"cells": CELLS}))

    assert len(report["cells"]) + report["not_shown"] == 2000
    assert len(report["findings"]) == 1


def test_all_of_the_json_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    report = printed_json(capsys, a_report(details={"cells": CELLS}), is_whole=True)

    assert report["cells"] == CELLS


# Files --------------------------------------------------------------------------------


def written(report: Report, file: Path) -> str:
    ReportOutput(False, False, [file]).conclude(report)
    return file.read_text()


def junit(report: Report, folder: Path) -> Element:
    return fromstring(written(report, folder / "report.xml"))[0]


def test_a_file_holds_all_of_the_json(tmp_path: Path) -> None:
    text = written(a_report(details={"cells": CELLS}), tmp_path / "report.json")

    assert json.loads(text)["cells"] == CELLS


def test_a_file_that_cannot_be_written_ends_with_status_2(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = ReportOutput(False, False, [tmp_path / "none" / "report.json"])

    assert output.conclude(a_report(status=0)) == 2
    assert "cannot write" in capsys.readouterr().err


def test_junit_has_a_case_for_each_rule(tmp_path: Path) -> None:
    suite = junit(a_report(), tmp_path)
    cases = {case.get("name"): [child.tag for child in case] for case in suite}

    assert cases == {
        "double-spend": ["failure"],
        "no-backoff": [],
        "list-polled": ["skipped"],
        "outcome": ["system-out"],
    }


def test_junit_begins_with_the_outcome(tmp_path: Path) -> None:
    suite = junit(a_report(), tmp_path)
    assert suite[0].get("name") == "outcome"


def test_junit_tells_a_rule_that_was_not_checked_from_one_without_occasion(
    tmp_path: Path,
) -> None:
    rules = {"no-backoff": 0, "list-polled": 0}
    suite = junit(a_report(checked=rules, not_checked=["no-backoff"]), tmp_path)
    reasons = {
        case.get("name"): [skipped.get("message") for skipped in case.iter("skipped")]
        for case in suite
    }
    assert reasons["no-backoff"] == ["not checked"]
    assert reasons["list-polled"] == ["no occasion"]


def test_junit_counts_its_cases(tmp_path: Path) -> None:
    suite = junit(a_report(), tmp_path)

    assert suite.get("tests") == "4"
    assert suite.get("failures") == "1"
    assert suite.get("skipped") == "1"


def test_a_failure_in_junit_says_what_to_do(tmp_path: Path) -> None:
    suite = junit(a_report(), tmp_path)

    assert REMEDY in str(suite.findtext(".//failure"))


@pytest.mark.parametrize(
    ("ok", "severity", "failures"),
    [(True, "error", []), (False, "warning", ["outcome"])],
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
    suite = junit(a_report(ok=ok, findings=[finding]), tmp_path)
    failed = [case for case in suite if case.find("failure") is not None]

    assert [case.get("name") for case in failed] == failures


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
    table = ReportTable(title=HOSTILE, columns=(HOSTILE,), rows=[(HOSTILE,)])
    return a_report(
        summary=HOSTILE,
        findings=[finding],
        tables=[table],
        next=[HOSTILE],
        checked={HOSTILE: 0},
        details={HOSTILE: HOSTILE},
    )


def test_a_hostile_text_moves_no_cursor(hostile: Report) -> None:
    assert "\x1b" not in "\n".join(text_lines(hostile, 80))


def test_a_hostile_text_is_whole_in_json(
    hostile: Report,
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = printed_json(capsys, hostile)

    assert report["findings"][0]["rule"] == HOSTILE


def test_a_hostile_text_leaves_xml_well_formed(hostile: Report, tmp_path: Path) -> None:
    assert junit(hostile, tmp_path).tag == "testsuite"


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
