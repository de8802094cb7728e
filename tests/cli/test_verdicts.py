"""Commands that judge, or refuse: what they answer programs, add up and ask, and the four forms of their reports."""

import json
from argparse import Namespace
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from image_workflow_emulator.cli.execution import Observed
from image_workflow_emulator.cli.output import MAX_PRINTED_BYTES, conclude
from image_workflow_emulator.report import Report, ReportFinding, ReportTable
from tests.cli.command import ask, asking, request_bytes, run_command
from tests.support.emulator_client import FULL, OTHER, EmulatorUnderTest
from tests.support.served import Outcome, Server

MEMBERS = {"ok", "summary", "findings", "next"}
PARTS = {"rule", "severity", "where", "remedy", "command"}


def answered(outcome: Outcome) -> Any:
    answer = json.loads(outcome.output)
    assert answer.keys() >= MEMBERS
    assert all(finding.keys() >= PARTS for finding in answer["findings"])
    return answer


def run_exec(*words: str, options: tuple[str, ...] = ()) -> Outcome:
    return run_command("exec", "--quiet", "--format", "json", *options, "--", *words)


def test_standard_output_of_exec_is_one_object_and_that_of_the_command_goes_to_standard_error() -> (
    None
):
    outcome = run_exec("sh", "-c", "echo said; exit 3")
    answer = answered(outcome)
    assert (outcome.status, outcome.complaint) == (3, "said\n")
    assert (answer["ok"], answer["data"]["exit"]) == (False, 3)
    assert answer["findings"][0]["rule"] == "no-request"


def test_exec_names_refusals_with_their_remedies_misconduct_gaps_and_rules_that_never_fired(
    tmp_path: Path,
) -> None:
    scenario = tmp_path / "s.yaml"
    scenario.write_text(
        "scenario: s\nrules:\n- name: idle\n  match: {operation: getPose}\n  then: {hold: 1s}\n"
    )
    command = asking(*[("GET", "/v1/products/prd_unknown", None)] * 3)
    answer = answered(run_exec(*command, options=("--scenario", str(scenario))))
    data = answer["data"]
    [refused] = data["refusals"]
    assert (refused["operation"], refused["code"], refused["count"]) == (
        "getProduct",
        "product_not_found",
        3,
    )
    assert refused["remedy"]
    assert data["conduct"] == {"warning": 1}
    assert [finding["rule"] for finding in answer["findings"]] == [
        "retry-of-the-hopeless",
        "rule-never-fired",
    ]
    assert "getProduct 200" in data["coverage"]["unmet"]
    assert data["rules_never_fired"] == ["s: idle"]
    assert answer["ok"] is True


def test_the_object_of_exec_is_at_most_4096_bytes_and_says_what_was_left_out() -> None:
    names = (
        "uploads",
        "products",
        "poses",
        "backgrounds",
        "fashion-models",
        "photography-styles",
    )
    outcome = run_exec(*asking(*(("POST", f"/v1/{name}", {}) for name in names)))
    assert len(outcome.output.encode()) <= 4096
    assert answered(outcome)["not_shown"] > 0


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("coverage", "--format", "json", "no/such.json"), 2),
        (("coverage", "--format=json", "--fail-under", "lots", "x.json"), 2),
        (("drift", "--format", "json", "no/such.har"), 2),
        (
            (
                "requests",
                "show",
                "last",
                "--format",
                "json",
                "--url",
                "http://127.0.0.1:1",
            ),
            1,
        ),
        (("exec", "--format", "json", "--", "no-such-command"), 127),
    ],
)
def test_a_refusal_is_an_object_on_standard_output_beside_the_complaint(
    words: tuple[str, ...], status: int
) -> None:
    outcome = run_command(*words)
    answer = answered(outcome)
    assert (outcome.status, answer["ok"]) == (status, False)
    assert answer["summary"] in outcome.complaint


def test_an_explained_request_says_whether_it_was_refused_and_what_helps(
    server: Server,
) -> None:
    server.converse(request_bytes("GET /v1/products/prd_unknown", ends=True))
    answer = answered(
        run_command("requests", "show", "last", "--format", "json", "--url", server.url)
    )
    assert answer["ok"] is False
    assert answer["findings"][0]["rule"] == answer["code"] == "product_not_found"
    assert answer["findings"][0]["remedy"] == answer["explanation"]["remedy"]


def test_conduct_asks_the_running_emulator(server: Server) -> None:
    clean = run_command("conduct", "--url", server.url)
    assert (0, True) == (
        clean.status,
        clean.output.startswith("0 requests; conduct: nothing wrong; 0 of "),
    )
    ask(server, "/v1/products?api_key=iwe_demo_full")
    judged = run_command("conduct", "--url", server.url, "--format", "json")
    report = json.loads(judged.output)
    assert (1, False, {"requests": 1, "left": 0}) == (
        judged.status,
        report["ok"],
        report["judged"],
    )
    (finding,) = report["findings"]
    assert ("credential-in-request", "error", [1]) == tuple(
        finding[name] for name in ("rule", "severity", "requests")
    )
    assert finding["source"].startswith("Section 5")
    assert 1 == report["checked"]["credential-in-request"]


