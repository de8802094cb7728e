"""Queries of lists as `/v1` reads them: ranges and filters (section 4, D02)."""

import pytest

from tests.support.emulator_under_test import EmulatorUnderTest

CLAMPS = pytest.mark.emulator(readings="D02=clamps", clock="manual")


@pytest.mark.parametrize("limit", ["0", "101", "1000", "1e2", "-1", "1" * 30])
def test_a_limit_out_of_range_is_refused(
    emulator: EmulatorUnderTest,
    limit: str,
) -> None:
    refused = emulator.get(f"/poses?limit={limit}")

    assert refused.status == 400
    assert refused.code == "invalid_request"
    assert refused.json["detail"].endswith("; expected a whole number from 1 to 100")


@CLAMPS
@pytest.mark.parametrize("limit", ["101", "1000", "100000", "1" * 30])
def test_a_limit_above_the_range_gives_the_most_items_where_it_is_clamped(
    emulator: EmulatorUnderTest,
    limit: str,
) -> None:
    most = emulator.get("/poses?limit=100").json

    assert emulator.get(f"/poses?limit={limit}").json == most


@CLAMPS
@pytest.mark.parametrize("limit", ["0", "-1", "many", "0100"])
def test_only_a_limit_above_the_range_is_clamped(
    emulator: EmulatorUnderTest,
    limit: str,
) -> None:
    assert emulator.get(f"/poses?limit={limit}").status == 400


def test_one_value_means_something_else_in_each_filter(
    emulator: EmulatorUnderTest,
) -> None:
    photo = emulator.assets(1)[0]
    emulator.post("/poses", {"name": "Sitting", "asset_id": photo})

    by_type = emulator.get("/operations?type=pose.create").json["data"]
    by_target = emulator.get("/operations?target_id=pose.create").json["data"]

    assert len(by_type) == 1
    assert by_target == []


@CLAMPS
def test_what_comes_after_a_clamped_limit_is_still_checked(
    emulator: EmulatorUnderTest,
) -> None:
    refused = emulator.get("/operations?limit=1000&type=nonsense")

    assert refused.status == 400
    assert refused.json["detail"].startswith('type: found "nonsense"; expected ')


@CLAMPS
def test_a_word_of_digits_is_no_number_to_clamp(emulator: EmulatorUnderTest) -> None:
    refused = emulator.get("/operations?type=123")

    assert refused.status == 400
    assert refused.json["detail"].startswith('type: found "123"; expected ')
