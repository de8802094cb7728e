"""What the domain works out, as the model does (sections 4 and 8, D32 to D42), keeps and refuses; names of readings."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from image_workflow_emulator.domain import orders
from image_workflow_emulator.domain.idempotency import (
    IdempotencyRecords,
    Scope,
    StoredAnswer,
)
from image_workflow_emulator.domain.limits import Ledger, LedgerError, RateWindow
from image_workflow_emulator.domain.readings import READINGS, chosen, parse_readings
from image_workflow_emulator.kernel.timestamps import HOUR_MS
from tests.model import arithmetic

EDGES = st.integers(1, 5_000) | st.sampled_from((1, 1024, 2047, 2048, 4095, 4096))
SIZES = ("1k", "2k", "4k")


@given(EDGES, EDGES, st.sampled_from(SIZES))
def test_a_picture_has_the_pixels_of_its_ratio_and_resolution(
    width: int, height: int, resolution: str
) -> None:
    expected = arithmetic.size_of(width, height, resolution)
    assert orders.size_of_ratio(width, height, resolution) == expected
    assert orders.output_size(f"{width}:{height}", resolution) == expected
    assert orders.reaches(width, height, resolution) is (
        max(width, height) >= max(expected)
    )


@pytest.mark.parametrize("size", SIZES)
def test_work_is_reserved_for_in_full_and_charged_by_its_completed_outputs(
    size: str,
) -> None:
    shots = [
        {"output_mode": "single_shots", "image_count": count, "resolution": size}
        for count in range(1, 7)
    ]
    photoshoot = {"output_mode": "photoshoot", "image_count": 4, "resolution": size}
    works: list[tuple[str, dict[str, Any]]] = [
        ("product_photography", work) for work in (*shots, photoshoot)
    ]
    for workflow, request in (
        *works,
        ("edit_images", {"resolution": size}),
        ("upscale", {"target_resolution": size}),
    ):
        slots = request.get("image_count", 1)
        price = orders.generation_price(workflow, request)
        assert price == arithmetic.generation_price(workflow, request)
        for completed in range(slots + 1):
            charge = orders.generation_charge(price, completed, slots)
            assert charge == arithmetic.generation_charge(
                workflow, request, completed
            ), (request, completed)


MINUTE_MS = 60_000
PAUSES = st.integers(0, 20_000) | st.sampled_from((0, 10_000, MINUTE_MS))
REQUESTS = st.lists(st.tuples(PAUSES, st.integers(0, 4)), max_size=40)
"""The milliseconds since the request before, and the limit that there is now."""


@given(REQUESTS)
def test_a_request_waits_until_fewer_than_the_limit_came_in_the_last_minute(
    requests: list[tuple[int, int]],
) -> None:
    """D41, D42."""
    window, let_in, now = RateWindow(), list[int](), 0
    for pause, limit in requests:
        now += pause
        recent = [instant for instant in let_in if instant > now - MINUTE_MS]
        leaves_at = recent[-limit] if 0 < limit <= len(recent) else now
        wait = 0 if len(recent) < limit else leaves_at + MINUTE_MS - now
        assert wait == window.wait_ms(now, limit)
        if not wait:
            window.admitted.append(now)
            let_in.append(now)


@pytest.mark.parametrize(
    "step",
    [
        lambda ledger: ledger.grant(-7, 0, "set"),
        lambda ledger: ledger.reserve("gen_2", 7, 0),
        lambda ledger: ledger.reserve("gen_2", -1, 0),
        lambda ledger: ledger.reserve("gen_1", 1, 0),
        lambda ledger: ledger.settle("gen_2", 0, 0),
        lambda ledger: ledger.settle("gen_1", 5, 0),
        lambda ledger: ledger.settle("gen_1", -1, 0),
    ],
)
def test_a_step_that_would_lose_or_invent_credits_is_refused(
    step: Callable[[Ledger], None],
) -> None:
    ledger = Ledger()
    ledger.grant(10, 0, "start")
    ledger.reserve("gen_1", 4, 0)
    with pytest.raises(LedgerError):
        step(ledger)
    assert (6, 4, 0) == (ledger.available, ledger.reserved, ledger.charged)


def scope(key: str) -> Scope:
    return Scope("cred_1", "POST", "/v1/products", key)


def kept(*hours: int) -> IdempotencyRecords:
    records = IdempotencyRecords()
    for hour in hours:
        records.bind(
            scope(str(hour)), StoredAnswer(hour * HOUR_MS, b"intent", 201, (), b"{}")
        )
    return records


def test_records_that_have_run_out_are_dropped_when_the_next_is_kept() -> None:
    assert [scope.key for scope, _ in kept(*range(0, 48, 6)).records()] == [
        "24",
        "30",
        "36",
        "42",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", ()),
        ("D26=always-a-cursor", ("D26=always-a-cursor",)),
        ("D66=silent, D26=always-a-cursor", ("D26=always-a-cursor", "D66=silent")),
        ("D10=releases,D10=binds-refusals", ("D10=binds-refusals",)),
        (
            "other,D26=plain,D26=plain",
            tuple(
                n for n in chosen(parse_readings("other")) if not n.startswith("D26")
            ),
        ),
        ("stingy,plain", chosen(parse_readings("stingy"))),
    ],
)
def test_a_later_part_overrides_an_earlier_one(
    text: str, expected: tuple[str, ...]
) -> None:
    assert expected == chosen(parse_readings(text))


def test_other_has_the_first_reading_of_each_decision() -> None:
    first = {
        reading.decision: name for name, reading in reversed(list(READINGS.items()))
    }
    assert set(first.values()) == set(chosen(parse_readings("other")))


def test_stingy_has_what_gives_less_or_refuses_and_nothing_else() -> None:
    names = chosen(parse_readings("stingy"))
    assert {"less", "refuses"} == {READINGS[name].gives for name in names}
    assert "D66=silent" in names
    assert "D33=required" in names


@pytest.mark.parametrize(
    "text",
    [
        "",
        "D26",
        "D26=",
        "D26=none",
        "D99=plain",
        "any:7",
        "floor",
        "Plain",
        "d26=plain",
        "D01=plain",
    ],
)
def test_what_is_no_reading_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{text}$"):
        parse_readings(text)
