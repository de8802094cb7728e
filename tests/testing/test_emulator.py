"""`image_workflow_emulator.testing`: an emulator, its sandboxes, and everything that a test does to one; at the end
`create_app`, the emulator inside the test's own process, and the docstrings with their examples.
"""

import asyncio
import doctest
import inspect
import re
import tempfile
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest

from image_workflow_emulator import testing
from image_workflow_emulator.testing import (
    Emulator,
    EmulatorApplication,
    EmulatorError,
    Sandbox,
    create_app,
)
from tests.support.emulator_client import UPLOAD

START = datetime(2026, 1, 1, tzinfo=UTC)
BAD_SCENARIO = """\
scenario: mine
rules:
  - match: {operation: getTeem}
    then: {problem: rate_limited}
"""


def get_team(sandbox: Sandbox, key: str | None = None) -> httpx.Response:
    return httpx.get(
        f"{sandbox.base_url}/team",
        headers={"Authorization": f"Bearer {key or sandbox.api_key}"},
    )


# Emulators ------------------------------------------------------------------------------------------------------------


def test_what_cannot_be_an_option_or_an_address_is_told() -> None:
    with pytest.raises(
        TypeError, match=r"unknown option 'sed'; expected one of: host, port, seed, "
    ):
        Emulator.start(sed=1)
    with pytest.raises(
        EmulatorError,
        match=r"found the address '127\.0\.0\.1:8038'; expected one such as http://",
    ):
        Emulator.connect("127.0.0.1:8038")
    with pytest.raises(ValueError, match="has no time zone"):
        Emulator.start(start=datetime(2030, 1, 1))  # noqa: DTZ001
    with pytest.raises(EmulatorError, match="--seed: found '<object object"):
        Emulator.start(seed=object())


def test_options_are_plain_values_and_lists_where_they_can_be_repeated(
    tmp_path: Path,
) -> None:
    world = tmp_path / "world.yaml"
    world.write_text(
        "teams: {Mine: {credentials: [{key: my_own_key, name: Full, profile: full}]}}"
    )
    hosts = ["ci.example.com", "b.example.com"]
    with Emulator.start(
        clock="x60", start=START, rate_limits=False, world=world, allowed_host=hosts
    ) as emulator:
        assert "x60" == emulator.default.clock.mode
        assert START < emulator.default.clock.now < START + timedelta(hours=1)
        assert (
            200
            == get_team(
                emulator.default, emulator.default.key("my_own_key")
            ).status_code
        )
        assert (
            200
            == httpx.get(
                f"{emulator.url}/_emulator/health", headers={"Host": hosts[1]}
            ).status_code
        )


def test_one_that_is_closed_has_stopped() -> None:
    with Emulator.start() as emulator:
        url = emulator.url
    with pytest.raises(EmulatorError, match=f"no emulator answers at {url}") as error:
        Emulator.connect(url)
    assert ("no_answer", None) == (error.value.code, error.value.status)


def test_one_that_runs_already_is_used_with_its_control_token(server: Emulator) -> None:
    with Emulator.connect(server.url, "open sesame") as emulator:
        with emulator.default as default:
            assert START == default.clock.now
        assert "iwe_demo_full" == emulator.default.api_key  # it outlives its context
    with (
        Emulator.connect(server.url) as stranger,
        pytest.raises(EmulatorError) as error,
    ):
        _ = stranger.default.clock.now
    assert ("authentication_required", 401) == (error.value.code, error.value.status)


# Sandboxes ------------------------------------------------------------------------------------------------------------


def test_a_sandbox_has_a_start_and_keys_of_its_own_and_tells_programs_where_it_is(
    server: Emulator,
) -> None:
    tomorrow = START + timedelta(days=1)
    with server.sandbox(id="checkout", start=tomorrow) as sandbox:
        assert tomorrow == sandbox.clock.now
        assert f"{server.url}/v1" == sandbox.base_url
        assert "iwe_demo_full_checkout" == sandbox.api_key
        assert (
            "iwe_demo_read_checkout"
            == sandbox.key("iwe_demo_read")
            == sandbox.key("iwe_demo_read_checkout")
        )
        assert {
            "IMAGE_WORKFLOW_BASE_URL": sandbox.base_url,
            "IMAGE_WORKFLOW_API_KEY": sandbox.api_key,
            "EMULATOR_URL": server.url,
            "EMULATOR_SANDBOX": "checkout",
        } == sandbox.env
    with pytest.raises(EmulatorError, match="there is no such sandbox"):
        _ = sandbox.base_url


