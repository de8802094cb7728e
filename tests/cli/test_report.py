"""The wording of the report of `exec`, and the form of its JSON."""

from collections import Counter
from typing import Any

from image_workflow_emulator import __version__
from image_workflow_emulator.cli.emitters import as_json
from image_workflow_emulator.cli.exec_report import Execution, report_on
from image_workflow_emulator.cli.observers import RequestCount, Tally, TeamTally
from image_workflow_emulator.scenario.playbook import RuleCounts

OPERATIONS = ("getTeam", "createUpload", "createProductPhotographyGeneration")
REQUESTS = Counter(
    {
        RequestCount("createProductPhotographyGeneration", 402, "insufficient_credits"): 1,
        RequestCount("createProductPhotographyGeneration", 202, None, is_replayed=True): 1,
        RequestCount("createProductPhotographyGeneration", 202, None, is_lost=True): 2,
        RequestCount("createProductPhotographyGeneration", 202, None): 2,
        RequestCount("createProductPhotographyGeneration", None, None, is_lost=True): 1,
        RequestCount("getTeam", 200, None): 4,
        RequestCount(None, 200, None, "upload"): 1,
        RequestCount(None, 404, "not_found"): 3,
    }
)
TALLY = Tally(
    dropped=2,
    rules={("spare", "never"): RuleCounts(2, 0), ("spare", "once"): RuleCounts(4, 1)},
    teams={"Demo": TeamTally(3, 1, 2, 20), "Idle": TeamTally(0, 0, 0, 20), "Other": TeamTally(1, 0, 1, 5)},
    emulator_ms=72_500,
)


def row(operation: str | None, status: int | None, count: int, **more: Any) -> dict[str, Any]:
    told = {"operation": operation, "bytes": None, "status": status, "count": count, "replayed": 0, "lost": 0}
    return {**told, **more}


def report() -> dict[str, Any]:
    run = Execution(
        command=["pytest", "-q"],
        status=1,
        exit_status=1,
        duration_ms=812,
        requests=REQUESTS,
        refusals=[],
        tally=TALLY,
        operations=OPERATIONS,
        conduct=None,
        needs_requests=False,
        readings=(),
        coverage=None,
        least_coverage=None,
    )
    return as_json(report_on(run))


def test_people_read_requests_problems_teams_and_rules_that_never_fired() -> None:
    told = report()
    assert "Image Workflow Emulator: 15 requests, 4 Credits charged, 72.5 s of emulator time" == told["summary"]
    assert [
        ["getTeam", "200: 4"],
        ["createProductPhotographyGeneration", "no answer: 1 (1 lost)  202: 5 (1 replayed, 2 lost)  402: 1"],
        ["upload", "200: 1"],
        ["(no operation)", "404: 3"],
        ["problems", "not_found 3, insufficient_credits 1"],
        ["Demo", "3 Credits charged, 1 reserved for unfinished work; highest concurrency 2 of 20"],
        ["Other", "1 Credit charged; highest concurrency 1 of 5"],
        ["journal", "2 of the requests are no longer in it, but counted here"],
    ] == [list(row) for row in told["tables"][0]["rows"]]
    assert [("rule-never-fired", 'the rule "never" of the scenario spare never fired (it matched 2 times)')] == [
        (finding["rule"], finding["message"]) for finding in told["findings"]
    ]


def test_the_json_has_the_documented_keys() -> None:
    told = report()
    requests, teams, rules = told.pop("requests"), told.pop("teams"), told.pop("rules")
    counts = {"requests_total": 15, "credits_charged": 4, "credits_reserved": 1}
    data = {"exit": 1, "refusals": [], "conduct": {}, "coverage": {"percent": None, "unmet": []}}
    expected = {
        "kind": "exec",
        "ok": False,
        "counts": counts,
        "checked": {},
        "next": ["image-workflow-emulator exec --journal journal.json -- pytest -q"],
        "data": {**data, "rules_never_fired": ["spare: never"]},
        "emulator": __version__,
        "command": ["pytest", "-q"],
        "exit_status": 1,
        "duration_ms": 812,
        "emulator_time_ms": 72_500,
        "requests_total": 15,
        "journal_dropped": 2,
        "problems": {"not_found": 3, "insufficient_credits": 1},
        "credits_charged": 4,
        "credits_reserved": 1,
        "highest_concurrency": 2,
        "readings": [],
        "conduct": None,
    }
    assert expected == {name: value for name, value in told.items() if name not in ("summary", "findings", "tables")}
    assert requests[2] == row("createProductPhotographyGeneration", 202, 5, replayed=1, lost=2)
    assert requests[4:] == [row(None, 200, 1, bytes="upload"), row(None, 404, 3)]
    other = {"credits_charged": 1, "credits_reserved": 0, "highest_concurrency": 1, "concurrency_limit": 5}
    assert teams[-1] == {"name": "Other", **other}
    assert rules[0] == {"scenario": "spare", "name": "never", "matched": 2, "fired": 0}
