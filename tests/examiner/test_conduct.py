"""Conduct as the control plane shows it: what is judged, what empties it, and when nothing is judged."""

import pytest

from image_workflow_emulator.examiner.conduct import RULES
from tests.examiner.rule_examples import EXAMPLES, ExampleClient, rules_found
from tests.playing_scenarios.player import upscale_call
from tests.support.emulator_client import EmulatorUnderTest, Json, MakeEmulator

BROKEN = "retry-before-retry-after"
BREAKS, _ = EXAMPLES[BROKEN]
TIMED = ("retry-before-retry-after", "poll-before-retry-after", "no-backoff")


def conduct(emulator: EmulatorUnderTest, query: str = "") -> Json:
    return dict(emulator.told("GET", f"/conduct{query}"))


def test_a_finding_tells_what_was_done_where_it_is_forbidden_and_what_to_do(emulator: EmulatorUnderTest) -> None:
    ExampleClient(emulator).play(BREAKS)
    (finding,) = conduct(emulator)["findings"]
    assert {"rule", "severity", "message", "source", "requests", "client", "remedy"} == finding.keys()
    entry = emulator.told("GET", f"/requests/{finding['requests'][0]}")
    assert {"credential": entry["credential"]["id"], "user_agent": entry["user_agent"]} == finding["client"]
    assert "error" == finding["severity"]
    assert "Retry-After of 10 s of the 429 rate_limited" in finding["message"]
    first, second = finding["requests"]
    assert [429, 202] == [emulator.told("GET", f"/requests/{sequence}")["status"] for sequence in (first, second)]


NOTHING = {
    "findings": [],
    "checked": {rule.name: 0 for rule in RULES},
    "not_checked": [],
    "judged": {"requests": 0, "left": 0},
}


@pytest.mark.parametrize("ends", ["clear", "reset", "load"])
def test_a_cleared_journal_a_reset_and_a_load_clear_the_verdict(emulator: EmulatorUnderTest, ends: str) -> None:
    ExampleClient(emulator).play(BREAKS)
    assert [BROKEN] == rules_found(emulator)
    if ends == "clear":
        emulator.ask("DELETE", "/requests")
    elif ends == "reset":
        emulator.ask("POST", "/reset")
    else:
        emulator.ask("PUT", "/state", content=emulator.ask("GET", "/state").body)
    assert NOTHING == conduct(emulator)
    assert 0 == emulator.told("GET", "/coverage")["percent"]
    ExampleClient(emulator).play(EXAMPLES["credential-sent-to-bytes"][0])
    assert ["credential-sent-to-bytes"] == rules_found(emulator)


def test_what_left_the_journal_is_not_judged_but_counted(make_emulator: MakeEmulator) -> None:
    emulator = make_emulator(clock="manual", journal_requests=30)
    ExampleClient(emulator).play(BREAKS)
    assert ([BROKEN], 0) == (rules_found(emulator), conduct(emulator)["judged"]["left"])
    for _ in range(30):
        emulator.get("/products")
    shown, covered = conduct(emulator), emulator.told("GET", "/coverage")
    assert ([], 30) == (shown["findings"], shown["judged"]["requests"])
    assert 0 < shown["judged"]["left"]
    assert shown["judged"] == covered["judged"]
    assert 30 == sum(point["covered"] for one in covered["operations"].values() for point in one["points"])


def test_an_auto_clock_takes_every_wait_so_no_timed_rule_is_checked(make_emulator: MakeEmulator) -> None:
    emulator = make_emulator(clock="auto")
    for example in (BREAKS, EXAMPLES["poll-before-retry-after"][0]):
        ExampleClient(emulator).play(example)
    shown = conduct(emulator)
    assert [] == [finding for finding in shown["findings"] if finding["rule"] in TIMED]
    assert dict.fromkeys(TIMED, 0) == {name: shown["checked"][name] for name in TIMED}


def test_what_is_left_undone_is_found_ten_minutes_later(emulator: EmulatorUnderTest) -> None:
    emulator.admitted_upscale()
    emulator.advance(600)
    assert [] == rules_found(emulator, "")
    emulator.advance(10)
    assert ["abandoned-work"] == rules_found(emulator, "")


def test_a_loop_is_one_finding_and_counted_with_each_turn(emulator: EmulatorUnderTest) -> None:
    work = emulator.admitted_upscale()
    for path in (f"/generations/{work['id']}", "/assets/none"):
        for _ in range(4):
            emulator.get(path)
    shown = conduct(emulator)
    named = {finding["rule"]: len(finding["requests"]) for finding in shown["findings"]}
    assert {"poll-before-retry-after": 4, "retry-of-the-hopeless": 3} == named
    assert [3, 4] == [shown["checked"][rule] for rule in named]


def test_a_request_that_comes_again_late_is_found_no_more(emulator: EmulatorUnderTest) -> None:
    asset = emulator.assets(1)[0]
    emulator.rule({"operation": "createUpscaleGeneration"}, {"problem": "service_unavailable"}, {"nth": 1})
    emulator.send(upscale_call(asset, "k"))
    assert ["gave-up-on-retryable"] == rules_found(emulator)
    emulator.advance(5)
    emulator.send(upscale_call(asset, "k"))
    assert [] == rules_found(emulator, "")
