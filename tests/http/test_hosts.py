"""Who may speak to the emulator: host names, browsers' sites, the origins of `--cors`.

An emulator in the test's own process answers to names of a network, as one that listens
on all addresses does.
"""

import gc
import tracemalloc
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest

from tests.support.emulator_client import FOLLOWED, FULL, Answer, Call, Json
from tests.support.emulator_under_test import EmulatorUnderTest, MakeEmulator
from tests.support.served import Server, serving

SURFACES = (
    "/v1/team",
    "/files/default/x.png",
    "/direct-uploads/default/x/y",
    "/_emulator/health",
    "/nowhere",
    "/",
)
SERVED = tuple(path for path in SURFACES if path != "/nowhere")
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
ORIGIN = "http://localhost:5173"
ELSEWHERE = "https://elsewhere.example"
ALLOWED_ORIGIN = "access-control-allow-origin"
EMBEDDING = "cross-origin-resource-policy"
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
    url = f"http://emulator.test{path}"
    call = Call(
        method,
        url,
        key=key,
        idempotency_key=None,
        headers=headers,
    )
    return emulator.send(call)


def ask_as(
    emulator: EmulatorUnderTest,
    path: str,
    host: str,
) -> Answer:
    """Ask the emulator under some name."""
    return ask(emulator, path, {"Host": host})


def forbids(answer: Answer) -> bool:
    return answer.status == 403 and answer.code == "permission_denied"


def refuses_head(answer: Answer) -> bool:
    return answer.status == 400 and answer.code == "invalid_request"


def traces(emulator: EmulatorUnderTest) -> Json:
    """Return what requests leave: the length of the journal, and counts of ids."""
    sandbox = emulator.sandbox
    return {
        "journal": sandbox.journal.last_sequence,
        "ids": dict(sandbox.identifiers.counters),
    }


# Names --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def loopback() -> Iterator[Server]:
    """A server on the loopback, which is allowed one name of the network."""
    with serving("--allowed-host", "emulator") as server:
        yield server


def get(
    server: Server,
    path: str,
    host: str,
) -> bytes:
    """Return what a server writes to a request under some name."""
    head = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    return server.converse(head.encode())


@pytest.mark.parametrize("path", SERVED)
def test_on_the_loopback_own_and_allowed_names_are_accepted(
    loopback: Server,
    path: str,
) -> None:
    for host in (*OWN_NAMES, "emulator"):
        written = get(loopback, path, host)

        assert not written.startswith(b"HTTP/1.1 403"), host
        assert b"--allowed-host" not in written


@pytest.mark.parametrize("path", SERVED)
def test_on_the_loopback_any_other_name_is_refused(loopback: Server, path: str) -> None:
    local_names = [host for host in LOCAL_NAMES if host != "emulator"]
    for host in (*local_names, *STRANGERS):
        written = get(loopback, path, host)

        assert written.startswith(b"HTTP/1.1 403"), host
        assert b"--allowed-host" in written


def test_a_server_on_all_addresses_answers_to_names_of_the_network() -> None:
    with serving("--host", "0.0.0.0") as server:
        for host in (*LOCAL_NAMES, "localhost"):
            written = get(server, "/_emulator/health", host)

            assert written.startswith(b"HTTP/1.1 200 "), host


@pytest.mark.parametrize("host", STRANGERS)
@pytest.mark.parametrize("path", SURFACES)
def test_a_name_that_anybody_can_register_is_refused_everywhere(
    emulator: EmulatorUnderTest,
    path: str,
    host: str,
) -> None:
    before = traces(emulator)

    refused = ask_as(emulator, path, host)

    assert forbids(refused)
    assert "--allowed-host" in refused.json["detail"]
    assert traces(emulator) == before
    is_of_control_plane = refused.json["request_id"].startswith("ctl_")
    assert is_of_control_plane == path.startswith("/_emulator")


@pytest.mark.parametrize("path", SURFACES)
def test_names_that_nobody_can_register_are_accepted_everywhere(
    emulator: EmulatorUnderTest,
    path: str,
) -> None:
    for host in (*OWN_NAMES, *LOCAL_NAMES):
        assert ask_as(emulator, path, host).status not in {400, 403}, host


