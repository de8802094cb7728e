"""Why a request ended as it did.

The checks in their order, what decided and why, and what would have helped.
"""

import asyncio
from collections.abc import Callable

import pytest

from image_workflow_emulator.domain.problems import CATALOGUE, Check, source_of
from tests.fuzzing.wire import turns
from tests.support.contract_check import read_contract
from tests.support.emulator_client import (
    BROKE,
    FULL,
    OTHER,
    READ_ONLY,
    REVOKED,
    UPLOAD,
    Answer,
    Call,
    Json,
    advance_call,
    control_call,
)
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.every_operation import CAUSES

PHOTOGRAPHY = "/generations/product-photography"
SHOOT: Json = {"output_mode": "photoshoot", "asset_ids": ["a"]}
PASSED = "passed"
DECIDED = "decided"
NOT_REACHED = "not reached"
Send = Callable[[EmulatorUnderTest], Answer]


def explain(emulator: EmulatorUnderTest, answer: Answer) -> Json:
    """Return the explanation of the request that got this answer."""
    entry = emulator.told("GET", f"/requests/{answer.headers['request-id']}")
    return dict(entry["explanation"])


def explain_last(emulator: EmulatorUnderTest) -> Json:
    """Return the explanation of the newest request, which may have had no answer."""
    newest = emulator.told("GET", "/requests?limit=1")["last_sequence"]
    return dict(emulator.told("GET", f"/requests/{newest}")["explanation"])


def results_by_check(explanation: Json) -> dict[str, str]:
    return {check["check"]: check["result"] for check in explanation["checks"]}


# Checks ------------------------------------------------------------------------------


def test_a_refusal_tells_the_checks_in_order_and_the_one_that_decided(
    emulator: EmulatorUnderTest,
) -> None:
    refused = emulator.photograph(asset_ids=["ast_1"])

    explanation = explain(emulator, refused)

    assert list(results_by_check(explanation).items()) == [
        ("route", PASSED),
        ("credential", PASSED),
        ("request rate", PASSED),
        ("permission profile", PASSED),
        ("request shape", PASSED),
        ("body against the contract", PASSED),
        ("idempotency record", PASSED),
        ("admission pause", PASSED),
        ("subscription", PASSED),
        ("references in the body", DECIDED),
        ("business rules", NOT_REACHED),
        ("concurrency budget", NOT_REACHED),
        ("Credits", NOT_REACHED),
    ]


def test_a_request_that_was_answered_passed_every_check(
    emulator: EmulatorUnderTest,
) -> None:
    explanation = explain(emulator, emulator.get("/team"))

    assert explanation["outcome"] == "answered"
    assert explanation["decided_by"] is None
    assert explanation["remedy"] is None
    assert results_by_check(explanation) == {
        "route": PASSED,
        "credential": PASSED,
        "request rate": PASSED,
        "request shape": PASSED,
    }


@pytest.mark.parametrize("code", sorted(CAUSES))
def test_every_code_is_explained_with_the_detail_of_its_answer(
    emulator: EmulatorUnderTest,
    code: str,
) -> None:
    answer = CAUSES[code](emulator)

    entry = emulator.told("GET", f"/requests/{answer.headers['request-id']}")

    detail = answer.json["detail"]
    assert entry["code"] == code
    assert entry["status"] == answer.status
    assert entry["explanation"]["decided_by"]["detail"] == detail
    assert detail in entry["explanation"]["summary"]


@pytest.mark.parametrize("code", sorted(CAUSES.keys() - {"internal_error"}))
def test_every_refusal_was_decided_by_one_check_and_has_a_remedy(
    emulator: EmulatorUnderTest,
    code: str,
) -> None:
    explanation = explain(emulator, CAUSES[code](emulator))

    results = list(results_by_check(explanation).values())
    assert explanation["outcome"] == "refused"
    assert results.count(DECIDED) == 1
    assert explanation["remedy"]


def test_a_defect_was_decided_by_no_check(emulator: EmulatorUnderTest) -> None:
    explanation = explain(emulator, CAUSES["internal_error"](emulator))

    results = list(results_by_check(explanation).values())
    assert explanation["outcome"] == "failed"
    assert results[:2] == [PASSED, PASSED]
    assert DECIDED not in results


