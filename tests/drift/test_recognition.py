"""Which exchanges are calls, and which recordings are judged together."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from image_workflow_emulator.drift.exchanges import RecordedExchange, Recording
from image_workflow_emulator.drift.recognition import recognize
from image_workflow_emulator.drift.recordings import read_recording
from tests.drift.judging import differences_in, judged
from tests.drift.recorded_service import CONTRACT, ORDER, RecordedService

Exchanges = Sequence[RecordedExchange]


def answered(
    url: str,
    status: int,
    body: Any,
    method: str = "GET",
) -> RecordedExchange:
    """An exchange with a JSON answer."""
    return RecordedExchange(
        where="entry",
        at=0,
        took_ms=1.0,
        method=method,
        url=url,
        request_headers={},
        request_body=None,
        status=status,
        response_headers={"content-type": "application/json"},
        response_body=json.dumps(body).encode(),
    )


def elsewhere(base: str) -> Exchanges:
    """Calls of another API, which has some of the paths too."""
    shirts = {
        "items": [{"id": 7, "title": "Linen shirt"}],
        "total": 1,
    }
    not_found = {
        "error": {"code": "not_found", "message": "no such product"},
    }
    unauthorized = {"message": "Unauthorized"}
    return [
        answered(f"{base}/v1/products", 200, shirts),
        answered(f"{base}/v1/products/7", 404, not_found),
        answered(f"{base}/v1/assets", 401, unauthorized),
    ]


def working_service() -> RecordedService:
    """A service that was read, and has uploaded, ordered and created something."""
    service = RecordedService()
    service.call("getTeam")
    service.product("Shirt", service.photos(1))
    service.call("listProducts")
    service.order(ORDER)
    service.call("getTeam")
    return service


def moved(exchanges: Exchanges, address: str) -> Exchanges:
    """Return a recording of the same service at another address."""

    def renamed(body: bytes | None) -> bytes | None:
        return body and body.replace(b"testserver", address.encode())

    return [
        replace(
            exchange,
            url=exchange.url.replace("testserver", address),
            response_body=renamed(exchange.response_body),
        )
        for exchange in exchanges
    ]


# Several recordings -------------------------------------------------------------------


def test_recordings_that_overlap_in_time_are_judged_apart() -> None:
    first = working_service().exchanges
    second = working_service().exchanges

    report = judged(first, second)

    assert report.findings == []
    assert report.details["compared"] == len(first) + len(second)


def test_what_happened_between_two_recordings_is_no_difference() -> None:
    """Somebody else spent Credits."""
    service = RecordedService()
    service.call("getTeam")
    first = list(service.exchanges)
    service.exchanges.clear()
    service.set_credits(5)
    service.call("getTeam")
    second = list(service.exchanges)

    differences = differences_in(first, second)

    assert differences == []


def test_all_recordings_together_are_the_evidence_for_a_reading() -> None:
    service = RecordedService("D26=always-a-cursor")
    service.call("listAssets")

    report = judged(service.exchanges, service.exchanges)

    rows = report.details["decisions"]
    (row,) = (row for row in rows if row.decision == "D26")
    assert row.reading == "always-a-cursor"
    assert row.of == 2


def test_each_sandbox_of_a_journal_is_a_recording() -> None:
    service = working_service()
    journal = json.loads(service.control("GET", "/requests?limit=1000", {}))
    entries = [{**entry, "sandbox": "s1"} for entry in journal["data"]]
    entries += [{**entry, "sandbox": "s2"} for entry in journal["data"]]
    content = json.dumps({"data": entries})

    recordings = read_recording(content.encode(), "journal.json")

    report = judged(*(recording.exchanges for recording in recordings))
    assert len(recordings) == 2
    assert report.findings == []


# Addresses ----------------------------------------------------------------------------


def test_calls_to_several_ports_are_all_compared() -> None:
    first = moved(working_service().exchanges, "127.0.0.1:8001")
    second = moved(working_service().exchanges, "127.0.0.1:8002")
    mixed = [*first, *second]
    mixed.sort(key=lambda exchange: exchange.at or 0)

    report = judged(mixed)

    assert report.findings == []
    assert report.details["compared"] == len(mixed)


def test_calls_to_another_service_with_the_same_paths_are_named() -> None:
    shop = elsewhere("https://user:secret@shop.example.com:8443")
    exchanges = [*working_service().exchanges, *shop]

    report = judged(exchanges)

    assert "; 3 calls to shop.example.com:8443 left out; " in report.summary
    assert "secret" not in report.summary
    assert report.findings == []


def test_what_is_left_out_is_counted_by_its_address() -> None:
    shop = elsewhere("https://shop.example.com")
    exchanges = [*working_service().exchanges, *shop]

    recognized = recognize([Recording(exchanges)], CONTRACT)

    (others,) = recognized.others
    assert others.address == "shop.example.com"
    assert others.calls == 3
    assert recognized.left_out == 3


def test_another_service_alone_has_no_calls() -> None:
    exchanges = elsewhere("https://shop.example.com")

    recognized = recognize([Recording(exchanges)], CONTRACT)

    assert recognized.traffics == []


def test_a_service_whose_answers_were_not_recorded_is_the_one_of_most_calls() -> None:
    exchanges = working_service().exchanges
    without_bodies = [
        replace(exchange, response_body=None)
        for exchange in exchanges
        if exchange.status == 200
    ]
    elsewhere = replace(without_bodies[0], url="https://cdn.example.com/v1/team")
    recording = Recording([elsewhere, *without_bodies])

    recognized = recognize([recording], CONTRACT)

    (traffic,) = recognized.traffics
    assert traffic.calls[0].url.startswith("http://testserver")


@pytest.mark.parametrize("path", ["", "/images/api"])
def test_the_address_of_the_service_may_have_a_path(path: str) -> None:
    exchanges = []
    for exchange in working_service().exchanges:
        url = exchange.url.replace("server/v1", f"server{path}/v1")
        exchanges.append(replace(exchange, url=url))

    report = judged(exchanges)

    assert report.findings == []
    assert report.details["compared"] == len(exchanges)
