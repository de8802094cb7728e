"""The commands that need no running emulator, how mistakes are answered, and what the options of `serve` and `exec`
mean, on the command line and in the environment.
"""

import json
import re
import socket
import sys
from pathlib import Path

import pytest

from image_workflow_emulator import __version__
from image_workflow_emulator.cli.table import COMMANDS
from image_workflow_emulator.documents.shipped import shipped_document, shipped_path
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.kernel.clock import ClockSetting
from image_workflow_emulator.settings import (
    OPTIONS,
    SettingError,
    Settings,
    read_settings,
)
from tests.cli.command import run_command, run_here
from tests.support.served import (
    EMULATOR,
    PATIENCE_SECONDS,
    Outcome,
    run_program,
    unused_port,
)


def test_the_version_is_told() -> None:
    assert run_command("--version").output == f"image-workflow-emulator {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["sreve"],
        ["serve", "--sed", "1"],
        ["clock", "back"],
        ["clock", "advance"],
        ["clock", "next", "1"],
        ["contract", "--format", "xml"],
        ["sandboxes", "create", "--sandbox", "a"],
        ["sandboxes", "delete", "--sandbox", "a"],
    ],
)
def test_what_cannot_be_understood_is_bad_usage(arguments: list[str]) -> None:
    outcome = run_here(*arguments)
    assert outcome.status == 2
    assert outcome.output == ""
    assert outcome.complaint.startswith("usage: image-workflow-emulator")


@pytest.mark.parametrize(
    ("arguments", "variables", "complaint"),
    [
        (
            ["serve", "--clock", "x0"],
            {},
            "--clock: found 'x0', expected real, manual, auto, or a rate such as x60",
        ),
        (
            ["serve"],
            {"EMULATOR_PORT": "tcp://10.0.0.1"},
            "EMULATOR_PORT: found 'tcp://10.0.0.1', expected a number from 0 to 65535",
        ),
        (
            ["serve", "--port", "0", "--world", "no/such.yaml"],
            {},
            "cannot read no/such.yaml: no such file or directory",
        ),
        (
            ["wait", "--timeout", "soon"],
            {},
            "--timeout: found 'soon', expected a span such as 90s, 250ms, 2m or 1h",
        ),
        (
            ["wait"],
            {"EMULATOR_URL": "127.0.0.1:8038"},
            "EMULATOR_URL: found '127.0.0.1:8038', expected the address of a running emulator, such as http://127.0.0.1:8038",
        ),
        (
            ["clock"],
            {"EMULATOR_PORT": "abc"},
            "EMULATOR_PORT: found 'abc', expected a number from 0 to 65535",
        ),
        (
            ["clock", "advance", "soon"],
            {},
            "clock advance: found 'soon', expected a span such as 90s, 250ms, 2m or 1h",
        ),
        (
            ["scenario", "show", "rate-limite"],
            {},
            'scenarios: found "rate-limite"; expected the name of a scenario; did you mean "rate-limited"?',
        ),
    ],
)
def test_a_mistake_is_one_line_and_status_2(
    arguments: list[str], variables: dict[str, str], complaint: str
) -> None:
    outcome = run_here(*arguments, **variables)
    assert (outcome.status, outcome.output) == (2, "")
    assert outcome.complaint == f"image-workflow-emulator: {complaint}\n"


def test_a_port_in_use_is_told_in_one_line_and_ends_with_status_1() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = run_command("serve", "--port", str(port))
        by_variable = run_command("exec", "--", "true", EMULATOR_PORT=str(port))
    reason = f"cannot listen on 127.0.0.1, port {port}: Address already in use; choose another with --port"
    complaint = f"image-workflow-emulator: {reason} (0 picks a free one)"
    assert (outcome.status, outcome.complaint) == (1, f"{complaint}\n")
    assert (by_variable.status, by_variable.complaint) == (1, f"{complaint}\n")


