"""Why a request ended as it did: the checks in order, what decided and why, and what would have helped."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

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
    EmulatorUnderTest,
    Json,
    control_call,
)
from tests.support.every_operation import CAUSES

PHOTOGRAPHY = "/generations/product-photography"
SHOOT: Json = {"output_mode": "photoshoot", "asset_ids": ["a"]}
Send = Callable[[EmulatorUnderTest], Answer]
PASSED, DECIDED, NOT_REACHED = "passed", "decided", "not reached"


def _why(emulator: EmulatorUnderTest, answer: Answer | None = None) -> Json:
    last = emulator.told("GET", "/requests?limit=1")["last_sequence"]
    return dict(
        emulator.told(
            "GET", f"/requests/{answer.headers['request-id'] if answer else last}"
        )["explanation"]
    )


def _results(why: Mapping[str, Any]) -> dict[str, str]:
    return {check["check"]: check["result"] for check in why["checks"]}


def test_a_refusal_tells_the_checks_in_order_and_the_one_that_decided(
    emulator: EmulatorUnderTest,
) -> None:
    why = _why(emulator, emulator.photograph(asset_ids=["ast_1"]))
    assert [
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
    ] == list(_results(why).items())
    why = _why(emulator, emulator.get("/team"))
    assert {
        "route": PASSED,
        "credential": PASSED,
        "request rate": PASSED,
        "request shape": PASSED,
    } == _results(why)
    assert ("answered", None, None) == (
        why["outcome"],
        why["decided_by"],
        why["remedy"],
    )


@pytest.mark.parametrize("code", sorted(CAUSES))
def test_every_code_is_explained(emulator: EmulatorUnderTest, code: str) -> None:
    answer = CAUSES[code](emulator)
    entry = emulator.told("GET", f"/requests/{answer.headers['request-id']}")
    why = entry["explanation"]
    assert (code, answer.status) == (entry["code"], entry["status"])
    assert answer.json["detail"] == why["decided_by"]["detail"]
    assert answer.json["detail"] in why["summary"]
    results = list(_results(why).values())
    if code == "internal_error":  # a defect, which no check has found
        assert ("failed", [PASSED, PASSED], 0) == (
            why["outcome"],
            results[:2],
            results.count(DECIDED),
        )
    else:
        assert ("refused", 1, True) == (
            why["outcome"],
            results.count(DECIDED),
            bool(why["remedy"]),
        )


def test_every_check_and_code_has_a_source_and_every_decision_is_in_the_ledger() -> (
    None
):
    ledger = {
        decision["id"] for decision in read_contract("decisions.yaml")["decisions"]
    }
    sources = [source_of(check) for check in Check]
    sources += [source_of(kind.check, code) for code, kind in CATALOGUE.items()]
    assert (
        not {decision for source in sources for decision in source.decisions} - ledger
    )
    assert all(source.section[0] in "123456789" for source in sources)


@pytest.mark.parametrize(
    ("expected", "path", "body"),
    [
        ("add /content_type; add /size_bytes", "/uploads", {}),
        ("remove /more", "/uploads", UPLOAD | {"more": 1}),
        (
            "correct /size_bytes: expected a whole number from 1 to 73400320",
            "/uploads",
            UPLOAD | {"size_bytes": "5"},
        ),
        (
            "correct /name: expected a text with a character that can be seen, and without U+0000",
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
            "add /background/type: expected one of automatic, background, color, transparent",
            PHOTOGRAPHY,
            SHOOT | {"background": {}},
        ),
    ],
)
def test_the_remedy_names_every_field(
    emulator: EmulatorUnderTest, expected: str, path: str, body: Json
) -> None:
    assert expected == _why(emulator, emulator.post(path, body))["remedy"]


def _bearing(authorization: str) -> Send:
    return lambda emulator: emulator.get(
        "/team", None, headers={"Authorization": authorization}
    )


def _seen_from_afar(emulator: EmulatorUnderTest) -> Answer:
    pose = emulator.author("pose", supported_camera_distances=["close", "medium"])["id"]
    return emulator.photograph(pose_id=pose, camera_distance="far")


def _too_dear(emulator: EmulatorUnderTest) -> Answer:
    emulator.set_team(credits_available=1)
    return emulator.photograph(image_count=6)


USE_FULL = "use the Team's credential 'Full'"
USE_OTHER = "send it with a credential of the Team 'Other', which owns it"


@pytest.mark.parametrize(
    ("expected", "send"),
    [
        (USE_FULL, lambda emulator: emulator.get("/team", REVOKED)),
        (USE_FULL, lambda emulator: emulator.post("/uploads", UPLOAD, READ_ONLY)),
        (
            "send the header Authorization with `Bearer` and an API key",
            lambda emulator: emulator.get("/team", None),
        ),
        ("write `Bearer` and a space before the API key", _bearing(FULL)),
        (
            "use an API key of this emulator, which GET /_emulator/teams lists",
            _bearing("Bearer nobody"),
        ),
        (
            USE_OTHER,
            lambda emulator: emulator.get(f"/assets/{emulator.assets(1, OTHER)[0]}"),
        ),
        (
            USE_OTHER,
            lambda emulator: emulator.photograph(asset_ids=emulator.assets(1, OTHER)),
        ),
        (
            "set /camera_distance to one that the pose supports: close, medium",
            _seen_from_afar,
        ),
        ("add 5 Credits, then send it with a new Idempotency-Key", _too_dear),
        ("wait until op_", CAUSES["resource_operation_in_progress"]),
        (
            "set /upload_token to the token the direct",
            lambda e: e.complete(e.ready_upload()[0], "upt_wrong"),
        ),
    ],
)
def test_the_remedy_names_what_would_have_been_right(
    emulator: EmulatorUnderTest, expected: str, send: Send
) -> None:
    assert _why(emulator, send(emulator))["remedy"].startswith(expected)


BOUND = "the Idempotency-Key is bound to this request for 24 hours"
FREE = "the Idempotency-Key is unchanged: the request may be sent again with it"


@pytest.mark.parametrize(
    ("outcome", "effects", "send"),
    [
        (
            "answered",
            ["3 Credits reserved; charged by what is completed", BOUND],
            lambda e: e.photograph(image_count=3),
        ),
        (
            "refused",
            ["nothing but the Idempotency-Key was changed", BOUND],
            lambda e: e.photograph(key=BROKE),
        ),
        ("refused", ["nothing was changed", FREE], lambda e: e.post("/uploads", {})),
        (
            "answered",
            ["was deleted"],
            lambda e: e.delete(f"/poses/{e.author('pose')['id']}"),
        ),
        ("answered", ["was deleted"], lambda e: e.delete(f"/assets/{e.assets(1)[0]}")),
        (
            "refused",
            ["the Upload Session has failed"],
            lambda e: e.complete(*e.ready_upload(b"bytes")),
        ),
        (
            "abandoned",
            ["nothing was changed"],
            lambda e: e.leave(Call("POST", "/uploads", UPLOAD)),
        ),
        (
            "answered",
            ["the bytes were accepted"],
            lambda e: e.send_bytes(e.open_upload(5), b"bytes"),
        ),
        ("refused", ["nothing was changed"], CAUSES["upload_bytes_conflict"]),
    ],
)
def test_a_requests_effects_are_told(
    emulator: EmulatorUnderTest, outcome: str, effects: list[str], send: Send
) -> None:
    send(emulator)
    why = _why(emulator)
    assert (outcome, []) == (
        why["outcome"],
        [text for text in effects if text not in "; ".join(why["effects"])],
    )


def test_the_remedy_of_a_wrong_upload_token_does_not_tell_the_right_one(
    emulator: EmulatorUnderTest,
) -> None:
    session, token = emulator.ready_upload()
    assert token not in str(_why(emulator, emulator.complete(session, "upt_wrong")))


def test_a_replay_names_the_request_whose_answer_it_is(
    emulator: EmulatorUnderTest,
) -> None:
    first = emulator.post("/uploads", UPLOAD, idempotency_key="one")
    emulator.post("/uploads", UPLOAD, idempotency_key="one")
    why = _why(emulator)
    assert ("replayed", "idempotency record") == (
        why["outcome"],
        why["decided_by"]["check"],
    )
    assert "201: the stored answer of request 1 was sent again." == why["summary"]
    related = why["related"]
    assert (1, first.headers["request-id"]) == (
        related["sequence"],
        related["request_id"],
    )
    assert ["nothing was changed"] == why["effects"]


@pytest.mark.parametrize(
    ("code", "next_step"),
    [
        (
            "rate_limited",
            "wait 5 s, then send the same request again with the same Idempotency-Key",
        ),
        ("internal_error", "send the same request again with the same Idempotency-Key"),
        ("permission_denied", "use a full credential for writes"),
        (
            "insufficient_credits",
            "add Credits and send a new logical request, with a new key",
        ),
    ],
)
def test_an_injected_problem_names_its_rule_and_remedy(
    emulator: EmulatorUnderTest, code: str, next_step: str
) -> None:
    emulator.rule({"operation": "createUpscaleGeneration"}, {"problem": code})
    answer = emulator.upscale()
    why = _why(emulator, answer)
    (rule,) = why["rules"]
    assert (code, "refused", "a scenario") == (
        answer.code,
        why["outcome"],
        why["decided_by"]["who"],
    )
    assert ("the rule", f'{{"problem": "{code}"}}') == (rule["name"], rule["did"])
    assert (
        f"{next_step}; the scenario's rule 'the rule' asked for this answer"
        == why["remedy"]
    )
    assert answer.json["detail"].startswith(
        "this answer was injected, whatever the state of the service: "
    )


def test_a_rule_says_whether_it_was_forestalled_or_replaced_the_answer(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule(
        {"operation": "createUpload"},
        {"problem": "internal_error", "at": "after_commit"},
    )
    why = _why(emulator, emulator.post("/uploads", {}))
    assert ("the service", "nothing") == (
        why["decided_by"]["who"],
        why["rules"][0]["did"],
    )
    why = _why(emulator, emulator.post("/uploads", UPLOAD))
    assert ("replaced", {PASSED}) == (why["outcome"], set(_results(why).values()))
    assert (
        "the request was carried out, though its answer says otherwise"
        == why["effects"][0]
    )


def test_a_problem_that_the_request_asked_for_says_so(
    emulator: EmulatorUnderTest,
) -> None:
    headers = {"Emulator-Fault": "service_unavailable"}
    why = _why(emulator, emulator.post("/uploads", UPLOAD, headers=headers))
    assert ("the header Emulator-Fault", []) == (why["decided_by"]["who"], why["rules"])
    assert (
        "wait 5 s, then send the same request again with the same Idempotency-Key"
        == why["remedy"].partition(";")[0]
    )


def test_a_lost_answer_tells_whether_the_request_was_carried_out(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule(
        {"operation": "createUpload"}, {"network": "stall", "at": "after_commit"}
    )
    _lose(emulator, Call("POST", "/uploads", UPLOAD, idempotency_key="one"))
    why = _why(emulator)
    assert ("answered", '{"network": "stall", "at": "after_commit"}') == (
        why["outcome"],
        why["rules"][0]["did"],
    )
    assert (
        "201: it passed every check. A scenario lost the answer on the wire."
        == why["summary"]
    )
    emulator.rule({"operation": "createUpload"}, {"network": "stall"})
    _lose(emulator, Call("POST", "/uploads", UPLOAD, idempotency_key="two"))
    why = _why(emulator)
    assert ("lost", ["nothing was changed"]) == (why["outcome"], why["effects"])
    results = _results(why)
    assert (PASSED, NOT_REACHED) == (
        results["request rate"],
        results["permission profile"],
    )


def _lose(emulator: EmulatorUnderTest, call: Call) -> None:
    """Send a request whose answer is lost, and leave when nothing more comes."""

    async def story() -> None:
        sending = asyncio.create_task(emulator._send(call))
        await turns()
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)

    emulator.run(story())


def test_a_held_request_tells_how_far_it_came(emulator: EmulatorUnderTest) -> None:
    emulator.rule({"operation": "createUpload"}, {"hold": "10s"})
    look, move = (
        control_call("GET", "/requests/1"),
        control_call("POST", "/clock/advance", {"seconds": 10}),
    )
    _, looked, _ = emulator.together(Call("POST", "/uploads", UPLOAD), look, move)
    why = looked.json["explanation"]
    results = _results(why)
    assert "in flight" == why["outcome"]
    assert (PASSED, NOT_REACHED) == (
        results["idempotency record"],
        results["admission pause"],
    )
    assert '{"hold": "10s"}' == why["rules"][0]["did"]


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
    ("seconds", "code", "line", "remedy"),
    [
        (10, "service_unavailable", 3, "2026-01-01T00:01:00.000Z"),
        (70, "subscription_required", 7, "Subscription"),
    ],
)
def test_a_refusal_names_the_entry_of_the_timeline_that_brought_it_about_and_what_ends_it(
    emulator: EmulatorUnderTest, seconds: int, code: str, line: int, remedy: str
) -> None:
    emulator.advance(seconds)
    why = _why(emulator, emulator.post("/uploads", UPLOAD))
    assert code in why["summary"]
    timeline = why["decided_by"]["timeline"]
    assert (line, f"2026-01-01T00:{seconds // 60:02}:{seconds % 60:02}.000Z") == (
        timeline["line"],
        timeline["at"],
    )
    assert f"line {line}" in why["summary"]
    assert remedy in why["remedy"]
    emulator.told("PUT", "/admission", {"state": "paused"})
    assert (
        _why(emulator, emulator.post("/uploads", UPLOAD))["decided_by"]["timeline"]
        is None
    )  # set by hand since
