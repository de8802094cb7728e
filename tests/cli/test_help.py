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
    without_a_command = helped()

    assert without_a_command == helped("--help")


def test_help_without_a_command_is_that_of_the_program() -> None:
    help_alone = helped("help")

    assert help_alone == helped("--help")


def test_help_with_words_is_that_of_their_command() -> None:
    help_with_words = helped("help", "clock", "advance")

    assert help_with_words == helped("clock", "advance", "--help")


def test_help_with_a_wrong_word_is_refused() -> None:
    outcome = run_here("help", "clok")

    assert outcome.status == 2


@pytest.mark.parametrize("command", ["state", "exec", "sweep", "given", "drift"])
def test_a_command_that_needs_more_words_prints_its_help(command: str) -> None:
    command_alone = helped(command)

    assert command_alone == helped(command, "--help")


def test_commands_are_listed_in_groups() -> None:
    text = helped()

    groups = re.findall(r"^(.+):$", text, re.MULTILINE)
    assert groups == ["Options", "Run", "Watch and change", "Judge", "Contract"]


@pytest.mark.parametrize("name", ["", *command_names()])
def test_no_line_of_a_help_is_wider_than_80(name: str) -> None:
    text = helped(*name.split(), "--help")

    widest = max(text.splitlines(), key=len)
    assert len(widest) <= 80


@pytest.mark.parametrize("option", ["--ignore", "--report", "--all", "--sandbox"])
def test_an_option_is_described_in_the_same_words_everywhere(option: str) -> None:
    pattern = re.compile(
        rf"^  {option}\b(?: [A-Z]+)?((?:.|\n {{4,}})*)",
        re.MULTILINE,
    )

    descriptions = set()
    for name in command_names():
        text = helped(*name.split(), "--help")
        for description in pattern.findall(text):
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
    text = helped(*command.split(), "--help")

    text_in_one_line = " ".join(text.split())
    assert f"[env var: {variable}" in text_in_one_line


# Completion ---------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_script_of_a_shell(shell: str) -> None:
    script = helped("completion", shell)

    assert f"COMPLETE={shell}_complete" in script


def completions(line: str) -> list[str]:
    """What bash is offered for the last word of a command line: `TYPE,WORD` each."""
    words = line.split(" ")
    outcome = run_here(
        _IMAGE_WORKFLOW_EMULATOR_COMPLETE="bash_complete",
        COMP_WORDS=line,
        COMP_CWORD=str(len(words) - 1),
    )
    assert outcome.status == 0
    return outcome.output.splitlines()


def test_a_file_is_completed_where_no_scenario_begins_so() -> None:
    items = completions("image-workflow-emulator scenario use ./m")

    assert items == ["file,./m"]


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
    items = completions(line)

    assert items == [f"plain,{word}" for word in words]


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_bash_takes_the_script() -> None:
    script = helped("completion", "bash")

    outcome = run_program("bash", "-c", f"{script}\ncomplete -p")

    *_, last_completion = outcome.output.splitlines()
    assert last_completion.endswith(" image-workflow-emulator")