@pytest.mark.parametrize("path", SURFACES)
def test_a_host_that_is_no_name_is_refused_everywhere(
    emulator: EmulatorUnderTest,
    path: str,
) -> None:
    for host in UNSOUND:
        assert refuses_head(ask_as(emulator, path, host)), host


@pytest.mark.parametrize("path", SURFACES)
def test_two_hosts_are_refused_everywhere(
    emulator: EmulatorUnderTest,
    path: str,
) -> None:
    twice = [("Host", "localhost"), ("Host", "localhost")]

    assert refuses_head(ask(emulator, path, twice))


@pytest.mark.parametrize("path", SURFACES)
def test_a_request_without_a_host_is_refused_everywhere(
    emulator: EmulatorUnderTest,
    path: str,
) -> None:
    url = f"http://emulator.test{path}"

    answer = emulator.send(Call("GET", url, idempotency_key=None, without=["Host"]))

    assert refuses_head(answer)


def ask_as_many(emulator: EmulatorUnderTest, numbers: range) -> None:
    """Ask the emulator under names of 10,000 characters, each time another."""
    for number in numbers:
        name = f"{number:010000}.localhost"
        assert ask_as(emulator, "/_emulator/health", name).status == 200


@pytest.fixture
def traced_memory() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


def traced_bytes() -> int:
    gc.collect()
    size_bytes, _peak = tracemalloc.get_traced_memory()
    return size_bytes


@pytest.mark.usefixtures("traced_memory")
def test_accepted_names_take_no_memory_without_bound(
    emulator: EmulatorUnderTest,
) -> None:
    ask_as_many(emulator, range(100))
    before = traced_bytes()

    ask_as_many(emulator, range(100, 300))

    assert traced_bytes() - before < 1_000_000


NAMED = pytest.mark.emulator(
    public_url="https://emulator.example:8443/base",
    allowed_hosts=("ci.example.org", "Other.example"),
)


@NAMED
@pytest.mark.parametrize(
    "host",
    [
        "emulator.example",
        "ci.example.org:8038",
        "ci.example.org.",
        "other.example",
        "localhost",
    ],
)
def test_names_are_allowed_by_options(emulator: EmulatorUnderTest, host: str) -> None:
    assert ask_as(emulator, "/v1/team", host).status == 200


@NAMED
@pytest.mark.parametrize("host", ["example.org", "sub.ci.example.org"])
def test_an_allowed_name_allows_neither_its_domain_nor_names_below_it(
    emulator: EmulatorUnderTest,
    host: str,
) -> None:
    assert ask_as(emulator, "/v1/team", host).status == 403


# Pages --------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT"])
@pytest.mark.parametrize("host", ["localhost", "evil.com"])
@pytest.mark.parametrize(
    "path",
    [*SURFACES, "/_emulator", "/v1/products?limit=0", "/_emulator/page/icon.svg"],
)
def test_no_foreign_page_may_embed_an_answer(
    emulator: EmulatorUnderTest,
    path: str,
    host: str,
    method: str,
) -> None:
    answer = ask(emulator, path, {"Host": host}, method)

    if path.startswith("/files/"):
        assert answer.headers[EMBEDDING] == "same-site"
    else:
        assert answer.headers[EMBEDDING] == "same-origin"


@pytest.mark.parametrize(
    ("referer", "policy"),
    [(f"{ORIGIN}/gallery", "cross-origin"), ("http://evil.com/", "same-site")],
)
def test_pages_of_an_allowed_origin_alone_may_embed_pictures(
    make_emulator: MakeEmulator,
    referer: str,
    policy: str,
) -> None:
    emulator = make_emulator(cors=(ORIGIN,))

    answer = ask(emulator, "/files/default/x.png", {"Referer": referer})

    assert answer.headers[EMBEDDING] == policy


BELOW_ROOT = pytest.mark.parametrize("path", [path for path in SURFACES if path != "/"])


