"""A recording of an emulator with hidden readings keeps to the contract, and tells those readings and nothing else."""

from itertools import combinations
from urllib.parse import urlsplit

import pytest

from image_workflow_emulator.client.control_client import Answer
from image_workflow_emulator.domain.readings import (
    DECISIONS,
    READINGS,
    chosen,
    parse_readings,
)
from image_workflow_emulator.drift import replay
from image_workflow_emulator.drift.recordings import RecordedExchange
from image_workflow_emulator.drift.traffic import Traffic
from image_workflow_emulator.kernel.seed import Seed
from tests.drift.recorded import (
    CONTRACT,
    ORDER,
    STOPS,
    RecordedService,
    found,
    judged,
    tour,
)
from tests.support.contract_check import ContractChecker, Exchange, read_contract


def mixture(seed: int) -> str:
    """Choose for each decision one of its readings or the plain one."""
    names = {decision: [f"{decision}=plain"] for decision in DECISIONS}
    for name, reading in READINGS.items():
        names[reading.decision].append(name)
    return ",".join(
        these[Seed(seed).number("reading", decision) % len(these)]
        for decision, these in names.items()
    )


PAIRS = [
    f"{one},{other}" for one, other in combinations(READINGS, 2) if one[:3] != other[:3]
]
SAMPLE = [
    PAIRS[Seed(24).number("pair", str(number)) % len(PAIRS)] for number in range(10)
]
HIDDEN = [*READINGS, "other", "stingy", mixture(1), *SAMPLE]
MORE_HIDDEN = [*map(mixture, range(2, 100)), *PAIRS]
CHECKERS = {
    is_closed: ContractChecker(read_contract("openapi.yaml"), is_closed=is_closed)
    for is_closed in (True, False)
}
BYTES = {"upload": (200, 201), "download": (200, 302)}


def test_a_recording_of_the_plain_emulator_shows_nothing_else() -> None:
    report = judged(tour())
    assert ([], {"assumed"}) == (
        report.findings,
        {row.verdict for row in report.details["decisions"]},
    )


def test_an_answer_500_of_the_emulator_is_a_bug(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fail(*_: object) -> Answer:
        return Answer(500, {}, b'{"code": "internal_error"}')

    exchanges = tour()[:1]
    monkeypatch.setattr(replay, "ask", fail)
    assert ["bug status"] == found(exchanges)


def test_an_order_may_refer_to_what_was_there_before_the_recording() -> None:
    service = RecordedService()
    photos = service.photos(3)
    product = service.product("Shirt", photos[:2]).json["id"]
    style = service.finished(
        service.call("createPhotographyStyle", {"name": "Soft", "asset_ids": photos})
    )
    begun = len(service.exchanges)
    ids = {"product_ids": [product], "photography_style_id": style["result"]["id"]}
    service.finished(
        service.call("createProductPhotographyGeneration", {**ORDER, **ids})
    )
    service.call("updateProduct", {"name": "Blouse"}, product_id=product)
    service.call("deletePhotographyStyle", photography_style_id=style["result"]["id"])
    report = judged(service.exchanges[begun:])
    assert len(service.exchanges) - begun == report.details["compared"]
    assert [] == report.findings


def keep_to_contract(
    exchanges: list[RecordedExchange], checker: ContractChecker
) -> None:
    """Hold every answer of a recording against the contract.

    A 503 need not have a Retry-After (D66), and a media type may have parameters (RFC 9110, 8.3).
    """
    for call in Traffic(exchanges, CONTRACT).calls:
        if call.surface is not None:
            assert call.status in BYTES[call.surface]
            continue
        path = urlsplit(call.url).path.removeprefix("/v1")
        media_type = call.response_headers.get("content-type", "").partition(";")[0]
        headers = {
            **call.response_headers,
            **({"content-type": media_type} if media_type else {}),
        }
        if call.status == 503:
            headers.setdefault("retry-after", "1")
        checker.check(
            Exchange(
                call.method,
                path,
                call.status or 0,
                tuple(headers.items()),
                call.response_body or b"",
            )
        )


def check(readings: str, *, evolution: bool = False) -> None:
    """Judge a recording of hidden readings, which must keep to the contract, and be found with nothing else."""
    exchanges = tour(readings, evolution=evolution)
    keep_to_contract(exchanges, CHECKERS[not evolution])
    assert list(chosen(parse_readings(readings))) == found(exchanges)


@pytest.mark.parametrize(
    "readings",
    [*HIDDEN, *(pytest.param(one, marks=pytest.mark.verify) for one in MORE_HIDDEN)],
)
def test_hidden_readings_are_found_and_no_other(readings: str) -> None:
    check(readings)


@pytest.mark.parametrize("readings", ["other", "stingy"])
def test_hidden_readings_are_found_whatever_v1_has_added(readings: str) -> None:
    check(readings, evolution=True)


def answers_of(service: RecordedService) -> list[object]:
    """Make every stop of the tour once more, and return the answers."""
    begun = len(service.exchanges)
    for stop in STOPS:
        stop(service)
        service.wait(60)
    return [
        (one.url, one.status, one.response_headers, one.response_body)
        for one in service.exchanges[begun:]
    ]


@pytest.mark.parametrize("readings", ["other", "stingy"])
def test_a_state_that_was_saved_under_readings_goes_on_under_them_with_the_same_bytes(
    readings: str,
) -> None:
    original, copy = RecordedService(readings), RecordedService()
    answers_of(original)
    copy.control("PUT", "/state", original.control("GET", "/state"))
    copy.exchanges = list(
        original.exchanges
    )  # whose number is part of the next Idempotency-Key
    assert answers_of(original) == answers_of(copy)
