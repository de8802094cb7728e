"""The commands that need no running emulator, and how mistakes are answered."""

import json
import socket
from pathlib import Path

import pytest

from image_workflow_emulator import __version__
from image_workflow_emulator.documents import shipped_document, shipped_path
from image_workflow_emulator.domain.problems import CATALOGUE
from tests.cli.command import run_command, run_here
from tests.support.served import unused_port


def test_the_version_is_told() -> None:
    assert run_command("--version").output == f"image-workflow-emulator {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
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
        (["serve", "--clock", "x0"], {}, "--clock: found 'x0', expected real, manual, auto, or a rate such as x60"),
        (["serve"], {"EMULATOR_PORT": "tcp://10.0.0.1"}, "EMULATOR_PORT: found 'tcp://10.0.0.1', expected a number from 0 to 65535"),
        (["serve", "--port", "0", "--world", "no/such.yaml"], {}, "cannot read no/such.yaml: no such file or directory"),
        (["wait", "--timeout", "soon"], {}, "--timeout: found 'soon', expected seconds, such as 30 or 0.5"),
        (["wait"], {"EMULATOR_URL": "127.0.0.1:8038"}, "EMULATOR_URL: found '127.0.0.1:8038', expected the address of a running emulator, such as http://127.0.0.1:8038"),
        (["clock"], {"EMULATOR_PORT": "abc"}, "EMULATOR_PORT: found 'abc', expected a number from 0 to 65535"),
        (["clock", "advance", "soon"], {}, "clock advance: found 'soon', expected a span such as 90s, 250ms, 2m or 1h"),
        (["clock", "to", "noon"], {}, "clock to: found 'noon', expected a timestamp such as 2026-01-01T00:01:00.000Z"),
        (["scenarios", "show", "rate-limite"], {}, 'scenarios: found "rate-limite"; expected the name of a scenario; did you mean "rate-limited"?'),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_status_2(arguments: list[str], variables: dict[str, str], complaint: str) -> None:
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
    ("host", "reason"), [("fe80::1%nowhere", "Name or service not known"), ("a..b", "invalid host name")]
)
def test_a_host_that_does_not_exist_is_told_in_one_line(host: str, reason: str) -> None:
    outcome = run_command("serve", "--host", host, "--port", "0")
    assert (outcome.status, outcome.output) == (1, "")
    assert outcome.complaint == f"image-workflow-emulator: cannot listen on {host}, port 0: {reason}\n"


def test_the_contract_is_printed_as_it_is_shipped_or_as_json() -> None:
    assert run_command("contract").output == shipped_path("contract/openapi.yaml").read_text(encoding="utf-8")
    assert json.loads(run_command("contract", "--format", "json").output) == shipped_document("contract/openapi.yaml")


def test_the_library_is_listed_and_shown() -> None:
    names = [line.split()[0] for line in run_command("scenarios", "list").output.splitlines()[1:]]
    files = sorted(path.stem for path in shipped_path("scenarios").glob("*.yaml"))
    assert names == [*files, *(f"problem:{code}" for code in CATALOGUE)]
    file = shipped_path("scenarios") / f"{names[0]}.yaml"
    assert run_command("scenarios", "show", names[0]).output == file.read_text(encoding="utf-8")
    assert "problem: not_found" in run_command("scenarios", "show", "problem:not_found").output


def test_good_scenario_files_are_named_and_bad_ones_are_told_with_line_and_column(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("scenario: good\n")
    bad.write_text("scenario: bad\nrulez: []\n")
    outcome = run_command("scenarios", "check", "no/such.yaml", str(bad), str(good))
    assert outcome.status == 2
    assert outcome.output == f"{good}: good\n"
    missing, unknown = outcome.complaint.splitlines()
    assert missing == "image-workflow-emulator: cannot read no/such.yaml: no such file or directory"
    assert unknown.startswith(f"image-workflow-emulator: {bad}:2:1: /rulez: found an unknown field")


def test_a_rule_that_can_never_act_is_warned_of_in_a_good_file(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("scenario: s\nrules:\n- then: {hold: 1s}\n- match: {operation: getTeam}\n  then: {hold: 2s}\n")
    outcome = run_command("scenarios", "check", str(file))
    assert outcome.status == 0
    warning, good = outcome.output.splitlines()
    assert (f"warning: {file}:4: ", f"{file}: good") == (warning[: len(f"warning: {file}:4: ")], good)


def test_a_scenario_is_checked_against_the_world_it_is_for(tmp_path: Path) -> None:
    world, scenario = tmp_path / "world.yaml", tmp_path / "scenario.yaml"
    world.write_text("teams:\n  Ours:\n    credentials: [{key: ours_full, name: Full, profile: full}]\n")
    scenario.write_text("scenario: ours\nrules:\n  - match: {team: Ours}\n    then: {problem: rate_limited}\n")
    assert run_command("scenarios", "check", "--world", str(world), str(scenario)).status == 0
    assert run_command("scenarios", "check", str(scenario), EMULATOR_WORLD=str(world)).status == 0
    assert run_command("scenarios", "check", str(scenario)).status == 2


@pytest.mark.parametrize("command", [["reset"], ["clock"], ["wait", "--timeout", "0.1"]])
def test_where_no_emulator_answers_the_status_is_1(command: list[str]) -> None:
    with unused_port() as port:
        url = f"http://127.0.0.1:{port}"
        outcome = run_command(*command, "--url", url)
    assert outcome.status == 1
    assert url in outcome.complaint
    assert "Connection refused" in outcome.complaint
