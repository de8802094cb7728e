"""The paths and methods of the control plane, and what every answer has."""

import pytest

from tests.support.contract_check import read_contract
from tests.support.emulator_under_test import EmulatorUnderTest, MakeEmulator

PICTURE = "sty_0000000001c8a523a1b0421ce2.1.0"
"""A premade one, with the seed 0."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW")
PAGES = {"": ["GET"], "/reference": ["GET"], "/page/{file}": ["GET"]}
PATHS = read_contract("control-plane.yaml")["paths"]
OF_A_SANDBOX = {path: item for path, item in PATHS.items() if "servers" not in item}


def filled(path: str) -> str:
    return path.format(
        sandbox="default",
        team="Demo",
        credential="none",
        request="1",
        scenario="rate-limited",
        file="icon.svg",
        path="reference/sweep.md",
        picture=PICTURE,
    )


def methods_by_path() -> dict[str, list[str]]:
    """Every path, those of a sandbox twice, with its methods."""
    methods = {filled(path): allowed for path, allowed in PAGES.items()}
    for path, item in PATHS.items():
        own_methods = [name.upper() for name in item if name != "servers"]
        methods[filled(path)] = own_methods
        if path in OF_A_SANDBOX:
            methods[f"/sandboxes/default{filled(path)}"] = own_methods
    return methods


METHODS_BY_PATH = methods_by_path()
FINITE = [
    path
    for path, methods in METHODS_BY_PATH.items()
    if "GET" in methods and not path.endswith("/events")
]
"""What can be read to its end."""


@pytest.mark.parametrize("path", METHODS_BY_PATH)
def test_another_method_is_405_with_those_allowed(
    emulator: EmulatorUnderTest,
    path: str,
) -> None:
    allowed = {*METHODS_BY_PATH[path]}
    if "GET" in allowed:
        allowed.add("HEAD")

    for method in METHODS:
        if method not in allowed:
            answer = emulator.ask(method, path)

            assert answer.status == 405
            assert answer.headers["allow"] == ", ".join(sorted(allowed))
            if method != "HEAD":  # its answer has no body
                assert answer.code == "invalid_request"


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "/",
        "/clock/",
        "/Clock",
        "/contract.toml",
        "/teams/Demo/nothing",
        "/_emulator",
        "/sandboxes/",
        "/sandboxes/default/",
        "/sandboxes/default/health",
        "/sandboxes/default/sandboxes",
        "/sandboxes//clock",
        "/sandboxes/a%2Fb/clock",
    ],
)
def test_an_unknown_path_is_404(emulator: EmulatorUnderTest, path: str) -> None:
    answer = emulator.ask("GET", path, headers={"Authorization": "Bearer key"})

    assert answer.status == 404
    assert answer.code == "not_found"


@pytest.mark.parametrize("path", OF_A_SANDBOX)
def test_every_path_of_an_unknown_sandbox_is_404(
    emulator: EmulatorUnderTest,
    path: str,
) -> None:
    for method, operation in OF_A_SANDBOX[path].items():
        body: dict[str, str] | None = {} if "requestBody" in operation else None

        answer = emulator.ask(method.upper(), filled(path), body, sandbox="nobody")

        assert answer.status == 404
        assert answer.code == "not_found"
        assert '"nobody": there is no such sandbox' in answer.json["detail"]


def test_a_slash_within_a_step_of_a_path_belongs_to_the_step(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.told("POST", "/teams", {"name": "A/B"})

    changed = emulator.told("PATCH", "/teams/A%2FB", {"credits": 7})

    assert changed["name"] == "A/B"
    assert changed["credits"] == 7


@pytest.mark.parametrize("path", FINITE)
def test_head_answers_as_get_does_without_the_body(
    emulator: EmulatorUnderTest,
    path: str,
) -> None:
    emulator.get("/team")  # the first request
    got = emulator.ask("GET", path)

    headed = emulator.ask("HEAD", path)

    assert headed.status == 200
    assert headed.body == b""
    if path.endswith("/state"):  # it is sent as it is written
        assert "content-length" not in headed.headers
    else:
        assert headed.headers["content-length"] == str(len(got.body))


@pytest.mark.parametrize(
    "path",
    ["/health", "/clock", "", "/nowhere", "/page/icon.svg"],
)
def test_no_answer_is_cached_or_shown_in_a_page_of_another_origin(
    emulator: EmulatorUnderTest,
    path: str,
) -> None:
    headers = emulator.ask("GET", path).headers

    assert headers["cache-control"] == "no-store"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["x-content-type-options"] == "nosniff"


def test_every_answer_has_a_request_id_of_its_own(emulator: EmulatorUnderTest) -> None:
    paths = ("/health", "/nowhere", "/clock")

    ids = [emulator.ask("GET", path).headers["request-id"] for path in paths]

    assert all(identifier.startswith("ctl_") for identifier in ids)
    assert ids == sorted(set(ids))


def test_request_ids_are_the_same_in_every_run(
    emulator: EmulatorUnderTest,
    make_emulator: MakeEmulator,
) -> None:
    paths = ("/health", "/nowhere", "/clock")
    other = make_emulator(seed=5)

    ids = [emulator.ask("GET", path).headers["request-id"] for path in paths]

    assert ids == [other.ask("GET", path).headers["request-id"] for path in paths]


@pytest.mark.emulator(control_token="secret")
@pytest.mark.parametrize("path", ["/clock", "/nowhere", "/contract"])
def test_the_token_is_asked_for_before_anything_is_said_of_a_path(
    emulator: EmulatorUnderTest,
    path: str,
) -> None:
    answer = emulator.ask("BREW", path)

    assert answer.status == 401
    assert answer.code == "authentication_required"


@pytest.mark.emulator(control_token="secret")
@pytest.mark.parametrize("path", ["/health", "", "/reference", "/page/icon.svg"])
def test_health_and_the_files_of_the_page_need_no_token(
    emulator: EmulatorUnderTest,
    path: str,
) -> None:
    assert emulator.ask("GET", path).status == 200


def test_looking_at_a_sandbox_leaves_it_as_it_was(
    emulator: EmulatorUnderTest,
    make_emulator: MakeEmulator,
) -> None:
    for path in (*FINITE, "/nowhere"):
        emulator.ask("GET", path)

    entries = emulator.told("GET", "/requests")["data"]
    looked_at = emulator.get("/team")

    left_alone = make_emulator().get("/team")
    assert entries == []
    assert looked_at.raw_headers == left_alone.raw_headers
    assert looked_at.body == left_alone.body


@pytest.mark.emulator(
    world="teams: {Demo: {requests_per_minute: 1, credentials: [{key: iwe_demo_full}]}}"
)
def test_the_control_plane_costs_no_rate_limit(emulator: EmulatorUnderTest) -> None:
    for _ in range(20):
        assert emulator.ask("GET", "/teams").status == 200

    statuses = [emulator.get("/team").status for _ in range(2)]

    assert statuses == [200, 429]