@pytest.mark.parametrize(
    ("host", "reason"),
    [("fe80::1%nowhere", "Name or service not known"), ("é..b", "invalid host name")],
)
def test_a_host_that_does_not_exist_is_told_in_one_line(host: str, reason: str) -> None:
    outcome = run_command("serve", "--host", host, "--port", "0")
    assert (outcome.status, outcome.output) == (1, "")
    assert (
        outcome.complaint
        == f"image-workflow-emulator: cannot listen on {host}, port 0: {reason}\n"
    )


def test_the_contract_is_printed_as_it_is_shipped_or_as_json() -> None:
    assert run_command("contract").output == shipped_path(
        "contract/openapi.yaml"
    ).read_text(encoding="utf-8")
    assert json.loads(
        run_command("contract", "--format", "json").output
    ) == shipped_document("contract/openapi.yaml")


def test_the_library_is_listed_and_shown() -> None:
    names = [
        line.split()[0]
        for line in run_command("scenario", "list").output.splitlines()[1:]
    ]
    files = sorted(path.stem for path in shipped_path("scenarios").glob("*.yaml"))
    assert names == [*files, *(f"problem:{code}" for code in CATALOGUE)]
    file = shipped_path("scenarios") / f"{names[0]}.yaml"
    assert run_command("scenario", "show", names[0]).output == file.read_text(
        encoding="utf-8"
    )
    assert (
        "problem: not_found"
        in run_command("scenario", "show", "problem:not_found").output
    )


def test_scenario_files_are_checked_and_each_mistake_is_reported_with_its_place(
    tmp_path: Path,
) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("scenario: good\n")
    bad.write_text("scenario: bad\nrulez: []\n")
    assert run_command("scenario", "check", str(good)).status == 0
    outcome = run_command(
        "scenario", "check", "--format", "json", "no/such.yaml", str(bad), str(good)
    )
    report = json.loads(outcome.output)
    assert (2, False) == (outcome.status, report["ok"])
    missing, unknown = report["findings"]
    assert (None, True) == (
        missing["where"],
        missing["message"].startswith("cannot read no/such.yaml: no such"),
    )
    assert (f"{bad}:2:1", True) == (
        unknown["where"],
        unknown["message"].startswith("/rulez: found an unknown"),
    )


def test_a_scenario_is_checked_against_the_world_it_is_for(tmp_path: Path) -> None:
    world, scenario = tmp_path / "world.yaml", tmp_path / "scenario.yaml"
    world.write_text(
        "teams:\n  Ours:\n    credentials: [{key: ours_full, name: Full, profile: full}]\n"
    )
    scenario.write_text(
        "scenario: ours\nrules:\n  - match: {team: Ours}\n    then: {problem: rate_limited}\n"
    )
    assert (
        run_command("scenario", "check", "--world", str(world), str(scenario)).status
        == 0
    )
    assert (
        run_command(
            "scenario", "check", str(scenario), EMULATOR_WORLD=str(world)
        ).status
        == 0
    )
    assert run_command("scenario", "check", str(scenario)).status == 2


@pytest.mark.parametrize(
    ("typed", "instead"),
    [
        (
            "scenarios check a.yaml",
            ": `scenarios` is `scenario` now: `scenario list`, `scenario show NAME`, `scenario check FILE`",
        ),
        ("seed given.yaml", ": `seed FILE` is `given FILE` now"),
        (
            "sweep --pairs -- true",
            ": pairs of faults are gone: `--only` tries one cell after another",
        ),
        ("readings --format json", ": `readings` is `contract readings` now"),
        ("serv", '; did you mean "serve"?'),
        ("requests shw", '; did you mean "show"?'),
        ("serve --clock atuo", '; did you mean "auto"?'),
        ("serve --access-log onn", '; did you mean "on"?'),
        ("serve --log-level wraning", '; did you mean "warning"?'),
    ],
)
def test_a_word_that_is_gone_or_misspelled_is_answered_with_the_one_meant(
    typed: str, instead: str
) -> None:
    outcome = run_here(*typed.split())
    assert (2, True) == (outcome.status, outcome.complaint.endswith(f"{instead}\n"))


