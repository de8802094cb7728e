"""How differences are reported: once for each kind, with prices and places."""

from collections.abc import Sequence
from typing import Any

import pytest

from image_workflow_emulator.drift.differences import Difference, folded
from image_workflow_emulator.drift.exchanges import RecordedExchange
from tests.drift.judging import differences_in, judged
from tests.drift.recorded_service import ORDER, PHOTOGRAPHY, RecordedService
from tests.drift.tampering import (
    Change,
    at_all,
    calls,
    everywhere,
    headers,
    members,
    status,
    succeeded,
    tampered,
    where_json,
    without,
)
from tests.drift.tour import upscale_of

SECTION_2 = "The fields of the resource (section 2)"


def only_message(exchanges: Sequence[RecordedExchange]) -> str:
    """Judge a recording, and return the message of its one finding."""
    (finding,) = judged(exchanges).findings
    return finding.message


# Folding ------------------------------------------------------------------------------


def with_status(number: int, marks: bytes) -> Change:
    """Return a change of the status of the answers whose body has some bytes."""

    def changed(exchange: Any) -> Any:
        if marks not in (exchange.response_body or b""):
            return exchange
        return status(number)(exchange)

    return changed


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        (headers(request_id=None), "breach Request-Id"),
        (with_status(200, b'{"object":"product"'), "breach status"),
        (with_status(409, b'"invalid_reference"'), "breach /code"),
    ],
)
def test_equal_differences_are_reported_once(change: Change, difference: str) -> None:
    exchanges = everywhere(change)

    differences = differences_in(exchanges)

    assert differences == [difference]


def test_a_difference_says_how_often_it_occurs() -> None:
    exchanges = everywhere(headers(request_id=None))

    message = only_message(exchanges)

    every_call = calls().values()
    times = sum(call.operation is not None for call in every_call)
    assert message == f"recorded none, expected one, {times} times"


def test_differences_of_one_kind_with_other_values_are_the_first_of_several() -> None:
    camera = Difference("entry 1", "getAsset", "/source", "camera", "upload")
    film = Difference("entry 2", "getAsset", "/source", "film", "upload")

    (difference,) = folded([camera, film])

    assert difference.exchange == "entry 1"
    assert (
        difference.message == "recorded camera, expected upload, the first of 2 times"
    )


def test_a_place_in_a_list_is_that_of_its_items() -> None:
    in_first_item = Difference("entry 1", "listAssets", "/data/0/source", "a", "b")
    in_other_item = Difference("entry 1", "listAssets", "/data/7/source", "a", "b")

    differences = folded([in_first_item, in_other_item])

    assert len(differences) == 1


def test_statuses_that_differ_otherwise_are_two_differences() -> None:
    refused_once = Difference("entry 1", "createPose", "status", "404 not_found", "202")
    paused_once = Difference("entry 2", "createPose", "status", "500 None", "202")

    differences = folded([refused_once, paused_once])

    assert len(differences) == 2


