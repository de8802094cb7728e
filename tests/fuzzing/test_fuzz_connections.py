"""Any bytes on a connection: answers in HTTP or none, no 500, no hang, and nothing done that was refused."""

import pytest

from tests.fuzzing import witness
from tests.fuzzing.cases import Case, amounts, cases, changed_bytes, in_pieces
from tests.fuzzing.requests_as_bytes import SEPARATORS, Surfaces, spoil
from tests.fuzzing.wire import Conversation, converse
from tests.support.emulator_client import EmulatorUnderTest

STATUSES = {200, 201, 204, 206, 302, 304, 400, 401, 403, 404, 405, 409, 410, 413, 416, 422, 429, 503}
"""503 only if a scenario asks for it; no 500 in any case."""


@pytest.mark.parametrize("amount", amounts(350, 15_000))
def test_spoiled_requests_are_answered_or_dropped_and_change_nothing(control: EmulatorUnderTest, amount: int) -> None:
    seen: dict[int, int] = {}
    surfaces = Surfaces(control)
    for case in cases("connections", amount):
        if case.begins_an_episode:
            control.ask("POST", "/reset")
            surfaces = Surfaces(control)
        sent = spoiled_bytes(case, surfaces)
        with case.told(sent=sent):
            conversation = hold(control, in_pieces(sent, case.chance))
            for status in statuses_of(conversation):
                assert status in STATUSES
                seen[status] = seen.get(status, 0) + 1
    assert {200, 400, 401, 404, 405} <= seen.keys(), "the fuzzer has lost its way"
    assert control.get("/team").status == 200


def spoiled_bytes(case: Case, surfaces: Surfaces) -> bytes:
    """Return one to three requests, with some parts wrong and some bytes changed."""
    chance = case.chance
    sent = b""
    for _ in range(chance.choice((1, 1, 2, 3))):
        request = surfaces.good_request(chance)
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            spoil(request, chance)
        sent += request.written(chance)
    for _ in range(chance.choice((0, 0, 0, 1, 1, 2, 5))):
        sent = changed_bytes(sent, chance, SEPARATORS)
    return sent


def hold(control: EmulatorUnderTest, pieces: list[bytes]) -> Conversation:
    """Hold a conversation, which may change something only by a write that was answered with a success."""
    before = witness.everything(control)
    conversation = control.run(converse(control.application, pieces))
    is_served = any(status < 300 and method not in ("GET", "HEAD") for method, _, status in conversation.requests)
    if not is_served:
        assert witness.differences(before, witness.everything(control)) == []
    return conversation


def statuses_of(conversation: Conversation) -> list[int]:
    """Return the statuses on the wire: the application's in their order, and a last one of the parser at most."""
    responses = conversation.responses()
    if responses and responses[-1].is_of_the_parser:
        assert (responses.pop().status, conversation.was_closed) == (400, True)
    statuses = [response.status for response in responses]
    assert statuses == [status for _, _, status in conversation.requests][: len(statuses)]
    return statuses + [400] * (len(conversation.responses()) - len(statuses))


@pytest.mark.parametrize("amount", amounts(30, 1_000))
def test_a_request_that_ends_anywhere_is_as_if_it_had_never_been_sent(control: EmulatorUnderTest, amount: int) -> None:
    surfaces = Surfaces(control)
    for case in cases("half-sent", amount):
        request = surfaces.good_request(case.chance)
        whole = request.written(case.chance)
        half = whole[: case.chance.randrange(len(whole))]
        with case.told(sent=half):
            conversation = hold(control, in_pieces(half, case.chance))
            assert [status for _, _, status in conversation.requests if 0 < status < 400] == []


@pytest.mark.parametrize("amount", amounts(30, 1_000))
def test_the_pieces_in_which_a_request_comes_make_no_difference(control: EmulatorUnderTest, amount: int) -> None:
    surfaces = Surfaces(control)
    for case in cases("pieces", amount):
        request = surfaces.good_request(case.chance)
        whole = request.written(case.chance)
        with case.told(sent=whole):
            (at_once,) = hold(control, [whole]).responses()
            (in_parts,) = hold(control, in_pieces(whole, case.chance, most=40)).responses()
            (byte_by_byte,) = hold(control, [whole[place : place + 1] for place in range(len(whole))]).responses()
            assert at_once.status < 300 or at_once.status == 409
            if b"Idempotency-Key" in whole or request.method == b"POST":  # otherwise Request-Ids differ
                assert at_once.status == in_parts.status == byte_by_byte.status
            else:
                assert at_once.body == in_parts.body == byte_by_byte.body