def test_readings_are_given_as_a_text_a_mapping_or_a_file(
    server: Emulator, tmp_path: Path
) -> None:
    file = tmp_path / "known.yaml"
    file.write_text("readings: {D66: silent}")
    for readings in ("D66=silent", {"D66": "silent"}, file, str(file)):
        with server.sandbox(readings=readings) as sandbox:
            assert ["D66=silent"] == sandbox.readings
    file.write_text("readings:\n  D66: silnt\n")
    with pytest.raises(EmulatorError, match=r"known\.yaml:2:.*silent"):
        server.sandbox(readings=file)


def test_the_key_stays_demos_when_it_is_revoked(sandbox: Sandbox) -> None:
    key = sandbox.api_key
    revoked = {"credential": "iwe_demo_full", "state": "revoked"}
    sandbox.use({"scenario": "gone", "timeline": [{"at": "0s", "set": revoked}]})
    assert key == sandbox.api_key == sandbox.env["IMAGE_WORKFLOW_API_KEY"]
    assert 401 == get_team(sandbox).status_code


# The clock ------------------------------------------------------------------------------------------------------------


def test_the_clock_is_moved_by_spans_and_to_instants_and_its_mode_is_set(
    sandbox: Sandbox,
) -> None:
    clock = sandbox.clock
    for span in (90, 0.5, "90s", timedelta(seconds=1)):
        clock.advance(span)
    assert START + timedelta(seconds=181.5) == clock.now
    clock.to(START + timedelta(hours=1))
    clock.to("2026-01-01T02:00:00.000Z")
    assert START + timedelta(hours=2) == clock.now
    with pytest.raises(
        EmulatorError,
        match=r"clock\.advance: found 'soon'; expected a duration such as 250ms",
    ):
        clock.advance("soon")
    for mode in ("manual", "auto", "x60"):
        clock.mode = mode
        assert mode == clock.mode


def test_the_clock_moves_from_event_to_event(sandbox: Sandbox) -> None:
    sandbox.given.photoshoot(products=[sandbox.given.product("Shirt")], finished=False)
    due = sandbox.clock.next_event_at
    assert sandbox.clock.pending > 0
    assert 1 == sandbox.clock.next()
    assert due == sandbox.clock.now
    assert 4 == sandbox.clock.idle()


# Scenarios, Teams, the journal, state ---------------------------------------------------------------------------------


