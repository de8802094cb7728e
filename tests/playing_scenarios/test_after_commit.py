"""Rules that act after the commit: they mean requests that were carried out, and replays of these."""

import pytest

from tests.support.emulator_client import UPLOAD, Call, Json, advance_call
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.every_operation import upscale_call

UPSCALE: Json = {"operation": "createUpscaleGeneration"}
LOST: Json = {
    "network": "reset",
    "at": "after_commit",
}
REPLACED: Json = {
    "problem": "internal_error",
    "at": "after_commit",
}
CREATE_UPLOAD = Call("POST", "/uploads", UPLOAD)


def send_lost(emulator: EmulatorUnderTest, call: Call) -> None:
    """Send a request whose answer is lost: in process, an error of the connection."""
    with pytest.raises(ConnectionResetError):
        emulator.send(call)


def test_a_replay_can_be_lost_as_well(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    call = upscale_call(asset_id, "k")
    emulator.rule(UPSCALE, LOST, {"nth": "1-3"})

    for _ in range(3):
        send_lost(emulator, call)
    answer = emulator.send(call)

    assert answer.status == 202
    rule = emulator.rule_count()
    assert rule.matched == 4
    assert rule.fired == 3
    assert emulator.count("/generations") == 1


def test_a_replay_can_be_replaced_as_well(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    call = upscale_call(asset_id, "k")
    emulator.rule(UPSCALE, REPLACED, {"nth": "1-2"})

    answers = [emulator.send(call) for _ in range(3)]

    statuses = [answer.status for answer in answers]
    assert statuses == [500, 500, 202]
    rule = emulator.rule_count()
    assert rule.matched == 3
    assert rule.fired == 2
    assert emulator.credits() == 99


@pytest.mark.parametrize("then", [LOST, REPLACED], ids=str)
def test_a_refused_request_is_neither_lost_nor_counted(
    emulator: EmulatorUnderTest,
    asset_id: str,
    then: Json,
) -> None:
    emulator.rule(UPSCALE, then, {"nth": 2})

    refused = emulator.post("/generations/upscale", {}, idempotency_key="a")
    first = emulator.send(upscale_call(asset_id, "b"))

    assert refused.code == "invalid_input"
    assert "emulator-rule" not in refused.headers
    assert first.status == 202
    rule = emulator.rule_count()
    assert rule.matched == 1
    assert rule.fired == 0


def test_the_journal_names_no_rule_for_a_refused_request(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule(UPSCALE, LOST)
    emulator.post("/generations/upscale", {}, idempotency_key="a")

    (entry,) = emulator.told("GET", "/requests?limit=1")["data"]

    assert entry["rule"] is None
    assert entry["lost"] is False


def test_a_replayed_refusal_is_neither_lost_nor_counted(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    emulator.set_team(credits_available=0)
    call = upscale_call(asset_id, "k")
    emulator.send(call)
    emulator.rule(UPSCALE, LOST)

    replay = emulator.send(call)

    assert replay.code == "insufficient_credits"
    rule = emulator.rule_count()
    assert rule.matched == 0
    assert rule.fired == 0


def test_a_request_that_another_rule_refuses_is_not_counted(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use("""
        scenario: two rules
        rules:
          - name: refuses
            match: {operation: createUpload}
            when: {nth: 1}
            then: {problem: service_unavailable}
          - name: loses
            match: {operation: createUpload}
            when: {nth: 2}
            then: {network: reset, at: after_commit}
    """)

    first = emulator.send(CREATE_UPLOAD)
    second = emulator.send(CREATE_UPLOAD)
    send_lost(emulator, CREATE_UPLOAD)

    assert first.status == 503
    assert second.status == 201
    refusing = emulator.rule_count("refuses")
    losing = emulator.rule_count("loses")
    assert refusing.matched == 3
    assert refusing.fired == 1
    assert losing.matched == 2
    assert losing.fired == 1


def test_a_rule_after_the_commit_goes_before_a_later_rule(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use("""
        scenario: two rules
        rules:
          - name: loses
            match: {operation: createUpload}
            when: {nth: 1}
            then: {network: reset, at: after_commit}
          - name: refuses
            match: {operation: createUpload}
            then: {problem: internal_error}
    """)

    send_lost(emulator, CREATE_UPLOAD)
    second = emulator.send(CREATE_UPLOAD)

    assert second.code == "internal_error"
    losing = emulator.rule_count("loses")
    refusing = emulator.rule_count("refuses")
    assert losing.matched == 1
    assert losing.fired == 1
    assert refusing.matched == 2
    assert refusing.fired == 1


def test_requests_are_counted_in_the_order_of_their_commits(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    emulator.use("""
        scenario: a later commit
        rules:
          - name: holds
            match: {operation: createUpscaleGeneration, idempotency_key: held}
            then: {hold: 10s}
          - name: replaces
            match: {operation: createUpscaleGeneration}
            when: {nth: 1}
            then: {problem: internal_error, at: after_commit}
    """)

    first, second, _ = emulator.together(
        upscale_call(asset_id, "held"),
        upscale_call(asset_id, "quick"),
        advance_call(10),
    )

    assert second.status == 500
    assert first.status == 202
    holding = emulator.rule_count("holds")
    replacing = emulator.rule_count("replaces")
    assert holding.matched == 1
    assert holding.fired == 1
    assert replacing.matched == 2
    assert replacing.fired == 1