@BELOW_ROOT
@pytest.mark.parametrize(
    "headers",
    [CROSS_SITE, FOLLOWED, {"Sec-Fetch-Site": "nonsense"}],
    ids=["cross-site", "followed", "nonsense"],
)
def test_what_a_browser_sends_for_another_site_is_refused_everywhere(
    emulator: EmulatorUnderTest,
    path: str,
    headers: dict[str, str],
) -> None:
    before = traces(emulator)

    refused = ask(emulator, path, headers)

    assert forbids(refused)
    assert traces(emulator) == before


@BELOW_ROOT
@pytest.mark.parametrize("site", ["none", "same-origin"])
def test_what_a_browser_sends_for_no_other_site_is_accepted(
    emulator: EmulatorUnderTest,
    path: str,
    site: str,
) -> None:
    assert ask(emulator, path, {"Sec-Fetch-Site": site}).status != 403


# Allowed origins ----------------------------------------------------------------------

ANY_OR_ONE = pytest.mark.parametrize("origin", [ORIGIN, "*"])
PROGRAM = {**CROSS_SITE, "Origin": ORIGIN}
"""What a browser adds to the requests of a program on a page of `ORIGIN`."""


@ANY_OR_ONE
def test_a_program_of_an_allowed_origin_has_the_service(
    make_emulator: MakeEmulator,
    origin: str,
) -> None:
    emulator = make_emulator(cors=(origin,))

    assert ask(emulator, "/v1/team", PROGRAM).status == 200


@ANY_OR_ONE
def test_a_page_of_an_allowed_origin_has_the_files(
    make_emulator: MakeEmulator,
    origin: str,
) -> None:
    emulator = make_emulator(cors=(origin,))
    picture = {"Sec-Fetch-Site": "cross-site", "Referer": f"{ORIGIN}/gallery"}

    answer = ask(emulator, "/files/default/x.png", picture)

    assert answer.status == 404
    assert answer.code == "not_found"


@ANY_OR_ONE
def test_an_allowed_origin_does_not_allow_a_name_of_the_emulator(
    make_emulator: MakeEmulator,
    origin: str,
) -> None:
    emulator = make_emulator(cors=(origin,))

    assert forbids(ask(emulator, "/v1/team", {**PROGRAM, "Host": "evil.com"}))


@pytest.mark.parametrize(("origin", "status"), [(ORIGIN, 403), ("*", 200)])
def test_a_strange_origin_has_the_service_only_if_any_is_allowed(
    make_emulator: MakeEmulator,
    origin: str,
    status: int,
) -> None:
    emulator = make_emulator(cors=(origin,))
    stranger = {**CROSS_SITE, "Origin": "http://evil.com"}

    assert ask(emulator, "/v1/team", stranger).status == status


@pytest.mark.parametrize(
    ("allowed_origin", "origin"),
    [
        ("https://app.example", "https://app.example:443"),
        ("https://app.example:443", "https://app.example"),
        ("http://app.example:80", "http://app.example"),
        ("http://App.example", "http://app.example"),
    ],
)
def test_an_origin_is_allowed_however_its_default_port_is_written(
    make_emulator: MakeEmulator,
    allowed_origin: str,
    origin: str,
) -> None:
    emulator = make_emulator(cors=(allowed_origin,))

    assert ask(emulator, "/v1/team", {**CROSS_SITE, "Origin": origin}).status == 200


@ANY_OR_ONE
@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_an_allowed_origin_does_not_have_the_control_plane(
    make_emulator: MakeEmulator,
    origin: str,
    method: str,
) -> None:
    emulator = make_emulator(cors=(origin,))
    headers = {**PROGRAM, **PREFLIGHT}

    refused = ask(emulator, "/_emulator/teams", headers, method, key=None)

    assert forbids(refused)
    assert ALLOWED_ORIGIN not in refused.headers


@allowed
@pytest.mark.parametrize(("key", "status"), [(FULL, 200), ("nothing", 401)])
def test_a_program_of_an_allowed_origin_may_read_answers_and_problems(
    emulator: EmulatorUnderTest,
    key: str,
    status: int,
) -> None:
    answer = ask(emulator, "/v1/team", {"Origin": ORIGIN}, key=key)

    assert answer.status == status
    assert answer.headers[ALLOWED_ORIGIN] == ORIGIN
    assert answer.headers["vary"] == "Origin"
    exposed = answer.headers["access-control-expose-headers"].lower().split(", ")
    assert {"request-id", "retry-after", "location"} <= {*exposed}


