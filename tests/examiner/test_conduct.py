"""Conduct as the control plane shows it: what is judged, what empties it, and when nothing is judged."""

import pytest

from image_workflow_emulator.examiner.conduct import RULES
from tests.examiner.examples import ExampleClient, rules_found
from tests.examiner.rule_examples import EXAMPLES
from tests.playing_scenarios.player import upscale_call
from tests.support.emulator_client import EmulatorUnderTest, Json, MakeEmulator

BROKEN = "retry-before-retry-after"
BREAKS, _ = EXAMPLES[BROKEN]
TIMED = ("retry-before-retry-after", "poll-before-retry-after", "no-backoff")


def conduct(service: EmulatorUnderTest, query: str = "") -> Json:
    return dict(service.told("GET", f"/conduct{query}"))


def test_a_finding_tells_what_was_done_where_it_is_forbidden_and_what_to_do(service: EmulatorUnderTest) -> None:
    ExampleClient(service).play(BREAKS)
    (finding,) = conduct(service)["findings"]
    assert {"rule", "severity", "message", "source", "requests", "client", "remedy"} == finding.keys()
    entry = service.told("GET", f"/requests/{finding['requests'][0]}")
    assert {"credential": entry["credential"]["id"], "user_agent": entry["user_agent"]} == finding["client"]
    assert "error" == finding["severity"]
    assert "Retry-After of 10 s of the 429 rate_limited" in finding["message"]
    first, second = finding["requests"]
    assert [429, 202] == [service.told("GET", f"/requests/{sequence}")["status"] for sequence in (first, second)]


NOTHING = {
    "findings": [],
    "checked": {rule.name: 0 for rule in RULES},
    "not_checked": [],
    "judged": {"requests": 0, "left": 0},
}


@pytest.mark.parametrize("ends", ["clear", "reset", "load"])
def test_a_cleared_journal_a_reset_and_a_load_clear_the_verdict(service: EmulatorUnderTest, ends: str) -> None:
    ExampleClient(service).play(BREAKS)
    assert [BROKEN] == rules_found(service)
    if ends == "clear":
        service.ask("DELETE", "/requests")
    elif ends == "reset":
        service.ask("POST", "/reset")
    else:
        service.ask("PUT", "/state", content=service.ask("GET", "/state").body)
    assert NOTHING == conduct(service)
    assert 0 == service.told("GET", "/coverage")["percent"]
    ExampleClient(service).play(EXAMPLES["credential-sent-to-bytes"][0])
    assert ["credential-sent-to-bytes"] == rules_found(service)


def test_what_left_the_journal_is_not_judged_but_counted(make_emulator: MakeEmulator) -> None:
    service = make_emulator(clock="manual", journal_requests=30)
    ExampleClient(service).play(BREAKS)
    assert ([BROKEN], 0) == (rules_found(service), conduct(service)["judged"]["left"])
    for _ in range(30):
        service.get("/products")
    shown, covered = conduct(service), service.told("GET", "/coverage")
    assert ([], 30) == (shown["findings"], shown["judged"]["requests"])
    assert 0 < shown["judged"]["left"]
    assert shown["judged"] == covered["judged"]
    assert 30 == sum(point["covered"] for one in covered["operations"].values() for point in one["points"])


def test_an_auto_clock_takes_every_wait_so_no_timed_rule_is_checked(make_emulator: MakeEmulator) -> None:
    service = make_emulator(clock="auto")
    for example in (BREAKS, EXAMPLES["poll-before-retry-after"][0]):
        ExampleClient(service).play(example)
    shown = conduct(service)
    assert [] == [finding for finding in shown["findings"] if finding["rule"] in TIMED]
    assert dict.fromkeys(TIMED, 0) == {name: shown["checked"][name] for name in TIMED}


def test_what_is_left_undone_is_found_ten_minutes_later(service: EmulatorUnderTest) -> None:
    service.admitted_upscale()
    service.advance(600)
    assert [] == rules_found(service, "")
    service.advance(10)
    assert ["abandoned-work"] == rules_found(service, "")


def test_a_loop_is_one_finding_and_counted_with_each_turn(service: EmulatorUnderTest) -> None:
    work = service.admitted_upscale()
    for path in (f"/generations/{work['id']}", "/assets/none"):
        for _ in range(4):
            service.get(path)
    shown = conduct(service)
    named = {finding["rule"]: len(finding["requests"]) for finding in shown["findings"]}
    assert {"poll-before-retry-after": 4, "retry-of-the-hopeless": 3} == named
    assert [3, 4] == [shown["checked"][rule] for rule in named]


def test_a_request_that_comes_again_late_is_found_no_more(service: EmulatorUnderTest) -> None:
    asset = service.assets(1)[0]
    service.rule({"operation": "createUpscaleGeneration"}, {"problem": "service_unavailable"}, {"nth": 1})
    service.send(upscale_call(asset, "k"))
    assert ["gave-up-on-retryable"] == rules_found(service)
    service.advance(5)
    service.send(upscale_call(asset, "k"))
    assert [] == rules_found(service, "")
