"""The options of `serve` and `exec`, on the command line and in the environment, and the precedence of readings."""

import json
from pathlib import Path

import pytest

from image_workflow_emulator.kernel.clock import ClockSetting
from image_workflow_emulator.settings import OPTIONS, SettingError, Settings, read_settings
from tests.cli.command import run_here
from tests.support.served import EMULATOR, PATIENCE_SECONDS, Outcome, run_program


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        ("port", "0", 0),
        ("seed", "7", 7),
        ("clock", "x60", ClockSetting("real", 60.0)),
        ("start", "2026-01-01T00:00:00.000Z", 1_767_225_600_000),
        ("world", "world.yaml", "world.yaml"),
        ("rate_limits", "off", False),
        ("public_url", "https://emulator.example:8443/", "https://emulator.example:8443"),
        ("allowed_hosts", "ci.example.org, other_one.example", ("ci.example.org", "other_one.example")),
        ("control_token", "secret", "secret"),
        ("max_memory", "512MiB", 512 * 2**20),
        ("max_memory", "1kB", 1000),
        ("max_memory", "1.5GiB", 3 * 2**29),
        ("max_memory", "3 M", 3_000_000),
        ("log_format", "json", "json"),
        ("cors", "http://localhost:5173,https://app.example", ("http://localhost:5173", "https://app.example")),
        ("cors", "*", ("*",)),
    ],
)
def test_an_option_and_its_variable_mean_the_same(field: str, text: str, expected: object) -> None:
    variable = "EMULATOR_" + field.upper()
    assert expected == getattr(read_settings({field: text}, {}), field)
    assert expected == getattr(read_settings({}, {variable: text}), field)


MEANINGLESS = {
    "host": [" "],
    "port": ["65536", "٣"],
    "seed": ["-1", str(2**63)],
    "clock": ["fast", "x0", "xNaN"],
    "start": ["2026-01-01"],
    "rate_limits": ["yes"],
    "public_url": ["ftp://emulator.example", "http://emulator.example/?a=b"],
    "control_token": ["é", "a\nb"],
    "allowed_hosts": ["ci.example.org:80", "a,,b"],
    "max_memory": ["much"],
    "log_format": ["xml"],
    "cors": ["localhost:5173", "http://localhost:5173/"],
}


@pytest.mark.parametrize(("field", "text"), [(name, text) for name, texts in MEANINGLESS.items() for text in texts])
def test_a_text_that_means_nothing_is_refused_with_its_name_and_what_was_expected(field: str, text: str) -> None:
    option = next(option for option in OPTIONS if option.field == field)
    with pytest.raises(SettingError) as by_flag:
        read_settings({field: text}, {})
    with pytest.raises(SettingError) as by_variable:
        read_settings({}, {option.variable: text})
    assert f"{option.flag}: found {text!r}, expected {option.kind.expected}" == str(by_flag.value)
    assert f"{option.variable}: found {text!r}, expected {option.kind.expected}" == str(by_variable.value)


def test_the_command_line_wins_over_a_variable_and_an_empty_one_counts_as_not_given() -> None:
    assert read_settings({"port": "1"}, {"EMULATOR_PORT": "tcp://10.0.0.1:8038"}).port == 1
    assert read_settings({}, {"EMULATOR_SEED": ""}) == Settings()


@pytest.mark.parametrize(
    ("field", "text", "remedy"), [("scenario", "answer-lost", "scenario use"), ("rate_limits", "off", "teams set TEAM")]
)
def test_what_a_state_file_decides_is_refused_beside_it(field: str, text: str, remedy: str) -> None:
    for arguments, environment in (({"state": "s.zip", field: text}, {}), ({field: text}, {"EMULATOR_STATE": "s.zip"})):
        with pytest.raises(SettingError, match=f"expected nothing beside .*{remedy}"):
            read_settings(arguments, environment)
    assert read_settings({"state": "s.zip", "clock": "auto"}, {}).scenario is None


FOUND = "image-workflow.readings.yaml"
SCENARIO = "scenario: read\nreadings: {D26: always-a-cursor}\nrules: []\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a scenario."""
    monkeypatch.chdir(tmp_path)
    Path("read.yaml").write_text(SCENARIO)
    return tmp_path


def executed(*options: str, **variables: str) -> Outcome:
    command = (*EMULATOR, "exec", "--format", "json", *options, "--", "true")
    return run_program(*command, folder=Path.cwd(), given=None, seconds=PATIENCE_SECONDS, **variables)


def readings(*options: str, **variables: str) -> list[str]:
    """Return the readings that the report of `exec` names."""
    outcome = executed(*options, **variables)
    assert outcome.status == 0, outcome.complaint
    return str(dict(json.loads(outcome.output)["tables"][0]["rows"]).get("readings", "none")).split(", ")


def test_a_found_file_gives_way_to_a_scenario_a_variable_and_an_option_in_this_order() -> None:
    assert readings() == ["none"]
    Path(FOUND).write_text("readings: {D66: silent}\n")
    assert readings() == ["D66=silent"]
    assert readings("--scenario", "read.yaml") == ["D26=always-a-cursor"]
    assert readings("--scenario", "read.yaml", EMULATOR_READINGS="D42=rough") == ["D42=rough"]
    assert readings("--scenario", "read.yaml", "--readings", "D73=offset", EMULATOR_READINGS="D42=rough") == [
        "D73=offset"
    ]


def test_plain_switches_a_found_file_and_a_scenario_off() -> None:
    Path(FOUND).write_text("readings: {D66: silent}\n")
    assert readings("--readings", "plain", "--scenario", "read.yaml") == ["none"]


def test_a_state_file_goes_before_everything() -> None:
    assert executed("--readings", "D66=silent", "--save-state", "state.zip").status == 0
    Path(FOUND).write_text("readings: {D42: rough}\n")
    assert readings("--state", "state.zip") == ["D66=silent"]
    assert readings("--state", "state.zip", "--readings", "D73=offset") == ["D66=silent"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [("readings:\n  D66: silnt\n", f"{FOUND}:2:"), ("readings: [", f"{FOUND}:2:1:"), ("{}", f"{FOUND}:1:")],
)
def test_a_broken_file_ends_a_command_with_its_place(
    content: str, complaint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path(FOUND).write_text(content)
    for arguments in (("exec", "--", "true"), ("sweep", "--", "true"), ("serve", "--port", "0")):
        outcome = run_here(*arguments)
        assert (arguments, outcome.status) == (arguments, 2)
        assert complaint in outcome.complaint + capfd.readouterr().err  # that of the run of a sweep
