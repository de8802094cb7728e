"""The wording of the report of `exec`, and the form of its JSON."""

from collections import Counter
from typing import Any

from image_workflow_emulator import __version__
from image_workflow_emulator.cli.observers import RequestCount
from image_workflow_emulator.cli.report import report_on, report_text
from image_workflow_emulator.scenario.playbook import RuleCounts
from image_workflow_emulator.service.sandbox.tally import Tally, TeamTally

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


def report(requests: Counter[RequestCount], tally: Tally) -> Any:
    return report_on(["pytest", "-q"], 1, 812, requests, tally, OPERATIONS)


def test_the_text_tells_everything_in_order() -> None:
    assert report_text(report(REQUESTS, TALLY)) == (
        """\
Image Workflow Emulator: 15 requests, 4 Credits charged, 72.5 s of emulator time
  getTeam                             200: 4
  createProductPhotographyGeneration  no answer: 1 (1 lost)  202: 5 (1 replayed, 2 lost)  402: 1
  upload                              200: 1
  (no operation)                      404: 3
  problems: not_found 3, insufficient_credits 1
  Demo: 3 Credits charged, 1 reserved for unfinished work; highest concurrency 2 of 20
  Other: 1 Credit charged; highest concurrency 1 of 5
  2 of them are no longer in the journal, but counted here
  warning: the rule "never" of the scenario spare never fired (it matched 2 times)"""
    )


def test_the_json_has_the_documented_keys() -> None:
    told = report(REQUESTS, TALLY)
    requests, teams, rules = told.pop("requests"), told.pop("teams"), told.pop("rules")
    assert told == {
        "format": "image-workflow-emulator report",
        "version": 1,
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
    assert requests[2] == row("createProductPhotographyGeneration", 202, 5, replayed=1, lost=2)
    assert requests[4:] == [row(None, 200, 1, bytes="upload"), row(None, 404, 3)]
    other = {"credits_charged": 1, "credits_reserved": 0, "highest_concurrency": 1, "concurrency_limit": 5}
    assert teams[-1] == {"name": "Other", **other}
    assert rules[0] == {"scenario": "spare", "name": "never", "matched": 2, "fired": 0}
