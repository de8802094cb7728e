"""`image_workflow_emulator.testing`: emulators and their sandboxes."""

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from image_workflow_emulator.testing import Emulator, EmulatorError, Sandbox, create_app
from tests.testing.conftest import CONTROL_TOKEN

START = datetime(2026, 1, 1, tzinfo=UTC)


def get_team(sandbox: Sandbox, key: str | None = None) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key or sandbox.api_key}"}
    return httpx.get(f"{sandbox.base_url}/team", headers=headers)


# Emulators ---------------------------------------------------------------------------


def test_an_unknown_option_is_told_with_those_that_there_are() -> None:
    complaint = r"unknown option 'sed'; expected one of: host, port, seed, "

    with pytest.raises(TypeError, match=complaint):
        Emulator.start(sed=1)


def test_a_value_that_no_option_takes_is_told_with_the_option() -> None:
    with pytest.raises(EmulatorError, match="--seed: found '<object object"):
        Emulator.start(seed=object())


def test_a_start_without_a_time_zone_is_refused() -> None:
    naive = datetime(2030, 1, 1)  # noqa: DTZ001

    with pytest.raises(ValueError, match="has no time zone"):
        Emulator.start(start=naive)


def test_what_cannot_be_an_address_is_told() -> None:
    complaint = r"found the address '127\.0\.0\.1:8038'; expected one such as http://"

    with pytest.raises(EmulatorError, match=complaint):
        Emulator.connect("127.0.0.1:8038")


def test_options_are_plain_values_and_lists_where_they_can_be_repeated(
    tmp_path: Path,
) -> None:
    world = tmp_path / "world.yaml"
    credential = "{key: my_own_key, name: Full, profile: full}"
    world.write_text(f"teams: {{Mine: {{credentials: [{credential}]}}}}")
    hosts = ["ci.example.com", "b.example.com"]

    with Emulator.start(
        clock="x60",
        start=START,
        rate_limits=False,
        world=world,
        allowed_host=hosts,
    ) as emulator:
        clock = emulator.default.clock
        key = emulator.default.key("my_own_key")
        team = get_team(emulator.default, key)
        health = httpx.get(
            f"{emulator.url}/_emulator/health",
            headers={"Host": "b.example.com"},
        )
        mode = clock.mode
        now = clock.now

    assert mode == "x60"
    assert now > START
    assert now < START + timedelta(hours=1)
    assert team.status_code == 200
    assert health.status_code == 200


def test_one_that_is_closed_has_stopped() -> None:
    with Emulator.start() as emulator:
        url = emulator.url

    with pytest.raises(EmulatorError, match=f"no emulator answers at {url}") as error:
        Emulator.connect(url)

    assert error.value.code == "no_answer"
    assert error.value.status is None


def test_one_that_runs_already_is_used_with_its_control_token(server: Emulator) -> None:
    with Emulator.connect(server.url, CONTROL_TOKEN) as emulator:
        assert emulator.default.clock.now == START


def test_without_its_control_token_one_that_runs_already_refuses(
    server: Emulator,
) -> None:
    with Emulator.connect(server.url) as emulator:
        default = emulator.default
        with pytest.raises(EmulatorError) as error:
            _ = default.clock.now

    assert error.value.code == "authentication_required"
    assert error.value.status == 401


def test_an_emulator_needs_no_temporary_folder(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))

    with Emulator.start(clock="manual", scenario="rate-limited") as emulator:
        scenario = emulator.default.scenario

    assert scenario == "rate-limited"


def test_a_scenario_that_is_a_mapping_needs_a_temporary_folder(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))

    with pytest.raises(EmulatorError, match="scenario: a mapping needs a temporary"):
        create_app(scenario={"scenario": "mine"})


# Sandboxes ---------------------------------------------------------------------------


def test_a_sandbox_has_a_start_and_keys_of_its_own(server: Emulator) -> None:
    tomorrow = START + timedelta(days=1)

    with server.sandbox(id="checkout", start=tomorrow) as sandbox:
        assert sandbox.clock.now == tomorrow
        assert sandbox.base_url == f"{server.url}/v1"
        assert sandbox.api_key == "iwe_demo_full_checkout"


