"""A recording of an emulator with hidden readings tells those readings, and no other.

It also keeps to the contract: a client that reads no more than that works there.
"""

from collections.abc import Sequence
from itertools import combinations
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from image_workflow_emulator.client.control_client import Answer
from image_workflow_emulator.domain.readings import (
    DECISIONS,
    READINGS,
    chosen,
    parse_readings,
)
from image_workflow_emulator.drift import replay
from image_workflow_emulator.drift.exchanges import RecordedExchange
from image_workflow_emulator.drift.traffic import RecordedCall
from image_workflow_emulator.kernel.seed import Seed
from tests.drift.judging import calls_in, differences_in, judged
from tests.drift.recorded_service import ORDER, PHOTOGRAPHY, RecordedService
from tests.drift.tour import STOPS, tour
from tests.support.contract_check import ContractChecker, Exchange, read_contract


def mixture(seed: int) -> str:
    """Choose one of the readings of each decision, or the plain one."""
    choices_by_decision = {decision: [f"{decision}=plain"] for decision in DECISIONS}
    for name, reading in READINGS.items():
        choices_by_decision[reading.decision].append(name)
    drawn = []
    for decision, choices in choices_by_decision.items():
        number = Seed(seed).number("reading", decision)
        choice = choices[number % len(choices)]
        drawn.append(choice)
    return ",".join(drawn)


def pairs() -> list[str]:
    """Every two readings of different decisions."""
    pairs = []
    readings = READINGS.values()
    for first, second in combinations(readings, 2):
        if first.decision != second.decision:
            pairs.append(f"{first.name},{second.name}")
    return pairs


def sample(texts: Sequence[str], size: int) -> list[str]:
    """Draw some of the texts."""
    seed = Seed(24)
    drawn = []
    for index in range(size):
        number = seed.number("pair", str(index))
        text = texts[number % len(texts)]
        drawn.append(text)
    return drawn


HIDDEN = [
    *READINGS,
    "other",
    "stingy",
    mixture(1),
    *sample(pairs(), 10),
]
MORE_HIDDEN = [
    *(mixture(seed) for seed in range(2, 100)),
    *pairs(),
]
IN_VERIFY = [pytest.param(more, marks=pytest.mark.verify) for more in MORE_HIDDEN]
"""The others, which `make verify` tries."""
BYTE_STATUSES = {
    "upload": (200, 201),
    "download": (200, 302),
}


@pytest.fixture(scope="module")
def closed_contract() -> ContractChecker:
    """The contract, which no answer may exceed."""
    return ContractChecker(read_contract("openapi.yaml"))


@pytest.fixture(scope="module")
def open_contract() -> ContractChecker:
    """The contract, which answers may exceed by what section 9 allows."""
    return ContractChecker(read_contract("openapi.yaml"), is_closed=False)


def keep_to_contract(
    exchanges: Sequence[RecordedExchange],
    contract: ContractChecker,
) -> None:
    """Hold every answer of a recording against the contract."""
    for call in calls_in(exchanges):
        if call.surface is not None:
            assert call.status in BYTE_STATUSES[call.surface]
        else:
            contract.check(exchange_of(call))


def exchange_of(call: RecordedCall) -> Exchange:
    """Return a call without what readings may leave out or add: a 503 need not have a
    Retry-After (D66), and a media type may have parameters (RFC 9110, 8.3).
    """
    path = urlsplit(call.url).path
    headers = dict(call.response_headers)
    if "content-type" in headers:
        media_type, _, _ = headers["content-type"].partition(";")
        headers["content-type"] = media_type
    if call.status == 503:
        headers.setdefault("retry-after", "1")
    return Exchange(
        method=call.method,
        path=path.removeprefix("/v1"),
        status=call.status or 0,
        headers=tuple(headers.items()),
        body=call.response_body or b"",
    )


def expected_differences(readings: str) -> list[str]:
    """Return the readings that a recording under them must show."""
    return list(chosen(parse_readings(readings)))


def test_a_recording_of_the_plain_emulator_differs_in_nothing() -> None:
    exchanges = tour()

    report = judged(exchanges)

    rows = report.details["decisions"]
    verdicts = {row.verdict for row in rows}
    assert report.findings == []
    assert verdicts == {"assumed"}


