"""Under readings too, an emulator that goes on from a saved state answers the same bytes."""

import asyncio

import pytest

from image_workflow_emulator.testing.emulator import ask
from tests.drift.recorded import STOPS, RecordedService


def state_of(service: RecordedService) -> bytes:
    answered = asyncio.run(ask(service.application, "GET", "/_emulator/state", {}))
    return answered.body


def load(service: RecordedService, state: bytes) -> None:
    headers = {"content-type": "application/zip"}
    answered = asyncio.run(ask(service.application, "PUT", "/_emulator/state", headers, state))
    assert answered.status < 300, answered.body


def go_on(service: RecordedService) -> list[object]:
    """Make every stop of the tour once more, and return the answers."""
    begun = len(service.exchanges)
    for stop in STOPS:
        stop(service)
        service.wait(60)
    answers = service.exchanges[begun:]
    return [(one.url, one.status, one.response_headers, one.response_body) for one in answers]


@pytest.mark.parametrize("readings", ["other", "stingy"])
def test_a_state_that_was_saved_under_readings_goes_on_under_them_with_the_same_bytes(readings: str) -> None:
    original, copy = RecordedService(readings), RecordedService()
    go_on(original)
    load(copy, state_of(original))
    copy.exchanges = list(original.exchanges)  # whose number is part of the next Idempotency-Key
    assert go_on(original) == go_on(copy)
