"""Conduct as the control plane shows it: what is judged, and what empties it."""

import pytest
from msgspec import structs

from image_workflow_emulator.examiner.conduct import RULES
from tests.examiner.rule_examples import (
    EXAMPLES,
    Ask,
    Example,
    ExampleClient,
    rules_found,
)
from tests.support.emulator_client import Json
from tests.support.emulator_under_test import EmulatorUnderTest, MakeEmulator
from tests.support.every_operation import upscale_call

EARLY = "retry-before-retry-after"
BREAKS_EARLY = EXAMPLES[EARLY].breaks
TIMED = (EARLY, "poll-before-retry-after", "no-backoff")


def conduct(emulator: EmulatorUnderTest) -> Json:
    return dict(emulator.told("GET", "/conduct"))


# A finding ----------------------------------------------------------------------------


def test_a_finding_has_its_rule_its_source_and_a_remedy(
    emulator: EmulatorUnderTest,
) -> None:
    ExampleClient(emulator).play(BREAKS_EARLY)

    (finding,) = conduct(emulator)["findings"]
    assert finding["rule"] == EARLY
    assert finding["severity"] == "error"
    assert "Retry-After of 10 s of the 429 rate_limited" in finding["message"]
    assert finding["source"].startswith("Section 8: ")
    assert finding["remedy"].startswith("wait as long as Retry-After says")


def test_a_finding_names_its_client_as_the_journal_does(
    emulator: EmulatorUnderTest,
) -> None:
    ExampleClient(emulator).play(BREAKS_EARLY)

    (finding,) = conduct(emulator)["findings"]
    client = finding["client"]
    number = finding["requests"][0]
    entry = emulator.told("GET", f"/requests/{number}")
    assert client["credential"] == entry["credential"]["id"]
    assert client["user_agent"] == entry["user_agent"]


def test_a_finding_names_its_requests_by_their_numbers_in_the_journal(
    emulator: EmulatorUnderTest,
) -> None:
    ExampleClient(emulator).play(BREAKS_EARLY)

    (finding,) = conduct(emulator)["findings"]
    first, second = finding["requests"]
    refused = emulator.told("GET", f"/requests/{first}")
    repeated = emulator.told("GET", f"/requests/{second}")
    assert refused["status"] == 429
    assert repeated["status"] == 202


def test_a_loop_of_polls_is_one_finding_with_all_of_its_reads(
    emulator: EmulatorUnderTest,
) -> None:
    work = emulator.admitted_upscale()

    for _ in range(4):
        emulator.get(f"/generations/{work['id']}")

    document = conduct(emulator)
    (finding,) = document["findings"]
    assert finding["rule"] == "poll-before-retry-after"
    assert len(finding["requests"]) == 4
    assert document["checked"]["poll-before-retry-after"] == 3


def test_a_loop_after_a_refusal_is_one_finding_with_all_of_its_requests(
    emulator: EmulatorUnderTest,
) -> None:
    for _ in range(4):
        emulator.get("/assets/none")

    document = conduct(emulator)
    (finding,) = document["findings"]
    assert finding["rule"] == "retry-of-the-hopeless"
    assert finding["requests"] == [1, 2, 3, 4]
    assert document["checked"]["retry-of-the-hopeless"] == 4


@pytest.mark.parametrize(
    ("user_agent", "policy"),
    [
        ("python-requests/2.32.3", "; with python-requests: HTTPAdapter"),
        ("Python/3.11 aiohttp/3.9.5", "; with aiohttp: JitterRetry"),
        ("got (https://github.com/sindresorhus/got)", "; with got: retry: {limit: 8"),
        ("Axios/1.7.2", "; with axios: axiosRetry(axios, {retries: 8"),
    ],
)
def test_a_remedy_has_the_words_of_the_clients_library(
    emulator: EmulatorUnderTest,
    user_agent: str,
    policy: str,
) -> None:
    ExampleClient(emulator).play(_sent_by(user_agent))

    (finding,) = conduct(emulator)["findings"]
    assert policy in finding["remedy"]


