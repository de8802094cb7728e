"""Edges of the specification, each as its entry of the ledger says (D52, D59 to D67)."""

import pytest

from tests.support.emulator_client import FULL, JSON, START, UPLOAD_CONTENT, EmulatorUnderTest

JSON_TYPE = "application/json"


@pytest.mark.parametrize("values", [(JSON_TYPE, "text/plain"), ("text/plain", JSON_TYPE), (JSON_TYPE, JSON_TYPE)])
def test_a_content_type_that_comes_twice_is_malformed_in_either_order(
    emulator: EmulatorUnderTest, values: tuple[str, str]
) -> None:
    headers = [("Content-Type", value) for value in values]
    answer = emulator.post("/uploads", content=UPLOAD_CONTENT, headers=headers)
    assert answer.outcome == (400, "invalid_request")
    assert answer.json["detail"] == "Content-Type: found more than one such header; expected application/json"


@pytest.mark.parametrize(
    ("number", "status"),
    [
        ("5", 201),
        ("5.0", 201),
        ("5e0", 201),
        ("50e-1", 201),
        ("5.00000000000000000000", 201),
        ("5000000000000000000000e-21", 201),
        ("5.0000000000000001", 422),
        ("4.9999999999999999999999", 422),
        ("50000000000000000000001e-22", 422),
        ("73400319.999999999999", 422),
        ("1e-400", 422),
        ("1e400", 422),
        ("-1e999", 422),
        pytest.param("9" * 5_000, 422, id="5,000 digits"),
        ("123456789012345678901234567890", 422),
    ],
)
def test_a_number_is_whole_if_it_is_as_written(emulator: EmulatorUnderTest, number: str, status: int) -> None:
    body = f'{{"content_type": "image/png", "size_bytes": {number}}}'.encode()
    answer = emulator.post("/uploads", content=body, headers=JSON)
    assert answer.status == status
    assert status == 201 or answer.json["detail"].startswith("/size_bytes: ")


@pytest.mark.emulator(clock="auto")
def test_a_refused_poll_moves_no_auto_clock(emulator: EmulatorUnderTest) -> None:
    """D42."""
    generation = emulator.photograph().json
    path = f"/generations/{generation['id']}"
    for target, key in ((f"{path}?x=1", FULL), ("/generations/gen_1", FULL), (path, None)):
        emulator.get(target, key)
    assert emulator.clock_now() == START


def test_a_change_of_the_credential_is_shown_at_once(emulator: EmulatorUnderTest) -> None:
    before = emulator.get("/team").json
    change = {"expires_at": "2030-01-01T00:00:00.000Z"}
    emulator.told("PATCH", f"/credentials/{before['credential']['id']}", change)
    assert emulator.get("/team").json == {**before, "credential": before["credential"] | change}
