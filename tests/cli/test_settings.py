"""What the options of a served emulator mean, and where its readings come from.

They are options of the command line and variables of the environment.
"""

import json
import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from image_workflow_emulator.cli.serving import started
from image_workflow_emulator.console.settings_options import (
    GivenSettings,
    settings_options,
)
from image_workflow_emulator.domain.readings import chosen
from image_workflow_emulator.kernel.clock import ClockSetting
from image_workflow_emulator.settings import OPTIONS, Option, SettingError, Settings
from tests.cli.command import run_here
from tests.support.emulator_under_test import MakeEmulator
from tests.support.served import EMULATOR, run_program


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without variables of an emulator."""
    for name in list(os.environ):
        if name.startswith("EMULATOR_"):
            monkeypatch.delenv(name)


def given(*arguments: str, **variables: str) -> GivenSettings:
    """What a command gets that has the options of a served emulator."""
    settings = list[GivenSettings]()

    @click.command()
    @settings_options(port="0")
    def command(given: GivenSettings) -> None:
        settings.append(given)

    CliRunner().invoke(command, arguments, env=variables, catch_exceptions=False)
    return settings[0]


def option_of(field: str) -> Option:
    """The option that sets a field of the settings."""
    (option,) = [option for option in OPTIONS if option.field == field]
    return option


VALUES = [
    ("port", "0", 0),
    ("seed", "7", 7),
    ("clock", "x60", ClockSetting("real", 60.0)),
    ("start", "2026-01-01T00:00:00.000Z", 1_767_225_600_000),
    ("world", "world.yaml", "world.yaml"),
    ("rate_limits", "off", False),
    ("rate_limits", "FALSE", False),
    ("rate_limits", "No", False),
    ("evolution", "True", True),
    ("evolution", "yes", True),
    ("evolution", "ON", True),
    ("public_url", "https://emulator.example:8443/", "https://emulator.example:8443"),
    ("public_url", "https://emulator.example/api/v1", "https://emulator.example/api"),
    ("control_token", "secret", "secret"),
    ("max_memory", "512MiB", 512 * 2**20),
    ("max_memory", "1kB", 1000),
    ("max_memory", "1.5GiB", 3 * 2**29),
    ("max_memory", "3 M", 3_000_000),
    ("log_format", "json", "json"),
    ("allowed_hosts", "ci.example, other.example", ("ci.example", "other.example")),
    ("cors", "http://localhost:5173,*", ("http://localhost:5173", "*")),
]


@pytest.mark.parametrize(("field", "text", "value"), VALUES)
def test_an_option_is_read(
    field: str,
    text: str,
    value: object,
) -> None:
    flag = option_of(field).flag

    settings = given(flag, text).settings

    value_read = settings._asdict()[field]
    assert value_read == value


@pytest.mark.parametrize(("field", "text", "value"), VALUES)
def test_a_variable_is_read_as_its_option(
    field: str,
    text: str,
    value: object,
) -> None:
    variable = f"EMULATOR_{field.upper()}"

    settings = given(**{variable: text}).settings

    value_read = settings._asdict()[field]
    assert value_read == value


MEANINGLESS = [
    ("host", " "),
    ("port", "65536"),
    ("port", "٣"),
    ("seed", "-1"),
    ("seed", str(2**63)),
    ("clock", "fast"),
    ("clock", "x0"),
    ("clock", "xNaN"),
    ("start", "2026-01-01"),
    ("rate_limits", "maybe"),
    ("public_url", "ftp://emulator.example"),
    ("public_url", "http://emulator.example/?a=b"),
    ("control_token", "é"),
    ("control_token", "a\nb"),
    ("allowed_hosts", "ci.example.org:80"),
    ("allowed_hosts", "a,,b"),
    ("max_memory", "much"),
    ("log_format", "xml"),
    ("cors", "localhost:5173"),
    ("cors", "http://localhost:5173/"),
]


@pytest.mark.parametrize(("field", "text"), MEANINGLESS)
def test_a_text_that_means_nothing_is_refused_with_the_name_of_its_option(
    field: str,
    text: str,
) -> None:
    option = option_of(field)

    with pytest.raises(SettingError) as refusal:
        given(option.flag, text)

    expected = f"{option.flag}: found {text!r}, expected {option.kind.expected}"
    assert str(refusal.value) == expected


@pytest.mark.parametrize(("field", "text"), MEANINGLESS)
def test_a_text_that_means_nothing_is_refused_with_the_name_of_its_variable(
    field: str,
    text: str,
) -> None:
    option = option_of(field)

    with pytest.raises(SettingError) as refusal:
        given(**{option.variable: text})

    expected = f"{option.variable}: found {text!r}, expected {option.kind.expected}"
    assert str(refusal.value) == expected


def test_an_option_wins_over_its_variable() -> None:
    settings = given("--seed", "1", EMULATOR_SEED="2").settings

    assert settings.seed == 1


def test_an_empty_variable_counts_as_not_given() -> None:
    settings = given(EMULATOR_SEED="").settings

    assert settings.seed is None


def test_a_command_has_defaults_of_its_own() -> None:
    settings = given().settings

    assert settings == Settings(port=0)


def test_a_repeated_option_adds_up() -> None:
    options = ("--cors", "http://a.example", "--cors", "http://b.example")

    settings = given(*options).settings

    assert list(settings.cors) == ["http://a.example", "http://b.example"]


def test_what_was_typed_is_told_from_variables() -> None:
    options = given("--seed", "1", EMULATOR_CLOCK="auto")

    assert options.typed == {"seed": "1"}
    assert options.texts == {"seed": "1", "clock": "auto"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("EMULATOR_PORT", "tcp://10.0.0.1:8038"),
        ("EMULATOR_SERVICE_PORT", "8038"),
        ("EMULATOR_SERVICE_HOST", "10.0.0.1"),
        ("EMULATOR_PORT_8038_TCP_ADDR", "10.0.0.1"),
    ],
)
def test_a_variable_of_a_link_is_no_option(name: str, text: str) -> None:
    settings = given(**{name: text}).settings

    assert settings == Settings(port=0)


@pytest.mark.parametrize(
    ("flag", "text", "remedy"),
    [
        ("--scenario", "answer-lost", "scenario use"),
        ("--rate-limits", "off", "teams set TEAM"),
    ],
)
def test_what_a_state_file_decides_is_refused_beside_it(
    flag: str,
    text: str,
    remedy: str,
) -> None:
    complaint = f"expected nothing beside .*{remedy}"

    with pytest.raises(SettingError, match=complaint):
        given("--state", "s.zip", flag, text)
    with pytest.raises(SettingError, match=complaint):
        given(flag, text, EMULATOR_STATE="s.zip")


def test_a_clock_may_be_given_beside_a_state_file() -> None:
    settings = given("--state", "s.zip", "--clock", "auto").settings

    assert settings.state == "s.zip"


# Readings -----------------------------------------------------------------------------

READINGS_FILE = "image-workflow.readings.yaml"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a scenario that names a reading."""
    monkeypatch.chdir(tmp_path)
    Path("read.yaml").write_text("""\
scenario: read
readings: {D26: always-a-cursor}
rules: []
""")
    return tmp_path


