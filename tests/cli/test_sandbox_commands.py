"""The commands that show and change a sandbox: scenario, teams, credentials, sandboxes;
how they find their emulator, and how their tables fit.
"""

import io
import json
import os
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from image_workflow_emulator.cli.main import main
from tests.cli.command import ask, run_command, table, told
from tests.support.served import Server, serving, unused_port

# Scenarios ----------------------------------------------------------------------------


def first_column(text: str) -> list[str]:
    """The first word of each row."""
    return [row[0] for row in table(text)[1:]]


def test_no_scenario_runs_at_the_start(server: Server) -> None:
    assert table(told(server, "scenario"))[1] == ["none", "-", "-", "-"]


def test_a_scenario_says_what_takes_effect_at_the_next_reset(server: Server) -> None:
    lines = told(server, "scenario use batch-runs-dry").splitlines()

    assert lines == [
        "using batch-runs-dry",
        "from the next reset on: its seed, clock",
    ]


def test_the_rules_of_a_scenario_are_shown_with_their_counters(server: Server) -> None:
    told(server, "scenario use batch-runs-dry")
    rule = ["photoshoots", "lose", "two", "slots"]
    rows = table(told(server, "scenario status"))

    assert ["batch-runs-dry", *rule, "0", "0"] in rows


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("scenario --format json", "/_emulator/scenario"),
        ("scenario list --format json", "/_emulator/scenarios"),
        ("teams list --format json", "/_emulator/teams"),
    ],
)
def test_json_is_what_the_control_plane_answers(
    server: Server,
    line: str,
    path: str,
) -> None:
    assert json.loads(told(server, line)) == ask(server, path)


def test_a_scenario_is_ended(server: Server) -> None:
    told(server, "scenario use answer-lost")

    assert told(server, "scenario off") == "done\n"
    assert first_column(told(server, "scenario")) == ["none"]


@pytest.fixture
def team_scenario(server: Server) -> Iterator[Server]:
    """A server that runs a scenario for one Team."""
    told(server, "scenario use some-outputs-fail --team Other")
    yield server
    told(server, "scenario off --team Other")


def test_the_scenario_of_a_team_is_named_below_that_of_all(
    team_scenario: Server,
) -> None:
    told(team_scenario, "scenario use batch-runs-dry")
    scenarios = first_column(told(team_scenario, "scenario"))

    assert scenarios[0] == "batch-runs-dry"
    assert scenarios[-1] == "some-outputs-fail"


def test_the_scenario_of_a_team_runs_on_without_another(team_scenario: Server) -> None:
    assert first_column(told(team_scenario, "scenario")) == [
        "none",
        "some-outputs-fail",
    ]


