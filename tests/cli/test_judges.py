"""`conduct` and `coverage` without files: they ask the running emulator."""

import json
from collections.abc import Sequence

from tests.cli.command import ask, run_command
from tests.support.served import Server


def test_conduct_asks_the_running_emulator(server: Server) -> None:
    clean = run_command("conduct", "--url", server.url)
    assert (0, True) == (clean.status, clean.output.startswith("0 requests judged; conduct: nothing wrong; 0 of "))
    ask(server, "/v1/products?api_key=iwe_demo_full")
    judged = run_command("conduct", "--url", server.url, "--format", "json")
    report = json.loads(judged.output)
    assert (1, False, {"requests": 1, "left": 0}) == (judged.status, report["ok"], report["judged"])
    (finding,) = report["findings"]
    assert ("credential-in-request", "error", [1]) == tuple(finding[name] for name in ("rule", "severity", "requests"))
    assert finding["source"].startswith("Section 5")
    assert 1 == report["checked"]["credential-in-request"]


def test_coverage_asks_the_running_emulator(server: Server) -> None:
    def covered(*options: str) -> Sequence[object]:
        outcome = run_command("coverage", "--url", server.url, "--format", "json", *options)
        report = json.loads(outcome.output)
        return outcome.status, report["ok"], report["judged"]["requests"], report["operations"]["getTeam"]["points"][:1]

    ask(server, "/v1/team")
    assert (0, True, 1) == tuple(covered()[:3])
    point = {"point": "200", "covered": 1, "met": 1, "closed_by": {"call": True}}
    assert [1, False, 1, [point]] == list(covered("--fail-under", "99"))
