"""The four forms of a report: text, JSON, JUnit XML and a page."""

import json
from argparse import Namespace
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from image_workflow_emulator.cli.output import MAX_PRINTED_BYTES, conclude
from image_workflow_emulator.report import Report, ReportFinding, ReportTable

HOSTILE = 'a\x00\x1b[31m\ud800\ufffe\u202e\n</script><!--"]]>&'
REMEDY = "Send the same request again, with the same Idempotency-Key, until an answer says what became of it."

Run = Callable[..., tuple[int, str]]


def a_report(**fields: Any) -> Report:
    """Return a report with a finding and a table, but for these fields."""
    error = ReportFinding(
        rule="double-spend",
        severity="error",
        where="requests 3, 4",
        message="two orders were paid",
        remedy=REMEDY,
        requests=(3, 4),
        command="image-workflow-emulator requests show 3",
    )
    usual: dict[str, Any] = {
        "kind": "conduct",
        "ok": False,
        "summary": "4 requests, 1 finding",
        "findings": [error],
        "counts": {"requests": 4},
        "checked": {"double-spend": 1, "no-backoff": 2, "list-polled": 0},
        "tables": [
            ReportTable(title="Requests", columns=("operation", "status"), rows=[("getTeam", 200), (None, 404)])
        ],
        "next": ["image-workflow-emulator requests"],
        "details": {"judged": {"requests": 4, "left": 0}},
        "status": 1,
    }
    return Report(**{**usual, **fields})


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Conclude a command with these options; return the status, and what it printed."""
    monkeypatch.delenv("COLUMNS", raising=False)

    def concluded(report: Report, *files: Path, form: str = "text", everything: bool = False) -> tuple[int, str]:
        options = Namespace(report=list(map(str, files)), format=form, all=everything)
        status = conclude(lambda _options, _environment: report, options, {})
        return status, capsys.readouterr().out

    return concluded


@pytest.mark.parametrize("columns", ["80", "50"])
def test_the_text_has_each_finding_and_fits_the_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    status, text = run(a_report())
    assert 1 == status
    prose = [line for line in text.splitlines() if "image-workflow-emulator" not in line]
    assert max(map(len, prose)) <= int(columns)
    said = " ".join(text.split())
    assert said.startswith("4 requests, 1 finding error: double-spend: two orders were paid (requests 3, 4)")
    assert REMEDY in said
    assert "    image-workflow-emulator requests show 3\n" in text
    assert "OPERATION  STATUS\ngetTeam    200\n-          404\n" in text


def test_json_has_what_a_kind_has_beside_the_others_under_its_own_name(run: Run) -> None:
    report = json.loads(run(a_report(), form="json")[1])
    assert ["kind", "ok", "summary", "findings", "counts", "checked", "tables", "next", "judged"] == list(report)
    assert ({"requests": 4, "left": 0}, "double-spend") == (report["judged"], report["findings"][0]["rule"])


def test_printed_json_stays_under_16_kib_and_files_hold_everything(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    cells = [{"cell": f"createProduct#{number}:no_answer"} for number in range(2000)]
    report = a_report(details={"cells": cells})
    _, text = run(report, file, form="json")
    assert MAX_PRINTED_BYTES * 3 / 4 < len(text) <= MAX_PRINTED_BYTES
    shown = json.loads(text)
    assert 2000 == len(shown["cells"]) + shown["not_shown"]
    assert 1 == len(shown["findings"])
    assert cells == json.loads(run(report, form="json", everything=True)[1])["cells"]
    assert cells == json.loads(file.read_text())["cells"]


def test_junit_has_a_case_for_each_rule(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    run(a_report(), file)
    suite = fromstring(file.read_text())[0]
    assert ("4", "1", "1") == tuple(suite.get(name) for name in ("tests", "failures", "skipped"))
    cases = {case.get("name"): [child.tag for child in case] for case in suite}
    assert {
        "outcome": ["system-out"],
        "double-spend": ["failure"],
        "no-backoff": [],
        "list-polled": ["skipped"],
    } == cases
    assert REMEDY in str(suite.findtext(".//failure"))


@pytest.mark.parametrize(("ok", "severity", "failed"), [(True, "error", None), (False, "warning", "outcome")])
def test_junit_fails_if_the_report_does(run: Run, tmp_path: Path, ok: bool, severity: Any, failed: str | None) -> None:
    file = tmp_path / "report.xml"
    finding = ReportFinding(rule="no-backoff", severity=severity, where=None, message="no pauses")
    run(a_report(ok=ok, findings=[finding]), file)
    failures = [
        case.get("name") for case in fromstring(file.read_text()).iter("testcase") if case.find("failure") is not None
    ]
    assert [failed] * (failed is not None) == failures


def test_what_clients_and_files_wrote_makes_no_form_invalid(run: Run, tmp_path: Path) -> None:
    finding = ReportFinding(
        rule=HOSTILE, severity="note", where=HOSTILE, message=HOSTILE, remedy=HOSTILE, command=HOSTILE
    )
    table = ReportTable(title=HOSTILE, columns=(HOSTILE,), rows=[(HOSTILE,)])
    hostile = a_report(
        summary=HOSTILE,
        findings=[finding],
        tables=[table],
        next=[HOSTILE],
        checked={HOSTILE: 0},
        details={HOSTILE: HOSTILE},
    )
    files = [tmp_path / f"report.{suffix}" for suffix in ("json", "xml", "html")]
    _, text = run(hostile, *files)
    assert "\x1b" not in text
    assert HOSTILE == json.loads(files[0].read_text())["summary"]
    assert HOSTILE == json.loads(run(hostile, form="json")[1])["findings"][0]["rule"]
    fromstring(files[1].read_text())
    page = files[2].read_text()
    tags: set[str] = set()
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: tags.add(tag)  # type: ignore[method-assign]
    parser.feed(page)
    assert "pre" in tags
    assert not tags & {"script", "link", "img", "a"}
    assert "http://" not in page
    assert "https://" not in page