@pytest.mark.parametrize("readings", [*HIDDEN, *IN_VERIFY])
def test_hidden_readings_are_found_and_no_other(
    readings: str,
    closed_contract: ContractChecker,
) -> None:
    exchanges = tour(readings)

    differences = differences_in(exchanges)

    keep_to_contract(exchanges, closed_contract)
    assert differences == expected_differences(readings)


@pytest.mark.parametrize("readings", ["other", "stingy"])
def test_hidden_readings_are_found_whatever_v1_has_added(
    readings: str,
    open_contract: ContractChecker,
) -> None:
    exchanges = tour(readings, evolution=True)

    differences = differences_in(exchanges)

    keep_to_contract(exchanges, open_contract)
    assert differences == expected_differences(readings)


@pytest.mark.parametrize("readings", ["plain", "stingy"])
def test_times_in_whole_seconds_are_no_evidence_for_waits(readings: str) -> None:
    exchanges = tour(readings)
    coarse = [with_whole_seconds(exchange) for exchange in exchanges]

    differences = differences_in(coarse)

    hidden = expected_differences(readings)
    assert differences == [name for name in hidden if name != "D74=lag"]


def with_whole_seconds(exchange: RecordedExchange) -> RecordedExchange:
    second = (exchange.at or 0) // 1_000
    return replace(
        exchange,
        at=1_000 * second,
        is_coarse=True,
    )


@pytest.mark.parametrize("readings", [[], ["D10=binds-refusals"]])
def test_a_corrected_body_under_the_same_key_shows_what_a_refusal_does_to_it(
    readings: list[str],
) -> None:
    service = RecordedService(",".join(readings) or "plain")
    (photo,) = service.photos(1)
    service.product("Shirt", ["ast_absent"], key="corrected")
    service.product("Shirt", [photo], key="corrected")

    differences = differences_in(service.exchanges)

    assert differences == readings


def test_an_answer_500_of_the_emulator_is_a_bug(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fail(*_: object) -> Answer:
        return Answer(500, {}, b'{"code": "internal_error"}')

    exchanges = tour()[:1]
    monkeypatch.setattr(replay, "ask", fail)

    differences = differences_in(exchanges)

    assert differences == ["bug status"]


def test_an_order_may_refer_to_what_was_there_before_the_recording() -> None:
    service = RecordedService()
    photos = service.photos(3)
    created = service.product("Shirt", photos[:2])
    product = created.json["id"]
    style_body = {"name": "Soft", "asset_ids": photos}
    admitted_style = service.call("createPhotographyStyle", style_body)
    work = service.finished(admitted_style)
    style = work["result"]["id"]
    service.exchanges.clear()
    order = {
        **ORDER,
        "product_ids": [product],
        "photography_style_id": style,
    }
    admitted_order = service.call(PHOTOGRAPHY, order)
    service.finished(admitted_order)
    service.call("updateProduct", {"name": "Blouse"}, product_id=product)
    service.call("deletePhotographyStyle", photography_style_id=style)

    report = judged(service.exchanges)

    compared = report.details["compared"]
    assert compared == len(service.exchanges)
    assert report.findings == []


def exchanges_of_stops(service: RecordedService) -> list[RecordedExchange]:
    """Make every stop of the tour, and return the exchanges."""
    count_before = len(service.exchanges)
    for stop in STOPS:
        stop(service)
        service.wait(60)
    return service.exchanges[count_before:]


@pytest.mark.parametrize("readings", ["other", "stingy"])
def test_a_state_that_was_saved_under_readings_goes_on_with_the_same_bytes(
    readings: str,
) -> None:
    original = RecordedService(readings)
    exchanges_of_stops(original)
    saved = original.control("GET", "/state")
    copy = RecordedService()
    copy.control("PUT", "/state", saved)
    copy.exchanges = list(original.exchanges)  # the number is part of the next key

    of_copy = exchanges_of_stops(copy)
    of_original = exchanges_of_stops(original)

    assert of_copy == of_original
