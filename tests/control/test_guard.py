"""Who may use the control plane: the holder of its token, and no page of another origin."""

import pytest

from tests.support.emulator_client import HOST, EmulatorUnderTest

LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
TOKEN = "control-secret"
with_token = pytest.mark.emulator(control_token=TOKEN)

FOREIGN = [
    {"Origin": "http://elsewhere.example"},
    {"Origin": f"http://{HOST}:3000"},
    {"Origin": f"http://{HOST}.elsewhere.example"},
    {"Origin": f"http://elsewhere.example/{HOST}"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "http://"},
    {"Origin": "http://", "Host": "localhost"},
    {"Origin": "http://127.0.0.1:8038", "Host": "localhost:8038"},
    {"Origin": "http://evil.com", "Host": "evil.com"},
    {"Origin": "http://evil.com:8038", "Host": "evil.com:8038"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": f"http://{HOST}"},
]
OWN = [
    {},
    {"Origin": f"http://{HOST}"},
    {"Origin": f"HTTP://{HOST.upper()}"},
    {"Origin": f"http://{HOST}", "Host": f"{HOST}:80"},
    {"Origin": f"https://{HOST}", "Host": f"{HOST}:443"},
    {"Origin": "http://localhost:8038", "Host": "localhost:8038"},
    {"Origin": "http://[::1]:8038", "Host": "[::1]:8038"},
    {"Sec-Fetch-Site": "same-origin", "Origin": f"http://{HOST}"},
    {"Sec-Fetch-Site": "none"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_what_a_page_of_another_origin_sends_is_refused(control: EmulatorUnderTest, headers: dict[str, str]) -> None:
    control.told("PATCH", "/teams/Demo", {"credits": 7})
    for method, path in (("GET", "/health"), ("GET", "/teams"), ("POST", "/reset"), ("GET", "/nowhere")):
        assert control.ask(method, path, headers=headers).outcome == (403, "permission_denied")
    assert control.team()["credits"] == 7


@pytest.mark.parametrize("headers", OWN, ids=str)
def test_what_no_other_origin_sends_is_let_in(control: EmulatorUnderTest, headers: dict[str, str]) -> None:
    assert control.ask("GET", "/teams", headers=headers).status == 200


@pytest.mark.emulator(public_url="https://emulator.example")
def test_the_public_address_is_an_origin_of_its_own(control: EmulatorUnderTest) -> None:
    headers = {"Origin": "https://emulator.example", "Host": "inside:8038"}
    assert control.ask("GET", "/teams", headers=headers).status == 200


def test_a_preflight_of_another_origin_is_refused_without_permission(control: EmulatorUnderTest) -> None:
    headers = {"Origin": "http://elsewhere.example", "Access-Control-Request-Method": "POST"}
    answer = control.ask("OPTIONS", "/reset", headers=headers)
    assert answer.outcome == (403, "permission_denied")
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_link_on_another_site_leads_to_the_page_and_to_nothing_else(control: EmulatorUnderTest) -> None:
    assert control.ask("GET", "", headers=LINK).status == 200
    assert control.ask("GET", "/teams", headers=LINK).status == 403
    assert control.ask("GET", "", headers={**LINK, "Sec-Fetch-Dest": "iframe"}).status == 403


@with_token
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
def test_without_the_control_token_nothing_is_answered_or_done(
    control: EmulatorUnderTest, headers: dict[str, str]
) -> None:
    for method, path in (("GET", "/teams"), ("POST", "/reset"), ("GET", "/nowhere"), ("GET", "/contract")):
        assert control.ask(method, path, headers=headers).outcome == (401, "authentication_required")


@with_token
def test_with_the_control_token_everything_is_answered(control: EmulatorUnderTest) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert control.ask("GET", "/teams", headers=headers).status == 200
    assert control.ask("POST", "/reset", headers=headers).status == 200


@with_token
def test_health_needs_no_control_token(control: EmulatorUnderTest) -> None:
    assert control.told("GET", "/health")["status"] == "ok"


@with_token
def test_the_service_does_not_ask_for_the_control_token(control: EmulatorUnderTest) -> None:
    assert control.get("/team").status == 200
