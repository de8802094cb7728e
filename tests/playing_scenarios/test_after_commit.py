"""Rules that act after the commit: they mean requests that were carried out, and replays of these."""

import pytest

from tests.support.emulator_client import UPLOAD, Call, Json, advance_call
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.every_operation import upscale_call

UPSCALE: Json = {"operation": "createUpscaleGeneration"}
LOST: Json = {"network": "reset", "at": "after_commit"}
REPLACED: Json = {"problem": "internal_error", "at": "after_commit"}


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
    assert emulator.rules() == {"the rule": (4, 3)}
    assert emulator.count("/generations") == 1


def test_a_replay_can_be_replaced_as_well(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    call = upscale_call(asset_id, "k")
    emulator.rule(UPSCALE, REPLACED, {"nth": "1-2"})

    statuses = [emulator.send(call).status for _ in range(3)]

    assert statuses == [500, 500, 202]
    assert emulator.rules() == {"the rule": (3, 2)}
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
    assert emulator.rules() == {"the rule": (1, 0)}


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
    emulator.send(upscale_call(asset_id, "k"))
    emulator.rule(UPSCALE, LOST)

    replay = emulator.send(upscale_call(asset_id, "k"))

    assert replay.code == "insufficient_credits"
    assert emulator.rules() == {"the rule": (0, 0)}


def test_a_request_that_another_rule_refuses_is_not_counted(
    emulator: EmulatorUnderTest,
) -> None:
    match: Json = {"operation": "createUpload"}
    refusing = {"name": "refuses", "match": match, "when": {"nth": 1}}
    losing = {"name": "loses", "match": match, "when": {"nth": 2}}
    rules = [
        {**refusing, "then": {"problem": "service_unavailable"}},
        {**losing, "then": LOST},
    ]
    emulator.use({"scenario": "two rules", "rules": rules})

    statuses = [emulator.post("/uploads", UPLOAD).status for _ in range(2)]
    send_lost(emulator, Call("POST", "/uploads", UPLOAD))

    assert statuses == [503, 201]
    assert emulator.rules() == {"refuses": (3, 1), "loses": (2, 1)}


def test_a_rule_after_the_commit_goes_before_a_later_rule(
    emulator: EmulatorUnderTest,
) -> None:
    match: Json = {"operation": "createUpload"}
    rules = [
        {"name": "loses", "match": match, "when": {"nth": 1}, "then": LOST},
        {"name": "refuses", "match": match, "then": {"problem": "internal_error"}},
    ]
    emulator.use({"scenario": "two rules", "rules": rules})

    send_lost(emulator, Call("POST", "/uploads", UPLOAD))
    second = emulator.post("/uploads", UPLOAD)

    assert second.code == "internal_error"
    assert emulator.rules() == {"loses": (1, 1), "refuses": (2, 1)}


def test_requests_are_counted_in_the_order_of_their_commits(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    held: Json = {**UPSCALE, "idempotency_key": "held"}
    rules = [
        {"name": "holds", "match": held, "then": {"hold": "10s"}},
        {"name": "replaces", "match": UPSCALE, "when": {"nth": 1}, "then": REPLACED},
    ]
    emulator.use({"scenario": "a later commit", "rules": rules})

    first, second, _ = emulator.together(
        upscale_call(asset_id, "held"),
        upscale_call(asset_id, "quick"),
        advance_call(10),
    )

    assert second.status == 500
    assert first.status == 202
    assert emulator.rules() == {"holds": (1, 1), "replaces": (2, 1)}
