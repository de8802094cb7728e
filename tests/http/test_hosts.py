"""Who may speak to the emulator: the names it is called by, the sites that browsers come from, the origins of `--cors`.

An emulator in the test's own process answers to names of a network, as one that listens on all addresses does.
"""

from typing import Any
from unittest.mock import patch

import pytest

from tests.support.emulator_client import (
    FOLLOWED,
    FULL,
    Answer,
    Call,
    EmulatorUnderTest,
    MakeEmulator,
)
from tests.support.served import serving

SURFACES = (
    "/v1/team",
    "/files/default/x.png",
    "/direct-uploads/default/x/y",
    "/_emulator/health",
    "/nowhere",
    "/",
)
LOCAL_NAMES = [
    "emulator",
    "image_workflow:8038",
    "printer.local",
    "emulator.svc.cluster.internal:80",
    "nas.home.arpa",
]
OWN_NAMES = [
    "127.0.0.1",
    "127.0.0.1:8038",
    "10.1.2.3",
    "[::1]",
    "[::1]:8038",
    "[fe80::1]:80",
    "localhost",
    "LOCALHOST:8038",
    "localhost.",
    "a.localhost",
    "xn--mnchen-3ya.test",
    "emulator.test",
]
STRANGERS = [
    "evil.com",
    "evil.com:8038",
    "evil.com.",
    "EVIL.COM",
    "127.0.0.1.evil.com",
    "localhost.evil.com",
    "evil.1",
    "1.2.3",
    "127.1",
    "127.0.0.1.5",
    "0x7f.1",
    "0x7f.0.0.1",
    "127.0.0.1..",
    "localhost..evil.com",
    "xn--80ak6aa92e.com",
    "fe80.ipv6-literal.net",
    "127.0.0.256",
    "0127.0.0.1",
    "local.evil.com",
    "evil.testing",
    "emulator.example",
    "home.arpa.evil.com",
    "home.arpa",
]
UNSOUND = [
    "[evil.com]",
    "[::1%25eth0]",
    "[::1]evil.com",
    "evil.com@127.0.0.1",
    "127.0.0.1#.evil.com",
    "\\evil.com",
    "",
    " ",
    "a b",
    "evil.com/x",
    "user@localhost",
    "localhost:x",
    "[::1",
    "::1",
    "localhost:8038:1",
    "local\xe9",
]
CROSS_SITE = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}
ORIGIN, ELSEWHERE = "http://localhost:5173", "https://elsewhere.example"
PREFLIGHT = {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,idempotency-key",
    "Access-Control-Request-Private-Network": "true",
}

allowed = pytest.mark.emulator(cors=(ORIGIN, "https://app.example"))


def ask(
    emulator: EmulatorUnderTest,
    path: str,
    headers: Any = (),
    method: str = "GET",
    key: str | None = FULL,
) -> Answer:
    return emulator.send(
        Call(
            method,
            f"http://emulator.test{path}",
            key=key,
            idempotency_key=None,
            headers=headers,
        )
    )


def untouched(emulator: EmulatorUnderTest) -> tuple[int, dict[str, int]]:
    """The length of the journal, and how many identifiers of each kind there are."""
    sandbox = emulator.sandbox
    return sandbox.journal.last_sequence, dict(sandbox.identifiers.counters)


def test_on_the_loopback_a_name_of_the_network_has_to_be_allowed() -> None:
    with serving("--allowed-host", "emulator") as server:
        for host in (*LOCAL_NAMES, *STRANGERS, *OWN_NAMES):
            for path in (
                "/v1/team",
                "/files/default/x.png",
                "/direct-uploads/default/x/y",
                "/_emulator/health",
                "/",
            ):
                answer = server.converse(
                    f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
                )
                is_refused = host not in (*OWN_NAMES, "emulator")
                assert is_refused == answer.startswith(b"HTTP/1.1 403"), (host, path)
                assert is_refused == (b"--allowed-host" in answer)