def test_the_scenario_of_a_team_is_shown_alone(team_scenario: Server) -> None:
    text = told(team_scenario, "scenario status --team Other")

    assert set(first_column(text)) == {"some-outputs-fail"}


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("answer-lost", "answer-lost"),
        ("./answer-lost", "from-a-file"),
        ("mine", "from-a-file"),
    ],
)
def test_a_name_means_the_library_else_a_file(
    server: Server,
    name: str,
    meaning: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answer-lost").write_text("scenario: from-a-file\n")
    (tmp_path / "mine").write_text("scenario: from-a-file\n")

    assert told(server, f"scenario use {name}") == f"using {name}\n"

    status = json.loads(told(server, "scenario --format json"))
    assert status["scenario"] == meaning


# Teams and credentials ----------------------------------------------------------------


def test_teams_are_listed(server: Server) -> None:
    demo = table(told(server, "teams"))[1]

    assert demo[0] == "Demo"
    assert demo[1] == "100"
    assert demo[3] == "active"


def test_a_team_is_changed(server: Server) -> None:
    demo = table(told(server, "teams set Demo credits=5 subscription=inactive"))[1]

    assert demo[1] == "5"
    assert demo[3] == "inactive"


@pytest.fixture
def other(server: Server) -> Iterator[Server]:
    """A server with a sandbox `other`."""
    told(server, "sandboxes create other")
    yield server
    told(server, "sandboxes delete other")


def test_credentials_of_a_sandbox_are_listed(other: Server) -> None:
    rows = table(told(other, "credentials --sandbox other"))

    assert "iwe_demo_full_other" in [row[1] for row in rows]


@pytest.mark.parametrize("key", ["iwe_demo_full", "iwe_demo_full_other"])
def test_a_credential_is_revoked_by_either_form_of_its_key(
    other: Server,
    key: str,
) -> None:
    row = table(told(other, f"credentials revoke {key} --sandbox other"))[1]

    assert "revoked" in row
    refusal = ask(other, "/v1/team", "iwe_demo_full_other")
    assert refusal["code"] == "credential_revoked"


def test_a_credential_is_restored_in_the_sandbox_of_the_variable(other: Server) -> None:
    told(other, "credentials revoke iwe_demo_full --sandbox other")

    text = told(
        other,
        "credentials restore iwe_demo_full --format json",
        EMULATOR_SANDBOX="other",
    )

    assert json.loads(text)["state"] == "active"
    assert ask(other, "/v1/team", "iwe_demo_full_other")["name"] == "Demo"


# Sandboxes ----------------------------------------------------------------------------


@pytest.fixture
def deleted_after(server: Server) -> Iterator[Server]:
    """A server whose sandbox `a` is deleted after the test."""
    yield server
    told(server, "sandboxes delete a")


def test_a_created_sandbox_is_a_row(deleted_after: Server) -> None:
    options = "--clock auto --scenario some-outputs-fail --seed 3"
    row = table(told(deleted_after, f"sandboxes create a {options}"))[1]

    assert row[0] == "a"
    assert row[2] == "auto"


def test_a_created_sandbox_is_told_as_the_control_plane_does(
    deleted_after: Server,
) -> None:
    options = "--rate-limits no --seed 3 --start 2030-01-01T00:00:00.000Z"
    text = told(deleted_after, f"sandboxes create a {options} --format json")

    assert json.loads(text) == ask(deleted_after, "/_emulator/sandboxes/a")


def test_a_created_sandbox_is_told_as_variables(deleted_after: Server) -> None:
    lines = told(deleted_after, "sandboxes create a --format env").splitlines()

    assert lines == [
        f"IMAGE_WORKFLOW_BASE_URL={deleted_after.url}/v1",
        "IMAGE_WORKFLOW_API_KEY=iwe_demo_full_a",
        f"EMULATOR_URL={deleted_after.url}",
        "EMULATOR_SANDBOX=a",
    ]


def test_a_created_sandbox_has_the_scenario_of_the_server_or_none() -> None:
    with serving("--scenario", "rate-limited") as server:
        told(server, "sandboxes create inherits")
        told(server, "sandboxes create without --no-scenario")

        inherited = told(server, "scenario --sandbox inherits")
        none = told(server, "scenario --sandbox without")

    assert first_column(inherited) == ["rate-limited"]
    assert first_column(none) == ["none"]


def test_a_scenario_and_none_cannot_both_be_wanted(server: Server) -> None:
    command = "sandboxes create --scenario rate-limited --no-scenario"
    outcome = run_command(*command.split(), EMULATOR_URL=server.url)
    assert outcome.status == 2
    assert "expected --scenario or --no-scenario, not both" in outcome.complaint


def test_sandboxes_are_listed(deleted_after: Server) -> None:
    told(deleted_after, "sandboxes create a")

    assert first_column(told(deleted_after, "sandboxes")) == ["default", "a"]


def test_a_deleted_sandbox_is_gone(server: Server) -> None:
    told(server, "sandboxes create a")

    assert told(server, "sandboxes delete a") == "done\n"
    assert first_column(told(server, "sandboxes")) == ["default"]


def test_a_state_file_can_be_loaded_from_a_pipe(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "state.zip"
    run_command("state", "save", str(file), EMULATOR_URL=server.url)
    reader, writer = os.pipe()
    os.write(writer, file.read_bytes())
    os.close(writer)

    outcome = run_command("state", "load", f"/dev/fd/{reader}", EMULATOR_URL=server.url)
    os.close(reader)

    assert outcome.complaint == ""
    assert outcome.status == 0
    assert outcome.output == f"loaded /dev/fd/{reader}\n"


# Refusals -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("scenario use none.yaml", "cannot read none.yaml: no such file"),
        ("scenario use ./answer-lost", "cannot read answer-lost: no such file"),
        ("sandboxes create --scenario none.yaml", "cannot read none.yaml: no such"),
        ("sandboxes create --world none", "cannot read none: no such file"),
        ("sandboxes create --world README.md", "README.md:"),
        ("state load README.md", "README.md: the file is not a state file"),
        ("state load no/such.zip", "cannot read no/such.zip: no such file or"),
        ("state load /dev/zero", "/dev/zero: expected a file or a pipe, not a device"),
        ("state save no/such.zip", "cannot write no/such.zip: no such file or"),
        ("teams set Demo credits=--5", '/credits: found "--5"'),
        ("teams set Demo credits", "teams set: found 'credits', expected NAME=VALUE"),
        ("clock to noon", '/to: found "noon"'),
        ("clock mode fast", '/mode: found "fast"'),
    ],
)
def test_bad_usage_ends_with_2(
    server: Server,
    line: str,
    complaint: str,
) -> None:
    outcome = run_command(*line.split(), EMULATOR_URL=server.url)

    assert outcome.status == 2
    assert outcome.output == ""
    assert outcome.complaint.startswith(f"image-workflow-emulator: {complaint}")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("requests show 99", '"99": found no such entry'),
        ("requests show last", "the journal is empty"),
        ("scenario use no-such", 'scenarios: found "no-such"'),
        pytest.param(
            f"scenario use {'a' * 100_000}",
            'scenarios: found "aaa',
            id="a long name",
        ),
        ("sandboxes create --scenario no-such", 'scenarios: found "no-such"'),
        ("credentials revoke nothing", "'nothing': the sandbox 'default' has no such"),
        ("clock --sandbox nothing", '"nothing": there is no such sandbox'),
        ("clock --sandbox a/../b", '"a/../b": there is no such sandbox'),
    ],
)
def test_what_does_not_exist_ends_with_1(
    server: Server,
    line: str,
    complaint: str,
) -> None:
    outcome = run_command(*line.split(), EMULATOR_URL=server.url)

    assert outcome.status == 1
    assert outcome.output == ""
    assert outcome.complaint.startswith(f"image-workflow-emulator: {complaint}")


