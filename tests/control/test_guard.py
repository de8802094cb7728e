"""Who may use the control plane.

It answers the holder of its token, and no page of another origin.
"""

import pytest

from tests.support.emulator_client import FOLLOWED, HOST
from tests.support.emulator_under_test import EmulatorUnderTest

TOKEN = "control-secret"

FOREIGN = [
    {"Origin": "http://elsewhere.example"},
    {"Origin": f"http://{HOST}:3000"},
    {"Origin": f"http://{HOST}.elsewhere.example"},
    {"Origin": f"http://elsewhere.example/{HOST}"},
    {"Origin": f"https://{HOST}"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "http://"},
    {"Origin": "http://", "Host": "localhost"},
    {"Origin": "http://127.0.0.1:8038", "Host": "localhost:8038"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": f"http://{HOST}"},
]
OWN = [
    {},
    {"Origin": f"http://{HOST}"},
    {"Origin": f"HTTP://{HOST.upper()}"},
    {"Origin": f"http://{HOST}", "Host": f"{HOST}:80"},
    {"Origin": "http://localhost:8038", "Host": "localhost:8038"},
    {"Origin": "http://[::1]:8038", "Host": "[::1]:8038"},
    {"Sec-Fetch-Site": "same-origin", "Origin": f"http://{HOST}"},
    {"Sec-Fetch-Site": "none"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_what_a_page_of_another_origin_sends_is_refused(
    emulator: EmulatorUnderTest,
    headers: dict[str, str],
) -> None:
    for path in ("/health", "/teams", "/nowhere"):
        answer = emulator.ask("GET", path, headers=headers)

        assert answer.status == 403
        assert answer.code == "permission_denied"


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_what_a_page_of_another_origin_sends_changes_nothing(
    emulator: EmulatorUnderTest,
    headers: dict[str, str],
) -> None:
    emulator.told("PATCH", "/teams/Demo", {"credits": 7})

    answer = emulator.ask("POST", "/reset", headers=headers)

    assert answer.status == 403
    assert answer.code == "permission_denied"
    assert emulator.team()["credits"] == 7


@pytest.mark.parametrize("headers", OWN, ids=str)
def test_what_no_other_origin_sends_is_let_in(
    emulator: EmulatorUnderTest,
    headers: dict[str, str],
) -> None:
    assert emulator.ask("GET", "/teams", headers=headers).status == 200


@pytest.mark.emulator(public_url="https://emulator.example")
def test_the_public_address_is_an_origin_of_its_own(
    emulator: EmulatorUnderTest,
) -> None:
    headers = {"Origin": "https://emulator.example", "Host": "inside:8038"}

    assert emulator.ask("GET", "/teams", headers=headers).status == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [("", 200), ("/reference", 200), ("/page/main.js", 403), ("/teams", 403)],
)
def test_a_link_on_another_site_leads_to_the_page_and_to_nothing_else(
    emulator: EmulatorUnderTest,
    path: str,
    status: int,
) -> None:
    assert emulator.ask("GET", path, headers=FOLLOWED).status == status


def test_the_page_is_shown_in_no_frame_of_another_site(
    emulator: EmulatorUnderTest,
) -> None:
    headers = {**FOLLOWED, "Sec-Fetch-Dest": "iframe"}

    assert emulator.ask("GET", "", headers=headers).status == 403


@pytest.mark.emulator(control_token=TOKEN)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {TOKEN}2"},
        {"Authorization": "Bearer iwe_demo_full"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Authorization": "Bearer \xe9"},
    ],
    ids=str,
)
def test_without_the_control_token_nothing_is_answered(
    emulator: EmulatorUnderTest,
    headers: dict[str, str],
) -> None:
    for method, path in (
        ("GET", "/teams"),
        ("POST", "/reset"),
        ("GET", "/nowhere"),
        ("GET", "/contract"),
    ):
        answer = emulator.ask(method, path, headers=headers)

        assert answer.status == 401
        assert answer.code == "authentication_required"