def test_coverage_asks_the_running_emulator(server: Server) -> None:
    def covered(*options: str) -> Sequence[object]:
        outcome = run_command(
            "coverage", "--url", server.url, "--format", "json", *options
        )
        report = json.loads(outcome.output)
        return (
            outcome.status,
            report["ok"],
            report["judged"]["requests"],
            report["operations"]["getTeam"]["points"][:1],
        )

    ask(server, "/v1/team")
    assert (0, True, 1) == tuple(covered()[:3])
    point = {"point": "200", "covered": 1, "closed_by": {"call": True}}
    assert [1, False, 1, [point]] == list(covered("--fail-under", "99"))


def finish_some_work(emulator: EmulatorUnderTest, key: str = FULL) -> None:
    """One Generation of two images, to its end."""
    emulator.photograph(key, image_count=2)
    emulator.advance(60)


def observed(emulator: EmulatorUnderTest) -> Observed:
    seen = Observed(Namespace(conduct="report", ignore=[], journal=None))
    seen.judge(emulator.sandbox)
    return seen


def test_credits_are_those_of_all_teams(emulator: EmulatorUnderTest) -> None:
    finish_some_work(emulator)
    finish_some_work(emulator, OTHER)
    emulator.photograph(image_count=3)  # which is not finished
    seen = observed(emulator)
    assert (4, 3) == (seen.counts["credits_charged"], seen.counts["credits_reserved"])


def test_what_a_state_file_brings_along_did_not_happen_here(
    emulator: EmulatorUnderTest,
) -> None:
    finish_some_work(emulator)
    emulator.told("PUT", "/state", content=emulator.ask("GET", "/state").body)
    seen = observed(emulator)
    assert (0, 0) == (seen.counts["credits_charged"], seen.counts["emulator_time_ms"])


def test_rules_of_a_shipped_scenario_count_only_when_they_fired(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use({"use": "problem:rate_limited"})
    emulator.get("/team")
    assert [("problem:rate_limited", "first getTeam")] == list(observed(emulator).rules)


# The forms of a report: text, JSON, JUnit XML and a page -------------------------------------------------------------

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
            ReportTable(
                title="Requests",
                columns=("operation", "status"),
                rows=[("getTeam", 200), (None, 404)],
            )
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

    def concluded(
        report: Report, *files: Path, form: str = "text", everything: bool = False
    ) -> tuple[int, str]:
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
    prose = [
        line for line in text.splitlines() if "image-workflow-emulator" not in line
    ]
    assert max(map(len, prose)) <= int(columns)
    said = " ".join(text.split())
    assert said.startswith(
        "4 requests, 1 finding error: double-spend: two orders were paid (requests 3, 4)"
    )
    assert REMEDY in said
    assert "    image-workflow-emulator requests show 3\n" in text
    assert "OPERATION  STATUS\ngetTeam    200\n-          404\n" in text


def test_json_has_what_a_kind_has_beside_the_others_under_its_own_name(
    run: Run,
) -> None:
    report = json.loads(run(a_report(), form="json")[1])
    assert [
        "kind",
        "ok",
        "summary",
        "findings",
        "counts",
        "checked",
        "tables",
        "next",
        "judged",
    ] == list(report)
    assert ({"requests": 4, "left": 0}, "double-spend") == (
        report["judged"],
        report["findings"][0]["rule"],
    )


def test_printed_json_stays_under_16_kib_and_files_hold_everything(
    run: Run, tmp_path: Path
) -> None:
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
    assert ("4", "1", "1") == tuple(
        suite.get(name) for name in ("tests", "failures", "skipped")
    )
    cases = {case.get("name"): [child.tag for child in case] for case in suite}
    assert {
        "outcome": ["system-out"],
        "double-spend": ["failure"],
        "no-backoff": [],
        "list-polled": ["skipped"],
    } == cases
    assert REMEDY in str(suite.findtext(".//failure"))


@pytest.mark.parametrize(
    ("ok", "severity", "failed"), [(True, "error", None), (False, "warning", "outcome")]
)
def test_junit_fails_if_the_report_does(
    run: Run, tmp_path: Path, ok: bool, severity: Any, failed: str | None
) -> None:
    file = tmp_path / "report.xml"
    finding = ReportFinding(
        rule="no-backoff", severity=severity, where=None, message="no pauses"
    )
    run(a_report(ok=ok, findings=[finding]), file)
    failures = [
        case.get("name")
        for case in fromstring(file.read_text()).iter("testcase")
        if case.find("failure") is not None
    ]
    assert [failed] * (failed is not None) == failures


def test_what_clients_and_files_wrote_makes_no_form_invalid(
    run: Run, tmp_path: Path
) -> None:
    finding = ReportFinding(
        rule=HOSTILE,
        severity="note",
        where=HOSTILE,
        message=HOSTILE,
        remedy=HOSTILE,
        command=HOSTILE,
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