def readings(*options: str, **variables: str) -> list[str]:
    """The readings of the default sandbox, as `serve` and `exec` start it."""
    settings = given(*options, **variables).settings
    with started(settings, variables) as (_, _, application):
        sandbox = application.sandboxes.default
        return list(chosen(sandbox.readings))


@pytest.mark.usefixtures("folder")
def test_without_any_other_the_readings_are_those_of_the_file_in_the_folder() -> None:
    Path(READINGS_FILE).write_text("readings: {D66: silent}\n")

    in_force = readings()

    assert in_force == ["D66=silent"]


@pytest.mark.usefixtures("folder")
def test_the_readings_of_a_scenario_win_over_those_of_the_file() -> None:
    Path(READINGS_FILE).write_text("readings: {D66: silent}\n")

    in_force = readings("--scenario", "read.yaml")

    assert in_force == ["D26=always-a-cursor"]


@pytest.mark.usefixtures("folder")
def test_readings_of_the_variable_win_over_those_of_a_scenario() -> None:
    options = ("--scenario", "read.yaml")

    in_force = readings(*options, EMULATOR_READINGS="D42=rough")

    assert in_force == ["D42=rough"]


@pytest.mark.usefixtures("folder")
def test_readings_of_the_option_win_over_all_others() -> None:
    options = ("--scenario", "read.yaml", "--readings", "D73=offset")

    in_force = readings(*options, EMULATOR_READINGS="D42=rough")

    assert in_force == ["D73=offset"]


@pytest.mark.usefixtures("folder")
def test_plain_readings_can_be_asked_for() -> None:
    options = ("--scenario", "read.yaml", "--readings", "plain")

    in_force = readings(*options)

    assert in_force == []


@pytest.mark.usefixtures("folder")
def test_the_readings_of_a_state_file_win_over_the_option(
    make_emulator: MakeEmulator,
) -> None:
    emulator = make_emulator(readings="D66=silent")
    saved = emulator.ask("GET", "/state")
    Path("state.zip").write_bytes(saved.body)
    options = ("--state", "state.zip", "--readings", "D73=offset")

    in_force = readings(*options)

    assert in_force == ["D66=silent"]


@pytest.mark.usefixtures("folder")
def test_the_report_of_exec_names_the_readings() -> None:
    command = ("exec", "--format", "json", "--readings", "D66=silent", "--", "true")

    outcome = run_program(*EMULATOR, *command, folder=Path.cwd())

    report = json.loads(outcome.output)
    first_table = report["tables"][0]
    about_the_run = dict(first_table["rows"])
    assert about_the_run["readings"] == "D66=silent"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("readings:\n  D66: silnt\n", f"{READINGS_FILE}:2:"),
        ("readings: [", f"{READINGS_FILE}:2:1:"),
        ("{}", f"{READINGS_FILE}:1:"),
    ],
)
@pytest.mark.parametrize("command", ["exec -- true", "sweep -- true", "serve --port 0"])
def test_a_broken_file_of_readings_ends_a_command_with_its_place(
    content: str,
    place: str,
    command: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path(READINGS_FILE).write_text(content)

    outcome = run_here(*command.split())

    complaints = outcome.complaint + capfd.readouterr().err  # of a run of sweep
    assert outcome.status == 2
    assert place in complaints