SOURCES = [
    *(source_of(check) for check in Check),
    *(source_of(kind.check, code) for code, kind in CATALOGUE.items()),
]


def test_every_check_and_code_has_a_section_of_the_specification() -> None:
    for source in SOURCES:
        assert source.section[0] in "123456789", source


def test_every_decision_behind_a_check_or_code_is_in_the_ledger() -> None:
    ledger = {entry["id"] for entry in read_contract("decisions.yaml")["decisions"]}

    for source in SOURCES:
        assert ledger.issuperset(source.decisions), source


# Remedies ----------------------------------------------------------------------------

VISIBLE_NAME = (
    "correct /name: expected a text with a character that can be seen, "
    "and without U+0000"
)
BACKGROUND_TYPE = (
    "add /background/type: expected one of automatic, background, color, transparent"
)


@pytest.mark.parametrize(
    ("remedy", "path", "body"),
    [
        ("add /content_type; add /size_bytes", "/uploads", {}),
        ("remove /more", "/uploads", UPLOAD | {"more": 1}),
        (
            "correct /size_bytes: expected a whole number from 1 to 73400320",
            "/uploads",
            UPLOAD | {"size_bytes": "5"},
        ),
        (
            VISIBLE_NAME,
            "/poses",
            {"name": " ", "asset_id": "ast_1"},
        ),
        (
            "correct /kind: expected one of backdrop, location",
            "/backgrounds",
            {"name": "B", "kind": "wall", "asset_id": "ast_1"},
        ),
        (
            "correct /asset_ids: expected at least 3 items",
            "/photography-styles",
            {"name": "S", "asset_ids": ["a", "b"]},
        ),
        (
            "set /primary_asset_id to one of asset_ids",
            "/products",
            {"name": "P", "asset_ids": ["a"], "primary_asset_id": "b"},
        ),
        (
            "set /image_count to 4, or nothing, for a photoshoot",
            PHOTOGRAPHY,
            SHOOT | {"image_count": 3},
        ),
        (
            BACKGROUND_TYPE,
            PHOTOGRAPHY,
            SHOOT | {"background": {}},
        ),
    ],
)
def test_the_remedy_names_every_field(
    emulator: EmulatorUnderTest,
    remedy: str,
    path: str,
    body: Json,
) -> None:
    refused = emulator.post(path, body)

    assert explain(emulator, refused)["remedy"] == remedy


def read_with_revoked_key(emulator: EmulatorUnderTest) -> Answer:
    return emulator.get("/team", REVOKED)


def write_with_read_only_key(emulator: EmulatorUnderTest) -> Answer:
    return emulator.post("/uploads", UPLOAD, READ_ONLY)


def read_without_key(emulator: EmulatorUnderTest) -> Answer:
    return emulator.get("/team", None)


def read_without_bearer(emulator: EmulatorUnderTest) -> Answer:
    return emulator.get("/team", None, headers={"Authorization": FULL})


def read_with_two_keys(emulator: EmulatorUnderTest) -> Answer:
    header = ("Authorization", f"Bearer {FULL}")
    return emulator.get("/team", headers=[header, header])


def read_with_unknown_key(emulator: EmulatorUnderTest) -> Answer:
    return emulator.get("/team", "nobody")


def read_asset_of_other_team(emulator: EmulatorUnderTest) -> Answer:
    (asset_id,) = emulator.assets(1, OTHER)
    return emulator.get(f"/assets/{asset_id}")


def photograph_asset_of_other_team(emulator: EmulatorUnderTest) -> Answer:
    return emulator.photograph(asset_ids=emulator.assets(1, OTHER))


def photograph_from_unsupported_distance(emulator: EmulatorUnderTest) -> Answer:
    pose = emulator.author("pose", supported_camera_distances=["close", "medium"])
    return emulator.photograph(pose_id=pose["id"], camera_distance="far")


