"""The help of the program and of its commands, and the completion of words."""

import re
import shutil

import pytest

from tests.cli.command import run_here
from tests.support.commands import command_names
from tests.support.served import run_program


def helped(*words: str) -> str:
    """The help that a command line prints."""
    outcome = run_here(*words)
    assert outcome.status == 0
    assert outcome.complaint == ""
    return outcome.output


def test_the_program_without_a_command_prints_its_help() -> None:
    assert helped() == helped("--help")


def test_help_without_a_command_is_that_of_the_program() -> None:
    assert helped("help") == helped("--help")


def test_help_with_words_is_that_of_their_command() -> None:
    assert helped("help", "clock", "advance") == helped("clock", "advance", "--help")


def test_help_with_a_wrong_word_is_refused() -> None:
    assert run_here("help", "clok").status == 2


@pytest.mark.parametrize("command", ["state", "exec", "sweep", "given", "drift"])
def test_a_command_that_needs_more_words_prints_its_help(command: str) -> None:
    assert helped(command) == helped(command, "--help")


def test_commands_are_listed_in_groups() -> None:
    groups = re.findall(r"^(.+):$", helped(), re.MULTILINE)

    assert groups == ["Options", "Run", "Watch and change", "Judge", "Contract"]


@pytest.mark.parametrize("name", ["", *command_names()])
def test_no_line_of_a_help_is_wider_than_80(name: str) -> None:
    lines = helped(*name.split(), "--help").splitlines()

    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("option", ["--ignore", "--report", "--all", "--sandbox"])
def test_an_option_is_described_in_the_same_words_everywhere(option: str) -> None:
    descriptions = set()
    for name in command_names():
        text = helped(*name.split(), "--help")
        pattern = rf"^  {option}\b(?: [A-Z]+)?((?:.|\n {{4,}})*)"
        for description in re.findall(pattern, text, re.MULTILINE):
            descriptions.add(" ".join(description.split()))
    assert len(descriptions) == 1


@pytest.mark.parametrize(
    ("command", "variable"),
    [
        ("serve", "EMULATOR_RATE_LIMITS"),
        ("exec", "EMULATOR_CLOCK"),
        ("clock show", "EMULATOR_URL"),
        ("clock show", "EMULATOR_SANDBOX"),
        ("scenario check", "EMULATOR_WORLD"),
    ],
)
def test_the_help_of_an_option_names_its_variable(command: str, variable: str) -> None:
    text = " ".join(helped(*command.split(), "--help").split())

    assert f"[env var: {variable}" in text


# Completion ---------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_script_of_a_shell(shell: str) -> None:
    assert f"COMPLETE={shell}_complete" in helped("completion", shell)


def completed(line: str) -> list[str]:
    """The words that bash offers for the last word of a command line."""
    words = line.split(" ")
    outcome = run_here(
        _IMAGE_WORKFLOW_EMULATOR_COMPLETE="bash_complete",
        COMP_WORDS=line,
        COMP_CWORD=str(len(words) - 1),
    )
    assert outcome.status == 0
    return [item.partition(",")[2] for item in outcome.output.splitlines()]


def test_a_file_is_completed_where_no_scenario_begins_so() -> None:
    outcome = run_here(
        _IMAGE_WORKFLOW_EMULATOR_COMPLETE="bash_complete",
        COMP_WORDS="image-workflow-emulator scenario use ./m",
        COMP_CWORD="3",
    )
    assert outcome.output == "file,./m\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("image-workflow-emulator re", ["requests", "reset"]),
        ("image-workflow-emulator clock a", ["advance"]),
        ("image-workflow-emulator serve --log-f", ["--log-format"]),
        ("image-workflow-emulator serve --clock m", ["manual"]),
        ("image-workflow-emulator serve --rate-limits o", ["on", "off"]),
        ("image-workflow-emulator requests --foll", ["--follow"]),
        ("image-workflow-emulator exec --conduct f", ["fail"]),
        ("image-workflow-emulator exec --scenario fl", ["flaky-network"]),
        ("image-workflow-emulator scenario use answer-l", ["answer-lost"]),
        ("image-workflow-emulator scenario show fl", ["flaky-network"]),
        ("image-workflow-emulator sandboxes create --scenario fl", ["flaky-network"]),
        ("image-workflow-emulator sandboxes create --clock a", ["auto"]),
        ("image-workflow-emulator serve --readings st", ["stingy"]),
        ("image-workflow-emulator clock mode m", ["manual"]),
        ("image-workflow-emulator exec --ignore double", ["double-spend"]),
    ],
)
def test_words_options_and_values_are_completed(line: str, words: list[str]) -> None:
    assert completed(line) == words


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_bash_takes_the_script() -> None:
    script = helped("completion", "bash")
    outcome = run_program("bash", "-c", f"{script}\ncomplete -p")

    assert outcome.output.rstrip().endswith(" image-workflow-emulator")