def cut(value: Any) -> Any:
    """Remove the milliseconds of every timestamp."""
    if isinstance(value, dict):
        return {name: cut(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [cut(item) for item in value]
    if isinstance(value, str) and value.endswith(".000Z"):
        return value.removesuffix(".000Z") + "Z"
    return value


def without_milliseconds(answer: dict[str, Any]) -> None:
    answer.update(cut(answer))


def test_timestamps_without_milliseconds_are_one_breach_of_section_2() -> None:
    exchanges = everywhere(where_json(without_milliseconds))

    (finding,) = judged(exchanges).findings

    sentence = "Timestamps are ISO 8601 UTC date-times with milliseconds"
    assert finding.rule == "breach"
    assert finding.message.endswith(" times without milliseconds")
    assert sentence in str(finding.source)


def hundredfold(page: dict[str, Any]) -> None:
    repeated = []
    for item in page["data"][:4]:
        repeated += [item] * 25
    page["data"] = repeated


def test_a_page_of_a_hundred_items_is_read_whatever_is_wrong_in_each() -> None:
    service = RecordedService()
    service.call("listPoses", limit=100)
    (exchange,) = service.exchanges
    repeat = where_json(hundredfold)
    cut_times = where_json(without_milliseconds)
    page_of_a_hundred = cut_times(repeat(exchange))

    message = only_message([page_of_a_hundred])

    assert message == "200 times without milliseconds"


def test_subjects_that_no_generation_names_are_one_breach() -> None:
    def remove(answer: dict[str, Any]) -> None:
        answer.pop("resolved_asset_ids", None)
        for item in answer.get("data", ()):
            item.pop("resolved_asset_ids", None)

    exchanges = everywhere(where_json(remove))

    (finding,) = judged(exchanges).findings

    assert finding.rule == "breach"
    assert finding.source == SECTION_2
    assert str(finding.where).endswith("/resolved_asset_ids")
    assert finding.message.startswith("recorded nothing, expected the Assets")


def test_a_field_that_every_echo_lacks_is_a_difference_of_each_operation() -> None:
    def remove(answer: dict[str, Any]) -> None:
        if answer.get("object") == "generation":
            answer["request"].pop("output_format")

    exchanges = everywhere(where_json(remove))

    differences = differences_in(exchanges)

    assert set(differences) == {"neither /request/output_format"}


# Prices -------------------------------------------------------------------------------


def with_price(
    exchanges: Sequence[RecordedExchange],
    path: str,
    reserved: int,
    charged: int,
) -> list[RecordedExchange]:
    """Return exchanges in which all work at a path has a price."""

    def set_price(work: dict[str, Any]) -> None:
        work["credits"]["reserved"] = reserved
        if work["credits"]["charged"]:
            work["credits"]["charged"] = charged

    change = where_json(set_price)
    changed = []
    for exchange in exchanges:
        if path in exchange.url:
            changed.append(change(exchange))
        else:
            changed.append(exchange)
    return changed


def test_a_price_that_differs_is_a_breach_of_section_4() -> None:
    service = RecordedService()
    asset = service.upload(1_000, 900).json["id"]
    order = upscale_of(asset, "2k")
    admitted = service.call("createUpscaleGeneration", order)
    service.finished(admitted)
    dearer = with_price(service.exchanges, "/generations/", 2, 2)

    (finding,) = judged(dearer).findings

    assert finding.rule == "breach"
    assert finding.message == "upscale at 2k costs 2 Credits, section 4 says 1"
    assert finding.source == "Credit costs (section 4)"


def orders_of(*orders: dict[str, Any]) -> RecordedService:
    service = RecordedService()
    service.call("getTeam")
    service.set_credits(500)
    (photo,) = service.photos(1)
    for order in orders:
        body = {**ORDER, **order, "asset_ids": [photo]}
        admitted = service.call(PHOTOGRAPHY, body)
        service.finished(admitted)
    return service


@pytest.mark.parametrize(
    ("order", "reserved", "price"),
    [
        (
            {},
            2,
            "a single shot at 1k costs 2 Credits, section 4 says 1",
        ),
        (
            {"image_count": 3},
            6,
            "a single shot at 1k costs 2 Credits, section 4 says 1",
        ),
        (
            {"image_count": 3},
            5,
            "3 times a single shot at 1k costs 5 Credits, section 4 says 3",
        ),
        (
            {"resolution": "4k"},
            1,
            "a single shot at 4k costs 1 Credit, section 4 says 2",
        ),
        (
            {"output_mode": "photoshoot", "image_count": 4},
            4,
            "a photoshoot costs 4 Credits, section 4 says 2",
        ),
    ],
)
def test_a_price_is_that_of_one_thing(
    order: dict[str, Any],
    reserved: int,
    price: str,
) -> None:
    service = orders_of(order)
    changed = with_price(service.exchanges, "/generations/", reserved, reserved)

    message = only_message(changed)

    assert message == price


def test_each_price_that_differs_is_one_line() -> None:
    service = orders_of({}, {}, {"resolution": "2k"})
    dearer = with_price(service.exchanges, "/generations/", 2, 2)

    messages = [finding.message for finding in judged(dearer).findings]

    assert messages == [
        "a single shot at 1k costs 2 Credits, section 4 says 1, 2 times",
        "a single shot at 2k costs 2 Credits, section 4 says 1",
    ]


def test_a_charge_above_what_was_reserved_is_a_price_too() -> None:
    service = orders_of({})
    changed = with_price(service.exchanges, "/generations/", 1, 3)

    message = only_message(changed)

    assert message == "a single shot at 1k costs 3 Credits, section 4 says 1"


def test_an_operation_that_costs_more_is_a_breach() -> None:
    exchanges = at_all(succeeded("createPose"), members("credits", reserved=2))

    differences = differences_in(exchanges)

    assert differences == ["breach /credits/reserved"]


@pytest.mark.parametrize("charged", [0, 1])
def test_a_background_may_cost_nothing_or_one_credit(charged: int) -> None:
    service = RecordedService()
    (photo,) = service.photos(1)
    body = {"name": "Probe", "kind": "backdrop", "asset_id": photo}
    admitted = service.call("createBackground", body)
    service.finished(admitted)
    changed = with_price(service.exchanges, "/operations/", 1, charged)

    findings = judged(changed).findings

    assert findings == []


# Once, and nothing else ---------------------------------------------------------------


def test_a_first_difference_silences_what_depends_on_it() -> None:
    spot = succeeded("createProduct", name="Daily")
    renamed = tampered(spot, members(name="Another"))

    report = judged(renamed)

    (finding,) = report.findings
    assert finding.rule == "neither"


def test_a_breach_silences_nothing() -> None:
    exchanges = tampered(succeeded("createPose"), without("created_at"))

    report = judged(exchanges)

    (finding,) = report.findings
    assert finding.rule == "breach"
    assert report.details["noise"] == 0
