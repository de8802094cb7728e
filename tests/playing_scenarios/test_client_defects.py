"""`then: {client: ...}`: a request is changed on its way in, as if its client were broken."""

import pytest

from tests.support.emulator_client import UPLOAD, EmulatorUnderTest


@pytest.mark.parametrize(
    ("defect", "outcomes"),
    [
        ("drop-key", [(400, "invalid_request"), (400, "invalid_request")]),
        ("drop-authorization", [(401, "authentication_required"), (401, "authentication_required")]),
    ],
)
def test_what_is_dropped_is_refused(emulator: EmulatorUnderTest, defect: str, outcomes: list[tuple[int, str]]) -> None:
    emulator.rule({}, {"client": defect})
    assert outcomes == [emulator.post("/uploads", UPLOAD).outcome for _ in range(2)]
    assert emulator.rules()["the rule"] == (2, 2)


@pytest.mark.parametrize(
    ("defect", "keys", "same"), [("new-key", "aa", False), ("one-key", "ab", True), ("drop-query", "aa", True)]
)
def test_another_key_makes_another_upload_and_the_same_key_the_same(
    emulator: EmulatorUnderTest, defect: str, keys: str, same: bool
) -> None:
    emulator.rule({}, {"client": defect})
    first, second = (emulator.post("/uploads", UPLOAD, idempotency_key=key).json["id"] for key in keys)
    assert same == (first == second)


def test_without_its_query_a_list_is_whole(emulator: EmulatorUnderTest) -> None:
    emulator.rule({}, {"client": "drop-query"})
    assert len(emulator.get("/poses?limit=1").json["data"]) > 1
    assert emulator.get("/team").status == 200
    assert emulator.rules()["the rule"] == (2, 1)


def test_a_hint_is_taken_out_of_polls_and_refusals(emulator: EmulatorUnderTest) -> None:
    emulator.rule({}, {"client": "ignore-hint"})
    work = emulator.post(
        "/generations/upscale", {"asset_id": emulator.assets(1)[0], "target_resolution": "2k", "output_format": "png"}
    ).json
    assert emulator.get(f"/generations/{work['id']}").retry_after is None
    emulator.without_scenario()
    assert emulator.get(f"/generations/{work['id']}").retry_after is not None
