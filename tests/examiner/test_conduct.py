"""Conduct as the control plane shows it: what it outlives, what empties it, and when nothing is judged."""

from threading import Event

import pytest

from image_workflow_emulator.examiner import examiner
from image_workflow_emulator.examiner.rules.registry import RULES
from image_workflow_emulator.service.records import journal
from tests.examiner.examples import ExampleClient, rules_found
from tests.examiner.rule_examples import EXAMPLES
from tests.playing_scenarios.player import upscale_call
from tests.support.emulator_client import EmulatorUnderTest, Json, MakeEmulator

BREAKS, _ = EXAMPLES["retry-before-retry-after"]
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


def test_findings_outlive_the_journal_and_end_with_a_reset(service: EmulatorUnderTest) -> None:
    ExampleClient(service).play(BREAKS)
    before = conduct(service)
    service.ask("DELETE", "/requests")
    assert before == conduct(service)
    service.ask("POST", "/reset")
    assert {"findings": [], "checked": {rule.name: 0 for rule in RULES}} == conduct(service)


def test_a_loaded_state_brings_no_findings_and_its_requests_are_judged_anew(service: EmulatorUnderTest) -> None:
    ExampleClient(service).play(BREAKS)
    service.ask("PUT", "/state", content=service.ask("GET", "/state").body)
    assert {"findings": [], "checked": {rule.name: 0 for rule in RULES}} == conduct(service)
    ExampleClient(service).play(EXAMPLES["credential-sent-to-bytes"][0])
    assert ["credential-sent-to-bytes"] == rules_found(service)


def test_the_whole_has_what_was_done_before_a_reset_or_load(service: EmulatorUnderTest) -> None:
    def whole() -> list[str]:
        return rules_found(service, "?ended=true&whole=true")

    ExampleClient(service).play(BREAKS)
    found, saved = whole(), service.ask("GET", "/state").body
    for _ in range(2):
        service.ask("PUT", "/state", content=saved)
        assert found == whole()
    service.ask("POST", "/reset")
    service.get("/team")
    points = service.told("GET", "/coverage?whole=true")["operations"]["createUpload"]["points"]
    assert (found, 6) == (whole(), points[0]["met"])
    assert [] == rules_found(service)


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
    assert {3} == {shown["checked"][rule] for rule in named}


def test_findings_outlive_the_bound_of_the_journal(service: EmulatorUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MAX_REQUESTS", 1)
    monkeypatch.setattr(journal, "_MAX_LEAVING", 5)
    for name in ("MAX_DROPPED", "KEPT_DROPPED"):
        monkeypatch.setattr(examiner, name, 10)
    ExampleClient(service).play(BREAKS)
    before, covered = conduct(service), service.told("GET", "/coverage")
    for _ in range(30):
        service.get("/products")
    after = conduct(service)
    assert (1, before["findings"]) == (len(service.sandbox.journal.requests), after["findings"])
    assert before["checked"] == after["checked"]
    assert covered["percent"] < service.told("GET", "/coverage")["percent"]


def test_no_request_waits_for_what_is_judged(service: EmulatorUnderTest) -> None:
    ExampleClient(service).play(BREAKS)
    before, is_free = conduct(service), Event()
    service.application.observer.ask(lambda _: is_free.wait(10))
    assert 204 == service.ask("DELETE", "/requests").status
    assert 200 == service.ask("POST", "/reset").status
    assert 200 == service.get("/products").status
    is_free.set()
    after = conduct(service, "?whole=true")
    assert before["findings"] == after["findings"]


def test_a_request_that_comes_again_late_is_found_no_more(service: EmulatorUnderTest) -> None:
    asset = service.assets(1)[0]
    service.rule({"operation": "createUpscaleGeneration"}, {"problem": "service_unavailable"}, {"nth": 1})
    service.send(upscale_call(asset, "k"))
    assert ["gave-up-on-retryable"] == rules_found(service)
    service.advance(5)
    service.send(upscale_call(asset, "k"))
    assert [] == rules_found(service, "")