def test_a_scenario_is_used_by_name_whole_or_from_a_file(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    rule = {
        "name": "busy",
        "match": {"operation": "getTeam"},
        "then": {"problem": "rate_limited"},
    }
    sandbox.use({"scenario": "mine", "rules": [rule]})
    assert 429 == get_team(sandbox).status_code
    assert [("busy", 1, 1)] == [
        (rule.name, rule.matched, rule.fired) for rule in sandbox.rules
    ]
    sandbox.no_scenario()
    assert (200, []) == (get_team(sandbox).status_code, sandbox.rules)
    file = tmp_path / "mine.yaml"
    file.write_text(BAD_SCENARIO.replace("getTeem", "getTeam"))
    sandbox.use(file, team="Other")
    assert (200, 429) == (
        get_team(sandbox).status_code,
        get_team(sandbox, sandbox.key("iwe_other_full")).status_code,
    )
    sandbox.use(file.read_text())
    assert 429 == get_team(sandbox).status_code


def test_a_bad_scenario_file_is_told_with_its_place(
    server: Emulator, sandbox: Sandbox, tmp_path: Path
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(BAD_SCENARIO)
    for use, code in (
        (lambda: sandbox.use(file), "invalid_scenario"),
        (lambda: server.sandbox(scenario=str(file)), "invalid_scenario"),
        (lambda: Emulator.start(scenario=file), "not_started"),
    ):
        with pytest.raises(EmulatorError) as error:
            use()
        assert code == error.value.code
        assert error.value.detail.startswith(f"{file}:3:24: ")
        assert error.value.detail.endswith('did you mean "getTeam"?')


def test_a_team_is_looked_at_and_changed(sandbox: Sandbox) -> None:
    team = sandbox.team("Demo")
    team.set(
        credits=5, subscription="inactive", concurrency_limit=1, requests_per_minute=1
    )
    shown = (
        team.name,
        team.credits,
        team.reserved,
        team.subscription,
        team.concurrency_limit,
    )
    assert ("Demo", 5, 0, "inactive", 1) == shown
    assert team.credits == sandbox.team(team.id).credits
    assert (200, 429) == (get_team(sandbox).status_code, get_team(sandbox).status_code)
    with pytest.raises(EmulatorError, match="'Nobody': there is no such Team"):
        _ = sandbox.team("Nobody").credits


def test_recorded_requests_are_told_oldest_first_and_explained(
    sandbox: Sandbox,
) -> None:
    with pytest.raises(EmulatorError, match="the journal is empty"):
        sandbox.explain("last")
    get_team(sandbox)
    get_team(sandbox, sandbox.key("iwe_demo_expired"))
    first, second = sandbox.requests()
    shown = (first.method, first.operation, first.status, first.code, first.team)
    assert ("GET", "getTeam", 200, None, "Demo") == shown
    assert (
        [second]
        == sandbox.requests(status=401)
        == sandbox.requests(code="credential_expired", since=1)
    )
    explanation = sandbox.explain("last")
    by_number, by_id = sandbox.explain(2), sandbox.explain(second.request_id or "")
    assert second == explanation.request == by_number.request == by_id.request
    assert explanation.summary.startswith("401 credential_expired: ")
    assert "use the Team's credential 'Full'" == explanation.remedy
    assert ["credential"] == [
        check["check"] for check in explanation.checks if check["result"] == "decided"
    ]
    assert "credential_expired" in str(second)


def test_the_newest_requests_are_asked_for_by_number(sandbox: Sandbox) -> None:
    assert sandbox.last_sequence == 0
    for _ in range(3):
        get_team(sandbox)
    newest = sandbox.requests(limit=2)
    assert [2, 3] == [request.sequence for request in newest]
    assert sandbox.last_sequence == 3


def test_an_emulator_needs_no_temporary_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with Emulator.start(clock="manual", scenario="rate-limited") as emulator:
        assert "rate-limited" == emulator.default.scenario
    with pytest.raises(EmulatorError, match="scenario: a mapping needs a temporary"):
        create_app(scenario={"scenario": "mine"})


def test_a_sandbox_is_saved_as_a_session_without_its_key(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    sandbox.given.product(sandbox.api_key)

    sandbox.save(tmp_path / "all.json")

    assert sandbox.api_key not in (tmp_path / "all.json").read_text()


# The emulator inside the test's own process ---------------------------------------------------------------------------

KEY = {"Authorization": "Bearer iwe_demo_full"}
HOLD = {
    "scenario": "wait",
    "rules": [{"match": {"operation": "createUpload"}, "then": {"hold": "10s"}}],
}


def client_of(app: EmulatorApplication) -> httpx.AsyncClient:
    """A client in the process of the emulator, with the credential of Demo."""
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app=app),
        base_url=app.sandbox.base_url,
        headers=KEY,
    )


def test_a_held_request_goes_on_when_another_thread_moves_the_clock() -> None:
    async def run(app: EmulatorApplication) -> None:
        app.sandbox.use(HOLD)
        async with client_of(app) as client:
            headers = {"Idempotency-Key": "one"}
            held = asyncio.ensure_future(
                client.post("/uploads", json=UPLOAD, headers=headers)
            )
            while not app.sandbox.clock.pending:  # noqa: ASYNC110 (until the request has come as far as its hold)
                await asyncio.sleep(0)
            await asyncio.to_thread(app.sandbox.clock.advance, 10)
            assert 201 == (await held).status_code
            assert "2026-01-01T00:00:10" == app.sandbox.clock.now.isoformat()[:19]

    asyncio.run(run(create_app(clock="manual")))


def test_it_serves_starlettes_test_client_with_a_lifespan_and_without() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it would like to have another HTTP library
        from starlette.testclient import TestClient
    app = create_app(clock="manual", seed=7)
    client = TestClient(app)
    with client:
        check(client, app)
    check(client, app)


def check(client: Any, app: EmulatorApplication) -> None:
    with app.emulator.sandbox() as sandbox:
        answer = client.get(
            f"{sandbox.base_url}/team",
            headers={"Authorization": f"Bearer {sandbox.api_key}"},
        )
        assert 200 == answer.status_code
        assert 0 == sandbox.clock.advance("1h")
        assert [200] == [request.status for request in sandbox.requests()]


def test_a_control_token_stands_in_nobodys_way() -> None:
    assert 100 == create_app(control_token="open sesame").sandbox.team("Demo").credits


@pytest.mark.parametrize(
    "option", [{"clock": "fast"}, {"scenario": "no-such"}, {"world": "none.yaml"}]
)
def test_an_option_that_cannot_be_used_is_told(option: dict[str, str]) -> None:
    with pytest.raises(EmulatorError) as error:
        create_app(**option)
    assert "not_started" == error.value.code
    assert "Errno" not in error.value.detail


def test_a_lost_answer_is_an_error_of_httpx() -> None:
    async def run(app: EmulatorApplication) -> None:
        async with client_of(app) as client:
            with pytest.raises(
                httpx.TransportError, match="a scenario lost the answer"
            ) as error:
                await client.get("/team")
            assert isinstance(error.value, ConnectionError)
            assert error.value.request.url.path == "/v1/team"

    rule = {"match": {"operation": "getTeam"}, "then": {"network": "reset"}}
    asyncio.run(run(create_app(scenario={"scenario": "lost", "rules": [rule]})))


def test_what_a_file_gives_is_there_at_the_start_and_after_a_reset(
    tmp_path: Path,
) -> None:
    file = tmp_path / "given.yaml"
    file.write_text("given: [{product: {name: Linen shirt}}]")

    async def run(app: EmulatorApplication) -> None:
        async with client_of(app) as client:
            for _ in range(2):
                products = (await client.get("/products")).json()["data"]
                assert ["Linen shirt"] == [product["name"] for product in products]
                app.sandbox.reset()

    asyncio.run(run(create_app(given=file)))


# Docstrings -----------------------------------------------------------------------------------------------------------

PUBLIC = {name: value for name, value in vars(testing).items() if callable(value)}
EXAMPLES = [
    found
    for name, value in PUBLIC.items()
    for found in doctest.DocTestFinder().find(value, name, globs={})
    if found.examples
]


def arguments(function: Any) -> list[str]:
    """The names of what a function takes, but for what belongs to every one of its kind."""
    parameters = inspect.signature(function).parameters
    groups = (
        one.annotation for one in parameters.values() if one.kind is one.VAR_KEYWORD
    )
    named = [
        name
        for group in groups
        for name in getattr(next(iter(get_args(group)), None), "__annotations__", ())
    ]
    return [
        name for name in parameters if name not in ("self", "cls", "fields")
    ] + named


MEMBERS = {
    f"{name}.{member}": (value, getattr(function, "__func__", function))
    for name, value in PUBLIC.items()
    for member, function in (
        vars(value).items() if inspect.isclass(value) else [(name, value)]
    )
}
WITH_ARGUMENTS = {
    name: (home, function)
    for name, (home, function) in MEMBERS.items()
    if inspect.isfunction(function) and "._" not in name and arguments(function)
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda found: found.name)
@pytest.mark.filterwarnings(
    "ignore"
)  # Starlette's TestClient would like another HTTP library
def test_an_example_runs(
    example: doctest.DocTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    example.globs |= PUBLIC
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.append)
    assert not said, "".join(said)


@pytest.mark.parametrize("name", WITH_ARGUMENTS)
def test_a_docstring_names_every_argument_and_the_errors_and_has_an_example(
    name: str,
) -> None:
    home, function = WITH_ARGUMENTS[name]
    text = inspect.getdoc(function) or ""
    assert [] == [
        argument for argument in arguments(function) if f"`{argument}`" not in text
    ]
    assert re.search("raises", text + home.__doc__, re.IGNORECASE)
    assert ">>>" in text