def photograph_beyond_credits(emulator: EmulatorUnderTest) -> Answer:
    emulator.set_team(credits_available=1)
    return emulator.photograph(image_count=6)


def read_beyond_the_greatest_limit(emulator: EmulatorUnderTest) -> Answer:
    return emulator.get("/poses?limit=101")


def complete_with_wrong_token(emulator: EmulatorUnderTest) -> Answer:
    session, _ = emulator.ready_upload()
    return emulator.complete(session, "upt_wrong")


USE_FULL = "use the Team's credential 'Full'"
USE_OTHER = "send it with a credential of the Team 'Other', which owns it"


@pytest.mark.parametrize(
    ("remedy", "send"),
    [
        (USE_FULL, read_with_revoked_key),
        (USE_FULL, write_with_read_only_key),
        (
            "send the header Authorization with `Bearer` and an API key",
            read_without_key,
        ),
        ("send the header Authorization once", read_with_two_keys),
        ("write `Bearer` and a space before the API key", read_without_bearer),
        (
            "use an API key of this emulator, which GET /_emulator/teams lists",
            read_with_unknown_key,
        ),
        (USE_OTHER, read_asset_of_other_team),
        (USE_OTHER, photograph_asset_of_other_team),
        (
            "set /camera_distance to one that the pose supports: close, medium",
            photograph_from_unsupported_distance,
        ),
        (
            "add 5 Credits, then send it with a new Idempotency-Key",
            photograph_beyond_credits,
        ),
        ("wait until op_", CAUSES["resource_operation_in_progress"]),
        (
            "wait until the first request has its answer",
            CAUSES["idempotency_in_progress"],
        ),
        ("send a new Idempotency-Key, or the body", CAUSES["idempotency_key_reused"]),
        (
            "set the parameter limit to a whole number from 1 to 100, or remove it",
            read_beyond_the_greatest_limit,
        ),
        (
            "set /upload_token to the token the direct",
            complete_with_wrong_token,
        ),
    ],
)
def test_the_remedy_names_what_would_have_been_right(
    emulator: EmulatorUnderTest,
    remedy: str,
    send: Send,
) -> None:
    refused = send(emulator)

    assert explain(emulator, refused)["remedy"].startswith(remedy)


def test_the_remedy_of_a_wrong_upload_token_does_not_tell_the_right_one(
    emulator: EmulatorUnderTest,
) -> None:
    session, token = emulator.ready_upload()

    refused = emulator.complete(session, "upt_wrong")

    assert token not in str(explain(emulator, refused))


# Effects -----------------------------------------------------------------------------

BOUND = "the Idempotency-Key is bound to this request for 24 hours"
FREE = "the Idempotency-Key is unchanged: the request may be sent again with it"


def delete_pose(emulator: EmulatorUnderTest) -> Answer:
    pose = emulator.author("pose")
    return emulator.delete(f"/poses/{pose['id']}")


def delete_asset(emulator: EmulatorUnderTest) -> Answer:
    (asset_id,) = emulator.assets(1)
    return emulator.delete(f"/assets/{asset_id}")


@pytest.mark.parametrize(
    ("outcome", "effects", "send"),
    [
        (
            "answered",
            ["3 Credits reserved; charged by what is completed", BOUND],
            lambda emulator: emulator.photograph(image_count=3),
        ),
        (
            "refused",
            ["nothing but the Idempotency-Key was changed", BOUND],
            lambda emulator: emulator.photograph(key=BROKE),
        ),
        (
            "refused",
            ["nothing was changed", FREE],
            lambda emulator: emulator.post("/uploads", {}),
        ),
        ("answered", ["was deleted"], delete_pose),
        ("answered", ["was deleted"], delete_asset),
        (
            "refused",
            ["the Upload Session has failed"],
            lambda emulator: emulator.complete(*emulator.ready_upload(b"bytes")),
        ),
        (
            "abandoned",
            ["nothing was changed"],
            lambda emulator: emulator.leave(Call("POST", "/uploads", UPLOAD)),
        ),
        (
            "answered",
            ["the bytes were accepted"],
            lambda emulator: emulator.send_bytes(emulator.open_upload(5), b"bytes"),
        ),
        ("refused", ["nothing was changed"], CAUSES["upload_bytes_conflict"]),
    ],
)
def test_a_requests_effects_are_told(
    emulator: EmulatorUnderTest,
    outcome: str,
    effects: list[str],
    send: Callable[[EmulatorUnderTest], Answer | None],
) -> None:
    send(emulator)

    explanation = explain_last(emulator)

    told = "; ".join(explanation["effects"])
    assert explanation["outcome"] == outcome
    for effect in effects:
        assert effect in told