@allowed
def test_a_program_of_any_other_origin_may_read_nothing(
    emulator: EmulatorUnderTest,
) -> None:
    answer = ask(emulator, "/v1/team", {"Origin": ELSEWHERE})

    assert ALLOWED_ORIGIN not in answer.headers


def test_a_program_may_read_nothing_unless_its_origin_is_allowed(
    emulator: EmulatorUnderTest,
) -> None:
    answer = ask(emulator, "/v1/team", {"Origin": ORIGIN})

    assert ALLOWED_ORIGIN not in answer.headers


def preflight(
    emulator: EmulatorUnderTest,
    path: str,
    origin: str,
) -> Answer:
    """Ask as a browser does before a request of another origin.

    No contract has the answer.
    """
    headers = {"Origin": origin, **PREFLIGHT}
    with patch.object(emulator, "check"):
        return ask(emulator, path, headers, "OPTIONS", key=None)


@allowed
def test_a_preflight_of_any_other_origin_is_refused(
    emulator: EmulatorUnderTest,
) -> None:
    refused = preflight(emulator, "/v1/uploads", ELSEWHERE)

    assert refused.status == 400
    assert ALLOWED_ORIGIN not in refused.headers


@allowed
@pytest.mark.parametrize(
    "path",
    ["/v1/uploads", "/direct-uploads/default/x", "/files/x"],
)
def test_a_preflight_is_answered_and_leaves_no_trace(
    emulator: EmulatorUnderTest,
    path: str,
) -> None:
    before = traces(emulator)

    answer = preflight(emulator, path, ORIGIN)

    assert answer.status == 200
    assert answer.headers[ALLOWED_ORIGIN] == ORIGIN
    assert answer.headers["access-control-allow-private-network"] == "true"
    allowed_headers = answer.headers["access-control-allow-headers"]
    assert allowed_headers == "authorization,idempotency-key"
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert traces(emulator) == before


# What browsers ask for by themselves --------------------------------------------------

LED = pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/", "/_emulator"),
        ("/?sandbox=default", "/_emulator?sandbox=default"),
        ("/favicon.ico", "/_emulator/page/icon.svg"),
        ("/_emulator/", "/_emulator"),
    ],
)
TYPED_OR_FOLLOWED = pytest.mark.parametrize(
    "headers",
    [{}, FOLLOWED],
    ids=["typed", "followed"],
)


@LED
@TYPED_OR_FOLLOWED
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_browser_is_led_to_the_page_and_leaves_no_trace(
    emulator: EmulatorUnderTest,
    path: str,
    target: str,
    headers: dict[str, str],
    method: str,
) -> None:
    before = traces(emulator)

    answer = ask(emulator, path, headers, method, key=None)

    assert answer.status == 302
    assert "request-id" in answer.headers
    assert f"/{answer.headers['location'].removeprefix('../')}" == target
    assert traces(emulator) == before


@pytest.mark.parametrize("target", ["/_emulator", "/_emulator?sandbox=default"])
@TYPED_OR_FOLLOWED
def test_the_page_that_a_browser_is_led_to_is_there(
    emulator: EmulatorUnderTest,
    target: str,
    headers: dict[str, str],
) -> None:
    assert ask(emulator, target, headers, key=None).status == 200


def test_the_icon_that_a_browser_is_led_to_is_there(
    emulator: EmulatorUnderTest,
) -> None:
    assert ask(emulator, "/_emulator/page/icon.svg", key=None).status == 200


@pytest.mark.parametrize(("method", "key"), [("POST", None), ("GET", FULL)])
def test_a_client_whose_base_url_is_wrong_gets_a_problem(
    emulator: EmulatorUnderTest,
    method: str,
    key: str | None,
) -> None:
    answer = ask(emulator, "/", method=method, key=key)

    assert answer.status == 404
    assert answer.code == "not_found"
    assert emulator.sandbox.journal.last_sequence == 1
