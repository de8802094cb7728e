"""The wording of the report of `exec`, and the form of its JSON."""

from argparse import Namespace
from collections import Counter
from typing import Any

from image_workflow_emulator.cli.emitters import as_json
from image_workflow_emulator.cli.exec_report import Observed, report_on
from image_workflow_emulator.scenario.playbook import RuleCounts
from tests.support.emulator_client import EmulatorUnderTest

NOT_FOUND: dict[str, Any] = {"operation": "/v1/nothing", "code": "not_found", "count": 3, "remedy": "see the contract"}
UNPAID: dict[str, Any] = {
    "operation": "createEditImagesGeneration",
    "code": "insufficient_credits",
    "count": 1,
    "remedy": None,
}


def report(emulator: EmulatorUnderTest) -> dict[str, Any]:
    seen = Observed((), keeps_entries=False)
    seen.credits_charged, seen.credits_reserved, seen.emulator_ms = 4, 1, 72_500
    seen.judged.update(requests=15, left=2)
    seen.requests = {
        None: {404: Counter(all=3)},
        "createEditImagesGeneration": {
            402: Counter(all=1),
            202: Counter(all=5, replayed=1, lost=2),
            0: Counter(all=1, lost=1),
        },
        "upload": {200: Counter(all=1)},
        "getTeam": {200: Counter(all=4)},
    }
    seen.refusals = {(one["operation"], one["code"]): one for one in (UNPAID, NOT_FOUND)}
    seen.rules = {("spare", "never"): RuleCounts(2, 0), ("spare", "once"): RuleCounts(4, 1)}
    options = Namespace(words=["pytest", "-q"], conduct="report", coverage_fail_under=None)
    return as_json(report_on(options, seen, 1, emulator.application, None))


def test_people_read_requests_problems_and_rules_that_never_fired(emulator: EmulatorUnderTest) -> None:
    told = report(emulator)
    assert "Image Workflow Emulator: 15 requests, 4 Credits charged, 72.5 s of emulator time" == told["summary"]
    assert [
        ["getTeam", "200: 4"],
        ["createEditImagesGeneration", "no answer: 1 (1 lost)  202: 5 (1 replayed, 2 lost)  402: 1"],
        ["upload", "200: 1"],
        ["(no operation)", "404: 3"],
        ["problems", "not_found 3, insufficient_credits 1"],
        ["journal", "2 requests left it before the end, and are not counted"],
    ] == [list(row) for row in told["tables"][0]["rows"]]
    assert [("rule-never-fired", 'the rule "never" of the scenario spare never fired (it matched 2 times)')] == [
        (finding["rule"], finding["message"]) for finding in told["findings"]
    ]


def test_the_json_has_the_documented_keys(emulator: EmulatorUnderTest) -> None:
    told = report(emulator)
    assert {
        "kind": "exec",
        "ok": False,
        "counts": {"requests": 15, "credits_charged": 4, "credits_reserved": 1, "emulator_time_ms": 72_500},
        "checked": {},
        "judged": {"requests": 15, "left": 2},
        "next": ["image-workflow-emulator exec --journal journal.json -- pytest -q"],
        "data": {
            "exit": 1,
            "refusals": [NOT_FOUND, UNPAID],
            "conduct": {},
            "coverage": {"percent": None, "unmet": []},
            "rules_never_fired": ["spare: never"],
        },
    } == {name: value for name, value in told.items() if name not in ("summary", "findings", "tables")}