def test_who_listens_on_all_addresses_answers_to_names_of_the_network() -> None:
    with serving("--host", "0.0.0.0") as server:
        for host in (*LOCAL_NAMES, "localhost"):
            sent = f"GET /_emulator/health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
            assert server.converse(sent).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "path",
    [*SURFACES, "/_emulator", "/v1/products?limit=0", "/_emulator/page/icon.svg"],
)
def test_no_foreign_page_may_embed_an_answer(
    emulator: EmulatorUnderTest, path: str
) -> None:
    expected = "same-site" if path.startswith("/files/") else "same-origin"
    for host in ("localhost", "evil.com"):
        for method in ("GET", "HEAD", "OPTIONS", "PUT"):
            assert (
                ask(emulator, path, {"Host": host}, method).headers[
                    "cross-origin-resource-policy"
                ]
                == expected
            )


def test_pages_of_an_allowed_origin_may_embed_pictures(
    make_emulator: MakeEmulator,
) -> None:
    emulator = make_emulator(cors=(ORIGIN,))
    for referer, policy in (
        (f"{ORIGIN}/gallery", "cross-origin"),
        ("http://evil.com/", "same-site"),
    ):
        answer = ask(emulator, "/files/default/x.png", {"Referer": referer})
        assert answer.headers["cross-origin-resource-policy"] == policy


@pytest.mark.parametrize("host", STRANGERS)
@pytest.mark.parametrize("path", SURFACES)
def test_a_name_that_may_be_anybody_s_is_refused_everywhere(
    emulator: EmulatorUnderTest, path: str, host: str
) -> None:
    before = untouched(emulator)
    refused = ask(emulator, path, {"Host": host})
    assert refused.outcome == (403, "permission_denied")
    assert "--allowed-host" in refused.json["detail"]
    assert untouched(emulator) == before
    assert refused.json["request_id"].startswith("ctl_") is path.startswith(
        "/_emulator"
    )


@pytest.mark.parametrize("path", SURFACES)
def test_one_sound_host_is_needed_that_nobody_can_register(
    emulator: EmulatorUnderTest, path: str
) -> None:
    for host in (*OWN_NAMES, *LOCAL_NAMES):
        assert ask(emulator, path, {"Host": host}).status not in (400, 403), host
    for host in UNSOUND:
        assert ask(emulator, path, {"Host": host}).outcome == (
            400,
            "invalid_request",
        ), host
    twice = [("Host", "localhost"), ("Host", "localhost")]
    assert ask(emulator, path, twice).outcome == (400, "invalid_request")
    without = Call(
        "GET", f"http://emulator.test{path}", idempotency_key=None, without=["Host"]
    )
    assert emulator.send(without).outcome == (400, "invalid_request")


@pytest.mark.emulator(
    public_url="https://emulator.example:8443/base",
    allowed_hosts=("ci.example.org", "Other.example"),
)
def test_names_are_allowed_by_options(emulator: EmulatorUnderTest) -> None:
    for host in (
        "emulator.example",
        "ci.example.org:8038",
        "other.example",
        "localhost",
    ):
        assert ask(emulator, "/v1/team", {"Host": host}).status == 200, host
    for host in ("example.org", "sub.ci.example.org"):
        assert ask(emulator, "/v1/team", {"Host": host}).status == 403, host


@pytest.mark.parametrize("path", [path for path in SURFACES if path != "/"])
def test_what_a_browser_sends_for_another_site_is_refused_everywhere(
    emulator: EmulatorUnderTest, path: str
) -> None:
    before = untouched(emulator)
    for headers in (CROSS_SITE, FOLLOWED, {"Sec-Fetch-Site": "nonsense"}):
        assert ask(emulator, path, headers).outcome == (403, "permission_denied")
    assert untouched(emulator) == before
    for site in ("none", "same-origin"):
        assert ask(emulator, path, {"Sec-Fetch-Site": site}).status != 403