@pytest.mark.parametrize("name", ["iwe_demo_read", "iwe_demo_read_checkout"])
def test_a_key_is_named_as_the_world_has_it_or_as_the_sandbox_has_it(
    server: Emulator,
    name: str,
) -> None:
    with server.sandbox(id="checkout") as sandbox:
        assert sandbox.key(name) == "iwe_demo_read_checkout"


def test_a_sandbox_tells_programs_where_it_is(server: Emulator) -> None:
    with server.sandbox(id="checkout") as sandbox:
        assert sandbox.env == {
            "IMAGE_WORKFLOW_BASE_URL": f"{server.url}/v1",
            "IMAGE_WORKFLOW_API_KEY": "iwe_demo_full_checkout",
            "EMULATOR_URL": server.url,
            "EMULATOR_SANDBOX": "checkout",
        }


def test_a_sandbox_ends_with_its_context(server: Emulator) -> None:
    with server.sandbox() as sandbox:
        pass

    with pytest.raises(EmulatorError, match="there is no such sandbox"):
        _ = sandbox.base_url


def test_the_default_sandbox_outlives_its_context(server: Emulator) -> None:
    with server.default as default:
        pass

    assert default.api_key == "iwe_demo_full"


def test_a_sandbox_is_saved_as_a_session_without_its_key(
    sandbox: Sandbox,
    tmp_path: Path,
) -> None:
    sandbox.given.product(sandbox.api_key)

    sandbox.save(tmp_path / "all.json")

    assert sandbox.api_key not in (tmp_path / "all.json").read_text()


# Readings ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "readings",
    ["D66=silent", {"D66": "silent"}],
    ids=["text", "mapping"],
)
def test_readings_are_given_as_a_text_or_a_mapping(
    server: Emulator,
    readings: Any,
) -> None:
    with server.sandbox(readings=readings) as sandbox:
        assert sandbox.readings == ["D66=silent"]


@pytest.mark.parametrize("path_type", [Path, str])
def test_readings_are_given_as_a_file(
    server: Emulator,
    tmp_path: Path,
    path_type: type,
) -> None:
    file = tmp_path / "known.yaml"
    file.write_text("readings: {D66: silent}")

    with server.sandbox(readings=path_type(file)) as sandbox:
        assert sandbox.readings == ["D66=silent"]


def test_a_mistake_in_a_file_of_readings_is_told_with_its_place(
    server: Emulator,
    tmp_path: Path,
) -> None:
    file = tmp_path / "known.yaml"
    file.write_text("readings:\n  D66: silnt\n")

    with pytest.raises(EmulatorError, match=r"known\.yaml:2:.*silent"):
        server.sandbox(readings=file)


# The clock ---------------------------------------------------------------------------


@pytest.mark.parametrize("span", [90, 90.0, "90s", timedelta(seconds=90)])
def test_the_clock_is_moved_by_a_span(sandbox: Sandbox, span: Any) -> None:
    sandbox.clock.advance(span)

    assert sandbox.clock.now == START + timedelta(seconds=90)


def test_the_clock_is_moved_by_a_part_of_a_second(sandbox: Sandbox) -> None:
    sandbox.clock.advance(0.5)

    assert sandbox.clock.now == START + timedelta(seconds=0.5)


@pytest.mark.parametrize(
    "instant",
    [START + timedelta(hours=1), "2026-01-01T01:00:00.000Z"],
    ids=str,
)
def test_the_clock_is_moved_to_an_instant(sandbox: Sandbox, instant: Any) -> None:
    sandbox.clock.to(instant)

    assert sandbox.clock.now == START + timedelta(hours=1)


def test_a_text_that_is_no_span_is_refused(sandbox: Sandbox) -> None:
    complaint = r"clock\.advance: found 'soon'; expected a duration such as 250ms"

    with pytest.raises(EmulatorError, match=complaint):
        sandbox.clock.advance("soon")