def test_a_remedy_names_no_library_for_an_unknown_client(
    emulator: EmulatorUnderTest,
) -> None:
    ExampleClient(emulator).play(_sent_by("shop/1.0"))

    (finding,) = conduct(emulator)["findings"]
    assert "; with " not in finding["remedy"]


def _sent_by(user_agent: str) -> Example:
    """Return the client that comes back too early, and with a User-Agent."""
    headers = {"User-Agent": user_agent}
    asks = [step for step in BREAKS_EARLY.steps if isinstance(step, Ask)]
    return Example(
        steps=[structs.replace(ask, headers=headers) for ask in asks],
        rules=BREAKS_EARLY.rules,
    )


# What is judged -----------------------------------------------------------------------


@pytest.mark.parametrize("ends", ["clear", "reset", "load"])
def test_a_cleared_journal_a_reset_and_a_load_begin_anew(
    emulator: EmulatorUnderTest,
    ends: str,
) -> None:
    ExampleClient(emulator).play(BREAKS_EARLY)

    if ends == "clear":
        emulator.ask("DELETE", "/requests")
    elif ends == "reset":
        emulator.ask("POST", "/reset")
    else:
        saved = emulator.ask("GET", "/state")
        emulator.ask("PUT", "/state", content=saved.body)

    assert conduct(emulator) == {
        "findings": [],
        "checked": {rule.name: 0 for rule in RULES},
        "not_checked": [],
        "judged": {"requests": 0, "left": 0},
    }
    assert emulator.told("GET", "/coverage")["percent"] == 0


def test_what_comes_after_a_reset_is_judged(emulator: EmulatorUnderTest) -> None:
    emulator.ask("POST", "/reset")

    ExampleClient(emulator).play(EXAMPLES["credential-sent-to-bytes"].breaks)

    assert rules_found(emulator) == ["credential-sent-to-bytes"]


@pytest.mark.parametrize("judge", ["/conduct", "/coverage"])
def test_what_left_the_journal_is_not_judged_but_counted(
    make_emulator: MakeEmulator,
    judge: str,
) -> None:
    emulator = make_emulator(clock="manual", journal_requests=30)
    for _ in range(40):
        emulator.get("/products")

    judged = emulator.told("GET", judge)["judged"]

    assert judged == {"requests": 30, "left": 10}


def test_a_finding_goes_with_its_requests(make_emulator: MakeEmulator) -> None:
    emulator = make_emulator(clock="manual", journal_requests=30)
    ExampleClient(emulator).play(BREAKS_EARLY)
    assert rules_found(emulator) == [EARLY]

    for _ in range(30):
        emulator.get("/products")

    assert rules_found(emulator) == []


# Time ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", TIMED)
def test_no_timed_rule_is_checked_on_an_auto_clock(
    make_emulator: MakeEmulator,
    rule: str,
) -> None:
    emulator = make_emulator(clock="auto")
    ExampleClient(emulator).play(EXAMPLES[rule].breaks)

    document = conduct(emulator)
    assert rule not in rules_found(emulator)
    assert document["checked"][rule] == 0
    assert document["not_checked"] == list(TIMED)


def test_work_counts_as_abandoned_ten_minutes_after_its_end(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.admitted_upscale()

    emulator.advance(600)
    assert rules_found(emulator, "") == []

    emulator.advance(10)
    assert rules_found(emulator, "") == ["abandoned-work"]


def test_a_finding_is_withdrawn_when_the_missing_request_arrives(
    emulator: EmulatorUnderTest,
) -> None:
    (asset,) = emulator.assets(1)
    order = upscale_call(asset, "k")
    emulator.rule(
        {"operation": "createUpscaleGeneration"},
        {"problem": "service_unavailable"},
        {"nth": 1},
    )
    emulator.send(order)
    assert rules_found(emulator) == ["gave-up-on-retryable"]

    emulator.advance(5)
    emulator.send(order)

    assert rules_found(emulator, "") == []