def helped(*words: str) -> str:
    """Return what a help prints."""
    outcome = run_here(*words)
    assert (0, "") == (outcome.status, outcome.complaint)
    return outcome.output


def test_help_is_printed_for_the_program_alone_a_noun_alone_and_when_asked_for() -> (
    None
):
    assert helped() == helped("help") == helped("--help")
    assert ["Run:", "Watch and change:", "Judge:", "Contract:"] == re.findall(
        r"^[A-Z].*:$", helped(), re.MULTILINE
    )
    assert helped("state") == helped("help", "state") == helped("state", "--help")
    assert helped("help", "clock", "advance") == helped("clock", "advance", "--help")
    assert 2 == run_here("help", "clok").status


def test_no_line_of_a_help_is_wider_than_80_and_one_option_has_one_description() -> (
    None
):
    described: dict[str, set[str]] = {}
    for name in ("", *COMMANDS):
        shown = helped(*name.split(), "--help")
        assert max(map(len, shown.splitlines())) <= 80
        for option, words in re.findall(
            r"^  (--ignore|--report|--all)\b \S*((?:.|\n {4,})*)", shown, re.MULTILINE
        ):
            described.setdefault(option, set()).add(" ".join(words.split()))
    assert {1} == {len(words) for words in described.values()}


@pytest.mark.parametrize(
    ("command", "closed"),
    [
        ("contract", ">&-"),
        ("scenario list", ">&- 2>&-"),
        ("exec -- true", "<&- >&- 2>&-"),
    ],
)
def test_closed_streams_are_no_failure(command: str, closed: str) -> None:
    outcome = run_program(
        "sh",
        "-c",
        f"exec {sys.executable} -m image_workflow_emulator {command} {closed}",
    )
    assert Outcome(0, "", "") == outcome


@pytest.mark.parametrize(
    "command", [["reset"], ["clock"], ["wait", "--timeout", "0.1"]]
)
def test_where_no_emulator_answers_the_status_is_1(command: list[str]) -> None:
    with unused_port() as port:
        url = f"http://127.0.0.1:{port}"
        outcome = run_command(*command, "--url", url)
    assert outcome.status == 1
    assert url in outcome.complaint
    assert "Connection refused" in outcome.complaint


# Options and readings -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        ("port", "0", 0),
        ("seed", "7", 7),
        ("clock", "x60", ClockSetting("real", 60.0)),
        ("start", "2026-01-01T00:00:00.000Z", 1_767_225_600_000),
        ("world", "world.yaml", "world.yaml"),
        ("rate_limits", "off", False),
        (
            "public_url",
            "https://emulator.example:8443/",
            "https://emulator.example:8443",
        ),
        (
            "allowed_hosts",
            "ci.example.org, other_one.example",
            ("ci.example.org", "other_one.example"),
        ),
        ("control_token", "secret", "secret"),
        ("max_memory", "512MiB", 512 * 2**20),
        ("max_memory", "1kB", 1000),
        ("max_memory", "1.5GiB", 3 * 2**29),
        ("max_memory", "3 M", 3_000_000),
        ("log_format", "json", "json"),
        (
            "cors",
            "http://localhost:5173,https://app.example",
            ("http://localhost:5173", "https://app.example"),
        ),
        ("cors", "*", ("*",)),
    ],
)
def test_an_option_and_its_variable_mean_the_same(
    field: str, text: str, expected: object
) -> None:
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


@pytest.mark.parametrize(
    ("field", "text"),
    [(name, text) for name, texts in MEANINGLESS.items() for text in texts],
)
def test_a_text_that_means_nothing_is_refused_with_its_name_and_what_was_expected(
    field: str, text: str
) -> None:
    option = next(option for option in OPTIONS if option.field == field)
    with pytest.raises(SettingError) as by_flag:
        read_settings({field: text}, {})
    with pytest.raises(SettingError) as by_variable:
        read_settings({}, {option.variable: text})
    assert f"{option.flag}: found {text!r}, expected {option.kind.expected}" == str(
        by_flag.value
    )
    assert f"{option.variable}: found {text!r}, expected {option.kind.expected}" == str(
        by_variable.value
    )