@pytest.mark.parametrize("mode", ["manual", "auto", "x60"])
def test_the_mode_of_the_clock_is_set(sandbox: Sandbox, mode: str) -> None:
    sandbox.clock.mode = mode

    assert sandbox.clock.mode == mode


def test_the_clock_moves_from_event_to_event(sandbox: Sandbox) -> None:
    shirt = sandbox.given.product("Shirt")
    sandbox.given.photoshoot(products=[shirt], finished=False)
    due = sandbox.clock.next_event_at

    assert sandbox.clock.pending > 0

    fired = sandbox.clock.next()

    assert fired == 1
    assert sandbox.clock.now == due


def test_the_clock_moves_until_nothing_is_to_come(sandbox: Sandbox) -> None:
    shirt = sandbox.given.product("Shirt")
    sandbox.given.photoshoot(products=[shirt], finished=False)

    fired = sandbox.clock.idle()

    assert fired == 5
    assert sandbox.clock.pending == 0


# Scenarios ---------------------------------------------------------------------------

RATE_LIMITED = {
    "scenario": "mine",
    "rules": [
        {
            "name": "busy",
            "match": {"operation": "getTeam"},
            "then": {"problem": "rate_limited"},
        }
    ],
}
RATE_LIMITED_FILE = """\
scenario: mine
rules:
  - match: {operation: getTeam}
    then: {problem: rate_limited}
"""


def test_a_scenario_is_used_as_a_mapping(sandbox: Sandbox) -> None:
    sandbox.use(RATE_LIMITED)

    assert get_team(sandbox).status_code == 429


def test_a_scenario_is_used_as_the_text_of_a_file(sandbox: Sandbox) -> None:
    sandbox.use(RATE_LIMITED_FILE)

    assert get_team(sandbox).status_code == 429


def test_rules_count_what_they_matched(sandbox: Sandbox) -> None:
    sandbox.use(RATE_LIMITED)
    get_team(sandbox)

    (rule,) = sandbox.rules

    assert rule.name == "busy"
    assert rule.matched == 1
    assert rule.fired == 1


def test_a_scenario_is_ended(sandbox: Sandbox) -> None:
    sandbox.use(RATE_LIMITED)

    sandbox.no_scenario()

    assert sandbox.rules == []
    assert get_team(sandbox).status_code == 200


