"""How mistakes in what is typed are answered: in a line, with what was meant."""

import json
import socket

import pytest

from tests.cli.command import run_command, run_here
from tests.support.served import unused_port


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
        ["exec", "--"],
        ["sweep", "--"],
    ],
)
def test_what_cannot_be_read_is_answered_with_the_usage(arguments: list[str]) -> None:
    outcome = run_here(*arguments)

    assert outcome.status == 2
    assert outcome.output == ""
    assert outcome.complaint.startswith("Usage: image-workflow-emulator")


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
            {"EMULATOR_PORT": "http"},
            "EMULATOR_PORT: found 'http', expected a number from 0 to 65535",
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
            (
                "EMULATOR_URL: found '127.0.0.1:8038', expected the address of a "
                "running emulator, such as http://127.0.0.1:8038"
            ),
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
            ["clock", "advance", "-5s", "--format", "json"],
            {},
            "clock advance: found '-5s', expected a span such as 90s, 250ms, 2m or 1h",
        ),
        (
            ["coverage", "--fail-under", "nan"],
            {},
            "--fail-under: found 'nan', expected a percentage from 0 to 100",
        ),
        (
            ["exec", "--coverage-fail-under", "101", "--", "true"],
            {},
            "--coverage-fail-under: found '101', expected a percentage from 0 to 100",
        ),
        (
            ["sandboxes", "create", "--rate-limits", "maybe"],
            {},
            "--rate-limits: found 'maybe', expected on or off",
        ),
        (
            ["scenario", "show", "rate-limite"],
            {},
            (
                'scenarios: found "rate-limite"; expected the name of a scenario; '
                'did you mean "rate-limited"?'
            ),
        ),
    ],
)
def test_a_value_that_means_nothing_is_a_line_and_status_2(
    arguments: list[str],
    variables: dict[str, str],
    complaint: str,
) -> None:
    outcome = run_here(*arguments, **variables)

    assert outcome.status == 2
    assert outcome.complaint == f"image-workflow-emulator: {complaint}\n"


@pytest.mark.parametrize(
    ("typed", "suggestion"),
    [
        ("serv", 'did you mean "serve"?'),
        ("requests shw", 'did you mean "show"?'),
        ("serve --clock atuo", 'did you mean "auto"?'),
        ("serve --access-log onn", 'did you mean "on"?'),
        ("serve --log-level wraning", 'did you mean "warning"?'),
        ("requests --folow", 'did you mean "--follow"?'),
        ("exec --jurnal a.json -- true", 'did you mean "--journal"?'),
    ],
)
def test_a_misspelt_word_is_answered_with_the_nearest(
    typed: str,
    suggestion: str,
) -> None:
    outcome = run_here(*typed.split())

    assert outcome.status == 2
    assert outcome.complaint.endswith(f"{suggestion}\n")


def test_a_wrong_verb_is_answered_with_all_verbs() -> None:
    outcome = run_here("clock", "back")

    verbs = "show, advance, to, next, idle, mode"
    assert f"found 'back'; expected one of {verbs}\n" in outcome.complaint


@pytest.mark.parametrize(
    ("typed", "better"),
    [
        ("scenario --all check a.yaml", "scenario check --all a.yaml"),
        ("clock --sandbox a to noon", "clock to --sandbox a noon"),
        ("state --sandbox a save a.zip", "state save --sandbox a a.zip"),
        ("--format json requests list", "requests --format json list"),
    ],
)
def test_an_option_before_its_verb_is_answered_with_the_right_order(
    typed: str,
    better: str,
) -> None:
    outcome = run_here(*typed.split())

    assert outcome.status == 2
    assert outcome.complaint.endswith(f": image-workflow-emulator {better}\n")


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["teams", "--team", "\udcff"], {}),
        (["requests", "--team", "\udcff"], {}),
        (["state", "save", "\udcff.zip"], {}),
        (["clock"], {"EMULATOR_SANDBOX": "\udcff"}),
    ],
)
def test_bytes_that_are_no_text_are_a_line_and_status_2(
    arguments: list[str],
    variables: dict[str, str],
) -> None:
    outcome = run_here(*arguments, **variables)

    assert outcome.status == 2
    (line,) = outcome.complaint.splitlines()
    assert line.endswith(", which is not UTF-8; expected text")


def test_another_command_may_have_bytes_that_are_no_text() -> None:
    outcome = run_command("exec", "--quiet", "--", "test", "-n", "\udcff")

    assert outcome.status == 0


def test_a_refusal_is_an_object_for_programs() -> None:
    outcome = run_here("clock", "advance", "-5s", "--format", "json")

    refusal = json.loads(outcome.output)
    (finding,) = refusal["findings"]

    assert refusal["ok"] is False
    assert finding["rule"] == "usage"
    assert finding["message"].startswith("clock advance: found '-5s'")


# Addresses ----------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["serve"], ["exec", "--", "true"]])
def test_a_port_in_use_is_a_line_and_status_1(command: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = run_command(*command, EMULATOR_PORT=str(port))

    reason = "Address already in use; choose another with --port (0 picks a free one)"
    line = f"cannot listen on 127.0.0.1, port {port}: {reason}"

    assert outcome.status == 1
    assert outcome.complaint == f"image-workflow-emulator: {line}\n"


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("fe80::1%nowhere", "Name or service not known"),
        ("é..b", "invalid host name"),
    ],
)
def test_a_host_that_does_not_exist_is_a_line_and_status_1(
    host: str,
    reason: str,
) -> None:
    outcome = run_command("serve", "--host", host, "--port", "0")

    line = f"cannot listen on {host}, port 0: {reason}"
    assert outcome.status == 1
    assert outcome.complaint == f"image-workflow-emulator: {line}\n"


@pytest.mark.parametrize(
    "command",
    [["reset"], ["clock"], ["wait", "--timeout", "0.1"]],
)
def test_where_no_emulator_answers_the_status_is_1(command: list[str]) -> None:
    with unused_port() as port:
        url = f"http://127.0.0.1:{port}"
        outcome = run_command(*command, "--url", url)

    assert outcome.status == 1
    assert url in outcome.complaint
    assert "Connection refused" in outcome.complaint
