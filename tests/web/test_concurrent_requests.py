"""What changes while a request waits in admission: everything after the wait is read again (D13)."""

from tests.support.emulator_client import (
    Call,
    EmulatorUnderTest,
    completion_call,
    control_call,
    ingredient_body,
)


def completion(emulator: EmulatorUnderTest) -> Call:
    """Return the completion of a session that has its bytes: it waits while they are decoded."""
    return completion_call(*emulator.ready_upload(), idempotency_key="k")


def output(emulator: EmulatorUnderTest) -> str:
    done = emulator.wait_for(emulator.photograph().json)
    return str(done["outputs"][0]["asset"]["id"])


def test_a_window_that_closes_while_the_bytes_are_decoded_has_closed(
    emulator: EmulatorUnderTest,
) -> None:
    call = completion(emulator)
    answer, moved = emulator.together(
        call, control_call("POST", "/clock/advance", {"seconds": 15 * 60})
    )
    assert (moved.status, answer.outcome) == (200, (410, "upload_expired"))


def test_a_source_deleted_while_it_is_looked_at_is_not_usable(
    emulator: EmulatorUnderTest,
) -> None:
    asset = output(emulator)
    answers = emulator.together(
        Call("POST", "/backgrounds", ingredient_body("background", [asset])),
        Call("DELETE", f"/assets/{asset}"),
    )
    assert [answer.outcome for answer in answers] == [
        (422, "invalid_reference"),
        (200, "asset_deletion"),
    ]
    assert emulator.items("/operations") == []


def test_a_request_that_waits_holds_up_nobody(emulator: EmulatorUnderTest) -> None:
    answers = emulator.together(
        completion(emulator), Call("GET", "/team"), completion(emulator)
    )
    first, second, third = [answer.headers["request-id"] for answer in answers]
    assert [answer.status for answer in answers] == [201, 200, 201]
    assert first < second < third


RESET = control_call("POST", "/reset")


def test_a_write_whose_sandbox_is_reset_meanwhile_is_to_be_sent_again(
    emulator: EmulatorUnderTest,
) -> None:
    call = completion(emulator)
    answer, reset = emulator.together(call, RESET)
    assert (answer.outcome, reset.status) == ((409, "idempotency_in_progress"), 200)
    assert emulator.send(call).outcome == (404, "upload_not_found")
    assert emulator.items("/assets") == []


def test_a_read_whose_sandbox_is_reset_meanwhile_shows_what_is_there_now(
    emulator: EmulatorUnderTest,
) -> None:
    asset = output(emulator)
    one, listed, reset = emulator.together(
        Call("GET", f"/assets/{asset}"), Call("GET", "/assets"), RESET
    )
    assert (one.outcome, reset.status) == ((404, "asset_not_found"), 200)
    assert listed.json["data"] == []


def test_the_key_of_a_sandbox_that_is_deleted_meanwhile_is_unknown(
    emulator: EmulatorUnderTest,
) -> None:
    key = emulator.told("POST", "/sandboxes", {"id": "other"})["env"][
        "IMAGE_WORKFLOW_API_KEY"
    ]
    emulator.photograph(key)
    emulator.ask("POST", "/clock/advance", {"seconds": 60}, sandbox="other")
    write = completion_call(
        *emulator.ready_upload(key=key), idempotency_key="k", key=key
    )
    read = Call("GET", "/assets", key=key)  # whose picture is drawn
    answers = emulator.together(read, write, control_call("DELETE", "/sandboxes/other"))
    assert [answer.outcome for answer in answers[:2]] == [
        (401, "authentication_required")
    ] * 2
    assert answers[2].status == 204


def test_twenty_places_are_never_taken_by_more(emulator: EmulatorUnderTest) -> None:
    asset = output(emulator)
    body = ingredient_body("background", [asset])
    answers = emulator.together(
        *[Call("POST", "/backgrounds", body) for _ in range(25)]
    )
    assert sorted(answer.status for answer in answers) == [202] * 20 + [429] * 5
    assert emulator.get("/team").json["capabilities"]["api_concurrency"]["used"] == 20


def test_of_two_completions_at_once_one_makes_the_asset(
    emulator: EmulatorUnderTest,
) -> None:
    session, token = emulator.ready_upload()
    answers = emulator.together(*(completion_call(session, token) for _ in range(2)))
    assert [(201, "asset"), (404, "upload_not_found")] == sorted(
        answer.outcome for answer in answers
    )
    assert 1 == emulator.count("/assets")


def test_a_key_is_in_progress_while_its_upload_is_decoded_whatever_the_intent(
    emulator: EmulatorUnderTest,
) -> None:
    """D13."""
    session, token = emulator.ready_upload()
    calls = [
        completion_call(session, said, idempotency_key="k")
        for said in (token, token, "another")
    ]
    first, same, different = emulator.together(*calls)
    in_progress = (409, "idempotency_in_progress")
    assert (first.status, same.outcome, different.outcome) == (
        201,
        in_progress,
        in_progress,
    )
    assert emulator.send(calls[0]) == first