def test_a_replay_names_the_request_whose_answer_it_is(
    emulator: EmulatorUnderTest,
) -> None:
    first = emulator.post("/uploads", UPLOAD, idempotency_key="one")
    emulator.post("/uploads", UPLOAD, idempotency_key="one")

    explanation = explain_last(emulator)

    assert explanation["outcome"] == "replayed"
    assert explanation["decided_by"]["check"] == "idempotency record"
    assert explanation["related"]["sequence"] == 1
    assert explanation["related"]["request_id"] == first.headers["request-id"]
    assert explanation["effects"] == ["nothing was changed"]
    assert (
        explanation["summary"] == "201: the stored answer of request 1 was sent again."
    )


# What a scenario does ----------------------------------------------------------------

WAIT_AND_REPEAT = (
    "wait 5 s, then send the same request again with the same Idempotency-Key"
)


@pytest.mark.parametrize(
    ("code", "next_step"),
    [
        ("rate_limited", WAIT_AND_REPEAT),
        ("internal_error", "send the same request again with the same Idempotency-Key"),
        ("permission_denied", "use a full credential for writes"),
        (
            "insufficient_credits",
            "add Credits and send a new logical request, with a new key",
        ),
    ],
)
def test_an_injected_problem_names_its_rule_and_remedy(
    emulator: EmulatorUnderTest,
    code: str,
    next_step: str,
) -> None:
    emulator.rule({"operation": "createUpscaleGeneration"}, {"problem": code})

    answer = emulator.upscale()

    explanation = explain(emulator, answer)
    (rule,) = explanation["rules"]

    assert answer.code == code
    assert answer.json["detail"].startswith(
        "this answer was injected, whatever the state of the service: "
    )
    assert explanation["outcome"] == "refused"
    assert explanation["decided_by"]["who"] == "a scenario"
    assert rule["name"] == "the rule"
    assert rule["did"] == f'{{"problem": "{code}"}}'
    assert explanation["remedy"] == (
        f"{next_step}; the scenario's rule 'the rule' asked for this answer"
    )


AFTER_COMMIT: Json = {"problem": "internal_error", "at": "after_commit"}


