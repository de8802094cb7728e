"""Documents that are made to be costly: each is refused quickly."""

import asyncio
import time
from collections.abc import Callable

import pytest

from image_workflow_emulator.documents.complaints import (
    MAX_COMPARED_CHARACTERS,
    MAX_COMPARED_WORDS,
    nearest,
)
from tests.support.emulator_client import Answer, control_call
from tests.support.emulator_under_test import EmulatorUnderTest

MAX_SECONDS = 3
"""Limit of the processor time of a refusal, several times what is needed."""

LONG_NAME = "ab" * 90
SIMILAR_NAME = "ba" * 90


def given_with_unknown_products() -> str:
    products = "\n".join(f"- product: {{name: {LONG_NAME}{n}}}" for n in range(150))
    references = ", ".join(f"{SIMILAR_NAME}{number}" for number in range(4))
    photoshoots = f"\n- photoshoot: {{products: [{references}]}}" * 50
    return f"given:\n{products}{photoshoots}\n"


def given_with_unknown_fields() -> str:
    fields = ", ".join(f"phota{number}: 1" for number in range(40))
    return "given:\n" + f"- product: {{name: a, {fields}}}\n" * 100


def scenario_with_unknown_operations() -> str:
    operations = ", ".join(f"getTeemgetTeemgetTeem{n}" for n in range(14_000))
    match = f"{{operation: [{operations}]}}"
    return f"scenario: x\nrules:\n- {{match: {match}, then: {{hold: 1s}}}}\n"


def scenario_with_unknown_teams() -> str:
    lines = ["scenario: x", "world:", "  teams:"]
    for number in range(190):
        team = f"{LONG_NAME[:58]}{number}"
        lines.append(f"    {team}: {{credentials: [{{key: key{number}}}]}}")
    lines.append("rules:")
    for number in range(250):
        team = f"{SIMILAR_NAME[:58]}{number}"
        lines.append(f"- {{match: {{team: {team}}}, then: {{hold: 1s}}}}")
    return "\n".join(lines)


def scenario_with_unknown_fields_in_bodies() -> str:
    fields = ", ".join(f"image_cont{number}: 1" for number in range(20))
    rule = f"- {{match: {{body: {{{fields}}}}}, then: {{hold: 1s}}}}\n"
    return "scenario: x\nrules:\n" + rule * 80


def scenario_with_unknown_readings() -> str:
    readings = ", ".join(f"D{number}: always" for number in range(9_000))
    return f"scenario: x\nreadings: {{{readings}}}\n"


@pytest.mark.parametrize(
    "make_text",
    [
        pytest.param(given_with_unknown_products, id="unknown products"),
        pytest.param(given_with_unknown_fields, id="unknown fields"),
    ],
)
def test_a_costly_list_of_what_is_given_is_refused_quickly(
    emulator: EmulatorUnderTest,
    make_text: Callable[[], str],
) -> None:
    text = make_text().encode()

    began_at = time.process_time()
    answer = emulator.ask("POST", "/given", content=text)
    seconds = time.process_time() - began_at

    assert answer.code == "invalid_request"
    assert seconds < MAX_SECONDS


@pytest.mark.parametrize(
    "make_text",
    [
        pytest.param(scenario_with_unknown_operations, id="unknown operations"),
        pytest.param(scenario_with_unknown_teams, id="unknown teams"),
        pytest.param(scenario_with_unknown_fields_in_bodies, id="unknown fields"),
        pytest.param(scenario_with_unknown_readings, id="unknown readings"),
    ],
)
def test_a_costly_scenario_is_refused_quickly(
    emulator: EmulatorUnderTest,
    make_text: Callable[[], str],
) -> None:
    text = make_text().encode()

    began_at = time.process_time()
    answer = emulator.ask("PUT", "/scenario", content=text)
    seconds = time.process_time() - began_at

    assert answer.code == "invalid_scenario"
    assert seconds < MAX_SECONDS


TEAMS = {f"Team {number}": {"credit": 1} for number in range(9_000)}
READINGS = {f"D{number}": "always" for number in range(9_000)}
RULES = [{"then": {"holt": 1}}] * 3_000


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"world": {"teams": TEAMS}}, id="world"),
        pytest.param({"readings": READINGS}, id="readings"),
        pytest.param({"scenario": {"scenario": "x", "rules": RULES}}, id="scenario"),
    ],
)
def test_a_costly_beginning_of_a_sandbox_is_refused_quickly(
    emulator: EmulatorUnderTest,
    body: dict[str, object],
) -> None:
    began_at = time.process_time()
    answer = emulator.ask("POST", "/sandboxes", body)
    seconds = time.process_time() - began_at

    assert answer.status in {400, 422}
    assert seconds < MAX_SECONDS


def test_others_are_served_while_a_large_list_of_what_is_given_is_read(
    emulator: EmulatorUnderTest,
) -> None:
    text = given_with_unknown_fields().encode()
    answered: list[str] = []

    async def send(
        name: str,
        path: str,
        method: str,
        content: bytes = b"",
    ) -> None:
        await emulator._send(control_call(method, path, content=content))
        answered.append(name)

    async def send_both() -> None:
        slow = send("given", "/given", "POST", text)
        await asyncio.gather(slow, send("health", "/health", "GET"))

    emulator.run(send_both())

    assert answered == ["health", "given"]


@pytest.mark.parametrize(("method", "path"), [("POST", "/given"), ("PUT", "/scenario")])
def test_a_document_that_waits_to_be_read_does_not_delay_a_stop(
    emulator: EmulatorUnderTest,
    method: str,
    path: str,
) -> None:
    call = control_call(method, path, content=given_with_unknown_fields().encode())

    async def stop() -> None:
        await emulator._send(control_call("GET", "/health"))
        emulator.application.stop()

    async def send_two_and_stop() -> list[Answer | None]:
        first, second, _ = await asyncio.gather(
            emulator._send(call),
            emulator._send(call),
            stop(),
        )
        return [first, second]

    read, waiting = emulator.run(send_two_and_stop())

    assert read is not None
    assert read.status in {400, 422}
    assert waiting is not None
    assert waiting.code == "service_unavailable"


def test_the_nearest_word_is_found_among_as_many_as_are_compared() -> None:
    words = {f"word {number}" for number in range(MAX_COMPARED_WORDS - 1)}
    words.add("rules")

    (suggestion,) = nearest("rulez", words)

    assert suggestion == "rules"


def test_more_words_than_are_compared_have_no_nearest() -> None:
    words = {f"word {number}" for number in range(MAX_COMPARED_WORDS)}
    words.add("rules")

    suggestions = nearest("rulez", words)

    assert not suggestions


def test_a_word_that_is_too_long_has_no_nearest() -> None:
    word = "x" * (MAX_COMPARED_CHARACTERS + 1)
    near_word = word[:-1]

    suggestions = nearest(word, {near_word})

    assert not suggestions