def test_the_command_line_wins_over_a_variable_and_an_empty_one_counts_as_not_given() -> (
    None
):
    assert (
        read_settings({"port": "1"}, {"EMULATOR_PORT": "tcp://10.0.0.1:8038"}).port == 1
    )
    assert read_settings({}, {"EMULATOR_SEED": ""}) == Settings()


@pytest.mark.parametrize(
    ("field", "text", "remedy"),
    [
        ("scenario", "answer-lost", "scenario use"),
        ("rate_limits", "off", "teams set TEAM"),
    ],
)
def test_what_a_state_file_decides_is_refused_beside_it(
    field: str, text: str, remedy: str
) -> None:
    for arguments, environment in (
        ({"state": "s.zip", field: text}, {}),
        ({field: text}, {"EMULATOR_STATE": "s.zip"}),
    ):
        with pytest.raises(SettingError, match=f"expected nothing beside .*{remedy}"):
            read_settings(arguments, environment)
    assert read_settings({"state": "s.zip", "clock": "auto"}, {}).scenario is None


FOUND = "image-workflow.readings.yaml"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory with a scenario."""
    monkeypatch.chdir(tmp_path)
    Path("read.yaml").write_text(
        "scenario: read\nreadings: {D26: always-a-cursor}\nrules: []\n"
    )


def executed(*options: str, **variables: str) -> Outcome:
    command = (*EMULATOR, "exec", "--format", "json", *options, "--", "true")
    return run_program(
        *command, folder=Path.cwd(), given=None, seconds=PATIENCE_SECONDS, **variables
    )


def readings(*options: str, **variables: str) -> list[str]:
    """Return the readings that the report of `exec` names."""
    outcome = executed(*options, **variables)
    assert outcome.status == 0, outcome.complaint
    return str(
        dict(json.loads(outcome.output)["tables"][0]["rows"]).get("readings", "none")
    ).split(", ")


def test_a_found_file_gives_way_to_a_scenario_a_variable_and_an_option_in_this_order() -> (
    None
):
    assert readings() == ["none"]
    Path(FOUND).write_text("readings: {D66: silent}\n")
    assert readings() == ["D66=silent"]
    assert readings("--scenario", "read.yaml") == ["D26=always-a-cursor"]
    assert readings("--scenario", "read.yaml", EMULATOR_READINGS="D42=rough") == [
        "D42=rough"
    ]
    by_option = readings(
        "--scenario",
        "read.yaml",
        "--readings",
        "D73=offset",
        EMULATOR_READINGS="D42=rough",
    )
    assert by_option == ["D73=offset"]
    assert readings("--readings", "plain", "--scenario", "read.yaml") == ["none"]


def test_a_state_file_goes_before_everything() -> None:
    assert executed("--readings", "D66=silent", "--save-state", "state.zip").status == 0
    Path(FOUND).write_text("readings: {D42: rough}\n")
    assert readings("--state", "state.zip") == ["D66=silent"]
    assert readings("--state", "state.zip", "--readings", "D73=offset") == [
        "D66=silent"
    ]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("readings:\n  D66: silnt\n", f"{FOUND}:2:"),
        ("readings: [", f"{FOUND}:2:1:"),
        ("{}", f"{FOUND}:1:"),
    ],
)
def test_a_broken_file_ends_a_command_with_its_place(
    content: str, complaint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path(FOUND).write_text(content)
    for arguments in (
        ("exec", "--", "true"),
        ("sweep", "--", "true"),
        ("serve", "--port", "0"),
    ):
        outcome = run_here(*arguments)
        assert (arguments, outcome.status) == (arguments, 2)
        assert (
            complaint in outcome.complaint + capfd.readouterr().err
        )  # that of the run of a sweep