def test_a_rule_that_the_service_forestalled_did_nothing(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule({"operation": "createUpload"}, {"problem": "service_unavailable"})

    refused = emulator.post("/uploads", {})

    explanation = explain(emulator, refused)
    (rule,) = explanation["rules"]

    assert explanation["decided_by"]["who"] == "the service"
    assert rule["did"] == "nothing"


def test_a_rule_after_the_commit_has_no_part_in_a_refusal(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule({"operation": "createUpload"}, AFTER_COMMIT)

    refused = emulator.post("/uploads", {})

    explanation = explain(emulator, refused)
    assert explanation["decided_by"]["who"] == "the service"
    assert explanation["rules"] == []


def test_an_answer_that_a_rule_replaced_is_told_as_carried_out(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule({"operation": "createUpload"}, AFTER_COMMIT)

    replaced = emulator.post("/uploads", UPLOAD)

    explanation = explain(emulator, replaced)
    assert explanation["outcome"] == "replaced"
    assert set(results_by_check(explanation).values()) == {PASSED}
    assert explanation["effects"][0] == (
        "the request was carried out, though its answer says otherwise"
    )


def test_a_problem_that_the_request_asked_for_says_so(
    emulator: EmulatorUnderTest,
) -> None:
    headers = {"Emulator-Fault": "service_unavailable"}

    refused = emulator.post("/uploads", UPLOAD, headers=headers)

    explanation = explain(emulator, refused)
    assert explanation["decided_by"]["who"] == "the header Emulator-Fault"
    assert explanation["rules"] == []
    assert explanation["remedy"].partition(";")[0] == WAIT_AND_REPEAT


def lose(emulator: EmulatorUnderTest, call: Call) -> None:
    """Send a request whose answer is lost, and leave when nothing more comes."""

    async def story() -> None:
        sending = asyncio.create_task(emulator._send(call))
        await turns()
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)

    emulator.run(story())


def test_an_answer_that_was_lost_after_the_commit_says_what_was_carried_out(
    emulator: EmulatorUnderTest,
) -> None:
    stall = {"network": "stall", "at": "after_commit"}
    emulator.rule({"operation": "createUpload"}, stall)
    lose(emulator, Call("POST", "/uploads", UPLOAD))

    explanation = explain_last(emulator)

    (rule,) = explanation["rules"]
    assert explanation["outcome"] == "answered"
    assert rule["did"] == '{"network": "stall", "at": "after_commit"}'
    assert explanation["summary"] == (
        "201: it passed every check. A scenario lost the answer on the wire."
    )


def test_a_request_that_was_lost_before_its_checks_changed_nothing(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule({"operation": "createUpload"}, {"network": "stall"})
    lose(emulator, Call("POST", "/uploads", UPLOAD))

    explanation = explain_last(emulator)

    results = results_by_check(explanation)
    assert explanation["outcome"] == "lost"
    assert explanation["effects"] == ["nothing was changed"]
    assert results["request rate"] == PASSED
    assert results["permission profile"] == NOT_REACHED


def test_a_held_request_tells_how_far_it_came(emulator: EmulatorUnderTest) -> None:
    emulator.rule({"operation": "createUpload"}, {"hold": "10s"})

    _, looked_at, _ = emulator.together(
        Call("POST", "/uploads", UPLOAD),
        control_call("GET", "/requests/1"),
        advance_call(10),
    )

    explanation = looked_at.json["explanation"]
    results = results_by_check(explanation)
    (rule,) = explanation["rules"]

    assert explanation["outcome"] == "in flight"
    assert results["idempotency record"] == PASSED
    assert results["admission pause"] == NOT_REACHED
    assert rule["did"] == '{"hold": "10s"}'


PAUSE = """\
scenario: a pause
timeline:
  - at: 10s
    set: {admission: paused}
  - at: 60s
    set: {admission: open}
  - at: 70s
    set: {team: Demo, credits: 0, subscription: inactive}
  - at: 80s
    set: {credential: iwe_demo_full, state: revoked}
"""


@pytest.mark.emulator(scenario=PAUSE)
@pytest.mark.parametrize(
    ("seconds", "code", "line", "at", "remedy"),
    [
        (
            10,
            "service_unavailable",
            3,
            "2026-01-01T00:00:10.000Z",
            "2026-01-01T00:01:00.000Z",
        ),
        (
            70,
            "subscription_required",
            7,
            "2026-01-01T00:01:10.000Z",
            "Subscription",
        ),
    ],
    ids=["a pause", "a lapsed Subscription"],
)
def test_a_refusal_names_the_entry_of_the_timeline_behind_it_and_what_ends_it(
    emulator: EmulatorUnderTest,
    seconds: int,
    code: str,
    line: int,
    at: str,
    remedy: str,
) -> None:
    emulator.advance(seconds)

    explanation = explain(emulator, emulator.post("/uploads", UPLOAD))

    timeline = explanation["decided_by"]["timeline"]
    assert code in explanation["summary"]
    assert f"line {line}" in explanation["summary"]
    assert timeline["line"] == line
    assert timeline["at"] == at
    assert remedy in explanation["remedy"]


@pytest.mark.emulator(scenario=PAUSE)
def test_a_pause_by_hand_is_not_told_as_the_timelines(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.advance(10)
    emulator.told("PUT", "/admission", {"state": "paused"})

    explanation = explain(emulator, emulator.post("/uploads", UPLOAD))

    assert explanation["decided_by"]["timeline"] is None
