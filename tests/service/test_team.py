"""GET /team, beside what the model says of it (section 2, D20, D29)."""

from tests.support.emulator_client import FULL, EmulatorUnderTest


def test_a_credential_shows_the_beginning_of_its_key_and_is_good_for_a_year(emulator: EmulatorUnderTest) -> None:
    credential = emulator.get("/team").json["credential"]
    assert (FULL[:8], "2027-01-01T00:00:00.000Z") == (credential["prefix"], credential["expires_at"])


def test_a_change_of_the_credential_is_shown_at_once(emulator: EmulatorUnderTest) -> None:
    before = emulator.get("/team").json
    change = {"expires_at": "2030-01-01T00:00:00.000Z"}
    emulator.told("PATCH", f"/credentials/{before['credential']['id']}", change)
    assert emulator.get("/team").json == {**before, "credential": before["credential"] | change}