@pytest.mark.parametrize("origin", [ORIGIN, "*"])
def test_an_allowed_origin_has_the_service_but_not_the_control_plane(
    make_emulator: MakeEmulator, origin: str
) -> None:
    emulator = make_emulator(cors=(origin,))
    program = {**CROSS_SITE, "Origin": ORIGIN}
    picture = {"Sec-Fetch-Site": "cross-site", "Referer": f"{ORIGIN}/gallery"}
    assert ask(emulator, "/v1/team", program).status == 200
    assert ask(emulator, "/files/default/x.png", picture).outcome == (404, "not_found")
    assert ask(emulator, "/v1/team", {**program, "Host": "evil.com"}).outcome == (
        403,
        "permission_denied",
    )
    stranger = {**CROSS_SITE, "Origin": "http://evil.com"}
    assert ask(emulator, "/v1/team", stranger).status == (200 if origin == "*" else 403)
    for method in ("GET", "OPTIONS"):
        closed = ask(
            emulator, "/_emulator/teams", program | PREFLIGHT, method, key=None
        )
        assert closed.outcome == (403, "permission_denied")
        assert "access-control-allow-origin" not in closed.headers


def preflight(emulator: EmulatorUnderTest, path: str, origin: str) -> Answer:
    """Ask as a browser does before a request of another origin; no contract has the answer."""
    with patch.object(emulator, "check"):
        return ask(emulator, path, {"Origin": origin, **PREFLIGHT}, "OPTIONS", key=None)


@allowed
def test_a_program_of_an_allowed_origin_may_read_answers_and_problems(
    emulator: EmulatorUnderTest,
) -> None:
    for key, status in ((FULL, 200), ("nothing", 401)):
        answer = ask(emulator, "/v1/team", {"Origin": ORIGIN}, key=key)
        assert (status, ORIGIN) == (
            answer.status,
            answer.headers["access-control-allow-origin"],
        )
        assert "Origin" == answer.headers["vary"]
        exposed = {
            name.strip().lower()
            for name in answer.headers["access-control-expose-headers"].split(",")
        }
        assert exposed >= {"request-id", "retry-after", "location"}


@allowed
def test_any_other_origin_is_told_and_allowed_nothing(
    emulator: EmulatorUnderTest, make_emulator: MakeEmulator
) -> None:
    refused = preflight(emulator, "/v1/uploads", ELSEWHERE)
    answers = (
        ask(emulator, "/v1/team", {"Origin": ELSEWHERE}),
        ask(make_emulator(), "/v1/team", {"Origin": ORIGIN}),
    )
    assert refused.status == 400
    assert not [
        answer
        for answer in (refused, *answers)
        if "access-control-allow-origin" in answer.headers
    ]


@allowed
@pytest.mark.parametrize(
    "path", ["/v1/uploads", "/direct-uploads/default/x", "/files/x"]
)
def test_a_preflight_is_answered_and_is_no_request_of_the_journal(
    emulator: EmulatorUnderTest, path: str
) -> None:
    before = untouched(emulator)
    answer = preflight(emulator, path, ORIGIN)
    assert (200, ORIGIN) == (
        answer.status,
        answer.headers["access-control-allow-origin"],
    )
    assert "true" == answer.headers["access-control-allow-private-network"]
    assert (
        "authorization,idempotency-key"
        == answer.headers["access-control-allow-headers"]
    )
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert before == untouched(emulator)


# What browsers ask for by themselves ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/", "/_emulator"),
        ("/?sandbox=default", "/_emulator?sandbox=default"),
        ("/favicon.ico", "/_emulator/page/icon.svg"),
        ("/_emulator/", "/_emulator"),
    ],
)
@pytest.mark.parametrize("headers", [{}, FOLLOWED], ids=["typed", "followed"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_browser_is_led_to_the_page_and_leaves_no_trace(
    emulator: EmulatorUnderTest,
    path: str,
    target: str,
    headers: dict[str, str],
    method: str,
) -> None:
    before = untouched(emulator)
    led = ask(emulator, path, headers, method, key=None)
    assert (led.status, "request-id" in led.headers) == (302, True)
    assert f"/{led.headers['location'].removeprefix('../')}" == target
    assert untouched(emulator) == before
    assert (
        ask(
            emulator, target, headers if path != "/favicon.ico" else {}, key=None
        ).status
        == 200
    )


@pytest.mark.parametrize(("method", "key"), [("POST", None), ("GET", FULL)])
def test_a_client_whose_base_url_is_wrong_is_told_so(
    emulator: EmulatorUnderTest, method: str, key: str | None
) -> None:
    assert ask(emulator, "/", method=method, key=key).outcome == (404, "not_found")
    assert emulator.sandbox.journal.last_sequence == 1
