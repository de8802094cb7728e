"""A recording of an emulator with hidden readings keeps to the contract, and tells those readings and nothing else."""

from itertools import combinations
from urllib.parse import urlsplit

import pytest

from image_workflow_emulator.client.control_client import Answer
from image_workflow_emulator.domain.readings import DECISIONS, READINGS, chosen, parse_readings
from image_workflow_emulator.drift import replay
from image_workflow_emulator.drift.recordings import RecordedExchange
from image_workflow_emulator.drift.traffic import Traffic
from image_workflow_emulator.kernel.seed import Seed
from tests.drift.recorded import CONTRACT, ORDER, STOPS, RecordedService, found, judged, tour
from tests.support.contract_check import ContractChecker, Exchange, read_contract

PAIRS = [(one, other) for one, other in combinations(READINGS, 2) if READINGS[one].decision != READINGS[other].decision]
SAMPLE = [PAIRS[Seed(24).number("pair", str(number)) % len(PAIRS)] for number in range(10)]


def test_a_recording_of_the_plain_emulator_shows_nothing_else() -> None:
    assert {"assumed"} == {row.verdict for row in judged(tour()).details["decisions"]}


def test_an_answer_500_of_the_emulator_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> Answer:
        return Answer(500, {}, b'{"code": "internal_error"}')

    exchanges = tour()[:1]
    monkeypatch.setattr(replay, "ask", fail)
    assert ["bug status"] == found(exchanges)


def test_an_order_may_refer_to_what_was_there_before_the_recording() -> None:
    service = RecordedService()
    photos = service.photos(3)
    product = service.product("Shirt", photos[:2]).json["id"]
    style = service.finished(service.call("createPhotographyStyle", {"name": "Soft", "asset_ids": photos}))
    begun = len(service.exchanges)
    ids = {"product_ids": [product], "photography_style_id": style["result"]["id"]}
    service.finished(service.call("createProductPhotographyGeneration", {**ORDER, **ids}))
    service.call("updateProduct", {"name": "Blouse"}, product_id=product)
    service.call("deletePhotographyStyle", photography_style_id=style["result"]["id"])
    report = judged(service.exchanges[begun:])
    assert len(service.exchanges) - begun == report.details["compared"]
    assert [] == report.findings


class ReadingsChecker(ContractChecker):
    """Judges by what the contract promises: of a 503 no Retry-After, and a media type may have parameters (RFC 9110,
    8.3).
    """

    def violations(self, exchange: Exchange) -> list[str]:
        headers = tuple(
            (name, value.partition(";")[0]) if name == "content-type" else (name, value)
            for name, value in exchange.headers
        )
        judged = Exchange(exchange.method, exchange.path, exchange.status, headers, exchange.body)
        found = self._violations(judged)
        return [line for line in found if (exchange.status, line) != (503, "header retry-after is missing")]


CHECKERS = {
    is_closed: ReadingsChecker(read_contract("openapi.yaml"), is_closed=is_closed) for is_closed in (True, False)
}


def keep_to_contract(exchanges: list[RecordedExchange], checker: ReadingsChecker) -> None:
    """Hold every answer of a recording against the contract."""
    statuses: dict[str, set[int | None]] = {"upload": set(), "download": set()}
    for call in Traffic(exchanges, CONTRACT).calls:
        if call.surface is not None:
            statuses[call.surface].add(call.status)
            continue
        path = urlsplit(call.url).path.removeprefix("/v1")
        headers, body = tuple(call.response_headers.items()), call.response_body or b""
        answer = Exchange(call.method, path, call.status or 0, headers, body)
        assert [] == checker.violations(answer), f"{call.method} {path}"
    assert statuses["upload"] <= {200, 201}
    assert statuses["download"] <= {200, 302}


def check(readings: str, *, evolution: bool = False) -> None:
    """Judge a recording of hidden readings, which must keep to the contract, and be found with nothing else."""
    exchanges = tour(readings, evolution=evolution)
    keep_to_contract(exchanges, CHECKERS[not evolution])
    assert list(chosen(parse_readings(readings))) == found(exchanges)


@pytest.mark.parametrize("name", READINGS)
def test_a_hidden_reading_is_found_and_no_other(name: str) -> None:
    check(name)


@pytest.mark.parametrize("readings", ["other", "stingy"])
@pytest.mark.parametrize("evolution", [False, True])
def test_all_hidden_readings_of_a_set_are_found_whatever_v1_has_added(readings: str, evolution: bool) -> None:
    check(readings, evolution=evolution)


@pytest.mark.parametrize("pair", [*SAMPLE, *(pytest.param(pair, marks=pytest.mark.verify) for pair in PAIRS)])
def test_both_hidden_readings_of_a_pair_are_found(pair: tuple[str, str]) -> None:
    check(",".join(pair))


def mixture(seed: int) -> str:
    """Choose for each decision one of its readings or the plain one."""
    names = {decision: [f"{decision}=plain"] for decision in DECISIONS}
    for name, reading in READINGS.items():
        names[reading.decision].append(name)
    return ",".join(these[Seed(seed).number("reading", decision) % len(these)] for decision, these in names.items())


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.verify) for seed in range(2, 100))])
def test_every_hidden_reading_of_a_mixture_is_found(seed: int) -> None:
    check(mixture(seed))


def answers_of(service: RecordedService) -> list[object]:
    """Make every stop of the tour once more, and return the answers."""
    begun = len(service.exchanges)
    for stop in STOPS:
        stop(service)
        service.wait(60)
    return [(one.url, one.status, one.response_headers, one.response_body) for one in service.exchanges[begun:]]


@pytest.mark.parametrize("readings", ["other", "stingy"])
def test_a_state_that_was_saved_under_readings_goes_on_under_them_with_the_same_bytes(readings: str) -> None:
    original, copy = RecordedService(readings), RecordedService()
    answers_of(original)
    copy.control("PUT", "/state", original.control("GET", "/state"))
    copy.exchanges = list(original.exchanges)  # whose number is part of the next Idempotency-Key
    assert answers_of(original) == answers_of(copy)
