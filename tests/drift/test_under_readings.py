"""What holds of a plain emulator holds under readings too: the contract, and the same bytes again."""

import asyncio
from urllib.parse import urlsplit

import pytest

from emulator.domain.readings import READINGS
from emulator.drift.probes import PROBES
from emulator.testing.exchanges import ask
from emulator.traffic.calls import Traffic
from tests.drift.recorded import CONTRACT, RecordedService, toured
from tests.support.contract_check import ContractChecker, Exchange, read_contract

SETS = ("other", "stingy", "any:1", "any:2", "any:3")


class ReadingsChecker(ContractChecker):
    """Judges by what the contract promises: of a 503 no Retry-After, and a media type may have parameters (RFC 9110, 8.3)."""

    def violations(self, exchange: Exchange) -> list[str]:
        headers = tuple(
            (name, value.partition(";")[0]) if name == "content-type" else (name, value)
            for name, value in exchange.headers
        )
        judged = Exchange(exchange.method, exchange.path, exchange.status, headers, exchange.body)
        found = self._violations(judged)
        return [line for line in found if (exchange.status, line) != (503, "header retry-after is missing")]


@pytest.mark.parametrize("readings", [*READINGS, *SETS])
def test_every_answer_is_valid_against_the_contract(readings: str) -> None:
    checker = ReadingsChecker(read_contract("openapi.yaml"))
    traffic = Traffic(toured(readings).exchanges, CONTRACT)
    statuses: dict[str, set[int | None]] = {"upload": set(), "download": set()}
    for call in traffic.calls:
        exchange = call
        if call.surface is not None:
            statuses[call.surface].add(call.status)
            continue
        path = urlsplit(exchange.url).path.removeprefix("/v1")
        answer = Exchange(
            exchange.method,
            path,
            exchange.status or 0,
            tuple(exchange.response_headers.items()),
            exchange.response_body or b"",
        )
        assert [] == checker.violations(answer), f"{exchange.method} {path}"
    assert statuses["upload"] <= {200, 201}
    assert statuses["download"] <= {200, 302}


@pytest.mark.parametrize("readings", ["other", "stingy", "any:1"])
def test_the_same_requests_have_the_same_answers(readings: str) -> None:
    def answers() -> list[object]:
        exchanges = toured(readings).exchanges
        return [(one.url, one.status, one.response_headers, one.response_body) for one in exchanges]

    assert answers() == answers()


def state_of(service: RecordedService) -> bytes:
    answered = asyncio.run(ask(service.application, "GET", "/_emulator/state", {}))
    return answered.body


def load(service: RecordedService, state: bytes) -> None:
    headers = {"content-type": "application/zip"}
    answered = asyncio.run(ask(service.application, "PUT", "/_emulator/state", headers, state))
    assert answered.status < 300, answered.body


def go_on(service: RecordedService) -> list[object]:
    """Run every probe once more, and return the answers."""
    begun = len(service.exchanges)
    for probe in PROBES:
        probe.run(service)
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