def test_a_scenario_is_used_from_a_file_for_one_team(
    sandbox: Sandbox,
    tmp_path: Path,
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(RATE_LIMITED_FILE)

    sandbox.use(file, team="Other")

    other_key = sandbox.key("iwe_other_full")
    assert get_team(sandbox).status_code == 200
    assert get_team(sandbox, other_key).status_code == 429


def test_the_key_stays_demos_when_it_is_revoked(sandbox: Sandbox) -> None:
    key = sandbox.api_key
    revoked = {"credential": "iwe_demo_full", "state": "revoked"}

    sandbox.use({"scenario": "gone", "timeline": [{"at": "0s", "set": revoked}]})

    assert sandbox.api_key == key
    assert sandbox.env["IMAGE_WORKFLOW_API_KEY"] == key
    assert get_team(sandbox).status_code == 401


@pytest.fixture
def bad_scenario(tmp_path: Path) -> Path:
    file = tmp_path / "mine.yaml"
    file.write_text(RATE_LIMITED_FILE.replace("getTeam", "getTeem"))
    return file


def check_complaint(error: EmulatorError, file: Path) -> None:
    assert error.detail.startswith(f"{file}:3:24: ")
    assert error.detail.endswith('did you mean "getTeam"?')


def test_a_mistake_in_a_scenario_file_that_is_used_is_told_with_its_place(
    sandbox: Sandbox,
    bad_scenario: Path,
) -> None:
    with pytest.raises(EmulatorError) as error:
        sandbox.use(bad_scenario)

    assert error.value.code == "invalid_scenario"
    check_complaint(error.value, bad_scenario)


def test_a_mistake_in_the_scenario_file_of_a_sandbox_is_told_with_its_place(
    server: Emulator,
    bad_scenario: Path,
) -> None:
    with pytest.raises(EmulatorError) as error:
        server.sandbox(scenario=str(bad_scenario))

    assert error.value.code == "invalid_scenario"
    check_complaint(error.value, bad_scenario)


def test_a_mistake_in_the_scenario_file_of_an_emulator_is_told_with_its_place(
    bad_scenario: Path,
) -> None:
    with pytest.raises(EmulatorError) as error:
        Emulator.start(scenario=bad_scenario)

    assert error.value.code == "not_started"
    check_complaint(error.value, bad_scenario)


# Teams -------------------------------------------------------------------------------


def test_a_team_is_changed(sandbox: Sandbox) -> None:
    team = sandbox.team("Demo")

    team.set(
        credits=5,
        subscription="inactive",
        concurrency_limit=1,
    )

    assert team.name == "Demo"
    assert team.credits == 5
    assert team.reserved == 0
    assert team.subscription == "inactive"
    assert team.concurrency_limit == 1


def test_the_request_rate_of_a_team_is_changed(sandbox: Sandbox) -> None:
    sandbox.team("Demo").set(requests_per_minute=1)

    statuses = [get_team(sandbox).status_code for _ in range(2)]

    assert statuses == [200, 429]


def test_a_team_is_named_by_its_id_too(sandbox: Sandbox) -> None:
    team = sandbox.team("Broke")

    assert sandbox.team(team.id).credits == 0


def test_a_team_that_there_is_not_is_told(sandbox: Sandbox) -> None:
    with pytest.raises(EmulatorError, match="'Nobody': there is no such Team"):
        sandbox.team("Nobody")


# Recorded requests -------------------------------------------------------------------


@pytest.fixture
def used(sandbox: Sandbox) -> Sandbox:
    """A sandbox that has answered one request, and refused another."""
    get_team(sandbox)
    get_team(sandbox, sandbox.key("iwe_demo_expired"))
    return sandbox


def test_recorded_requests_are_told_oldest_first(used: Sandbox) -> None:
    first, second = used.requests()

    assert first.method == "GET"
    assert first.operation == "getTeam"
    assert first.status == 200
    assert first.code is None
    assert first.team == "Demo"
    assert second.status == 401
    assert "credential_expired" in str(second)


@pytest.mark.parametrize(
    "filters",
    [{"status": 401}, {"code": "credential_expired", "since": 1}],
    ids=str,
)
def test_recorded_requests_are_filtered(used: Sandbox, filters: Any) -> None:
    _, second = used.requests()

    assert used.requests(**filters) == [second]


def test_the_newest_requests_are_asked_for_by_number(sandbox: Sandbox) -> None:
    for _ in range(3):
        get_team(sandbox)

    newest = sandbox.requests(limit=2)

    assert [request.sequence for request in newest] == [2, 3]


def test_the_number_of_the_last_request_is_told(used: Sandbox) -> None:
    assert used.last_sequence == 2


def test_before_the_first_request_the_number_of_the_last_is_0(sandbox: Sandbox) -> None:
    assert sandbox.last_sequence == 0


def test_a_request_is_explained(used: Sandbox) -> None:
    explanation = used.explain("last")

    decided = [check for check in explanation.checks if check["result"] == "decided"]
    assert explanation.summary.startswith("401 credential_expired: ")
    assert explanation.remedy == "use the Team's credential 'Full'"
    assert [check["check"] for check in decided] == ["credential"]


def test_a_request_is_explained_by_its_number_or_its_id(used: Sandbox) -> None:
    _, second = used.requests()

    assert second.request_id is not None

    for name in ("last", 2, second.request_id):
        assert used.explain(name).request == second


def test_where_no_request_came_there_is_nothing_to_explain(sandbox: Sandbox) -> None:
    with pytest.raises(EmulatorError, match="the journal is empty"):
        sandbox.explain("last")