# Addresses ----------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/_emulator"])
def test_the_address_may_be_that_of_the_page_or_a_base_url(
    server: Server,
    path: str,
) -> None:
    assert run_command("clock", EMULATOR_URL=server.url + path).status == 0


def test_without_an_address_host_and_port_of_the_server_count(server: Server) -> None:
    variables = {"EMULATOR_HOST": "0.0.0.0", "EMULATOR_PORT": str(server.port)}

    assert run_command("clock", **variables).status == 0


def test_an_address_wins_over_host_and_port(server: Server) -> None:
    with unused_port() as port:
        url = f"http://127.0.0.1:{port}"
        outcome = run_command("clock", "--url", url, EMULATOR_PORT=str(server.port))

    assert outcome.status == 1


# Tables -------------------------------------------------------------------------------

TABLES = [
    "requests",
    "contract operations",
    "contract readings",
    "teams",
    "sandboxes",
    "credentials",
    "scenario list",
]


class Screen(io.StringIO):
    """A terminal as wide as COLUMNS says."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", ["60", "80", "120"])
@pytest.mark.parametrize("line", TABLES)
def test_a_table_fits_the_terminal(
    server: Server,
    line: str,
    columns: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ask(server, "/v1/team")
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("EMULATOR_URL", server.url)

    with redirect_stdout(Screen()) as screen:
        assert main(line.split()) == 0

    text = re.sub(r"\x1b\[\d*m", "", screen.getvalue())
    assert max(map(len, text.splitlines())) <= int(columns)


@pytest.mark.parametrize("line", TABLES)
def test_a_narrow_table_has_all_of_a_wide_one(server: Server, line: str) -> None:
    narrow = told(server, line, COLUMNS="60")
    wide = told(server, line)

    assert max(map(len, narrow.splitlines())) <= 60
    assert sorted(re.sub(r"\s", "", narrow)) == sorted(re.sub(r"\s", "", wide))


def screen_of(server: Server, **variables: str) -> str:
    """What `requests` shows on a terminal."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(Screen()) as screen:
        patch.delenv("NO_COLOR", raising=False)
        for name, text in {"EMULATOR_URL": server.url, **variables}.items():
            patch.setenv(name, text)
        assert main(["requests"]) == 0
    return screen.getvalue()


def test_a_status_has_a_colour_at_a_terminal(server: Server) -> None:
    ask(server, "/v1/team")

    assert "\x1b[32m200" in screen_of(server)


def test_no_color_leaves_colours_out(server: Server) -> None:
    ask(server, "/v1/team")

    assert "\x1b" not in screen_of(server, NO_COLOR="1")
