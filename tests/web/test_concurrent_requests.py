"""What changes while a request waits in admission: everything after the wait is read
again (D13).
"""

from collections import Counter

from tests.support.emulator_client import (
    INVALID_REFERENCE,
    Call,
    advance_call,
    completion_call,
    control_call,
    ingredient_body,
)
from tests.support.emulator_under_test import EmulatorUnderTest

UNKNOWN_KEY = (401, "authentication_required")
ASSET_NOT_FOUND = (404, "asset_not_found")
UPLOAD_NOT_FOUND = (404, "upload_not_found")
IN_PROGRESS = (409, "idempotency_in_progress")
UPLOAD_EXPIRED = (410, "upload_expired")


def completion(emulator: EmulatorUnderTest) -> Call:
    """Return the completion of a session that has its bytes: it waits while they are
    decoded.
    """
    return completion_call(*emulator.ready_upload(), idempotency_key="k")


def output(emulator: EmulatorUnderTest) -> str:
    """Have a picture made that is not drawn yet, and return the id of its Asset."""
    admitted = emulator.photograph()
    completed = emulator.wait_for(admitted.json)
    first_output = completed["outputs"][0]
    return str(first_output["asset"]["id"])


def test_a_window_that_closes_while_the_bytes_are_decoded_has_closed(
    emulator: EmulatorUnderTest,
) -> None:
    call = completion(emulator)

    answer, moved = emulator.together(call, advance_call(15 * 60))

    assert moved.status == 200
    assert answer.outcome == UPLOAD_EXPIRED


def test_a_source_deleted_while_it_is_looked_at_is_not_usable(
    emulator: EmulatorUnderTest,
) -> None:
    asset = output(emulator)
    creation = Call("POST", "/backgrounds", ingredient_body("background", [asset]))
    deletion = Call("DELETE", f"/assets/{asset}")

    created, deleted = emulator.together(creation, deletion)

    assert created.outcome == INVALID_REFERENCE
    assert deleted.status == 200
    assert emulator.items("/operations") == []


def test_a_request_that_waits_holds_up_nobody(emulator: EmulatorUnderTest) -> None:
    calls = [completion(emulator), Call("GET", "/team"), completion(emulator)]

    answers = emulator.together(*calls)

    statuses = [answer.status for answer in answers]
    request_ids = [answer.headers["request-id"] for answer in answers]
    assert statuses == [201, 200, 201]
    assert request_ids == sorted(request_ids)


RESET = control_call("POST", "/reset")


def test_a_write_whose_sandbox_is_reset_meanwhile_is_to_be_sent_again(
    emulator: EmulatorUnderTest,
) -> None:
    call = completion(emulator)

    answer, reset = emulator.together(call, RESET)
    again = emulator.send(call)

    assert reset.status == 200
    assert answer.outcome == IN_PROGRESS
    assert again.outcome == UPLOAD_NOT_FOUND
    assert emulator.items("/assets") == []


def test_a_read_whose_sandbox_is_reset_meanwhile_shows_what_is_there_now(
    emulator: EmulatorUnderTest,
) -> None:
    asset = output(emulator)
    calls = [Call("GET", f"/assets/{asset}"), Call("GET", "/assets")]

    read, listed, reset = emulator.together(*calls, RESET)

    assert reset.status == 200
    assert read.outcome == ASSET_NOT_FOUND
    assert listed.json["data"] == []


def test_the_key_of_a_sandbox_that_is_deleted_meanwhile_is_unknown(
    emulator: EmulatorUnderTest,
) -> None:
    sandbox = emulator.told("POST", "/sandboxes", {"id": "other"})
    key = sandbox["env"]["IMAGE_WORKFLOW_API_KEY"]
    emulator.photograph(key)
    emulator.ask("POST", "/clock/advance", {"seconds": 60}, sandbox="other")
    ready = emulator.ready_upload(key=key)
    write = completion_call(*ready, idempotency_key="k", key=key)
    read = Call("GET", "/assets", key=key)  # whose picture is drawn
    deletion = control_call("DELETE", "/sandboxes/other")

    listed, completed, deleted = emulator.together(read, write, deletion)

    assert deleted.status == 204
    assert listed.outcome == UNKNOWN_KEY
    assert completed.outcome == UNKNOWN_KEY


def test_twenty_places_are_never_taken_by_more(emulator: EmulatorUnderTest) -> None:
    asset = output(emulator)
    body = ingredient_body("background", [asset])
    calls = [Call("POST", "/backgrounds", body) for _ in range(25)]

    answers = emulator.together(*calls)

    statuses = Counter(answer.status for answer in answers)
    capabilities = emulator.get("/team").json["capabilities"]
    assert statuses == {202: 20, 429: 5}
    assert capabilities["api_concurrency"]["used"] == 20


def test_of_two_completions_at_once_one_makes_the_asset(
    emulator: EmulatorUnderTest,
) -> None:
    session, token = emulator.ready_upload()
    call = completion_call(session, token)

    answers = emulator.together(call, call)

    completed, refused = sorted(answers, key=lambda answer: answer.status)
    assert completed.status == 201
    assert refused.outcome == UPLOAD_NOT_FOUND
    assert emulator.count("/assets") == 1


def test_a_key_is_in_progress_while_its_upload_is_decoded_whatever_the_intent(
    emulator: EmulatorUnderTest,
) -> None:
    """D13."""
    session, token = emulator.ready_upload()
    call = completion_call(session, token, idempotency_key="k")
    other_intent = completion_call(session, "another", idempotency_key="k")

    first, same, different = emulator.together(call, call, other_intent)
    replay = emulator.send(call)

    assert first.status == 201
    assert same.outcome == IN_PROGRESS
    assert different.outcome == IN_PROGRESS
    assert replay == first
