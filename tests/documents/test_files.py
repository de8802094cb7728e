"""Files that options and arguments name: read within a limit, pipes and devices too."""

import os
from pathlib import Path

import pytest

from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.documents.files import read_file
from image_workflow_emulator.documents.limits import MAX_BYTES
from tests.cli.command import run_command


def pipe_with(content: bytes) -> str:
    """Return the path of a pipe that holds a content and has an end."""
    reading, writing = os.pipe()
    os.write(writing, content)
    os.close(writing)
    return f"/dev/fd/{reading}"


def test_a_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    file = tmp_path / "largest"
    file.write_bytes(b"x" * MAX_BYTES)

    assert len(read_file(file)) == MAX_BYTES


def test_a_larger_file_is_refused_with_its_size(tmp_path: Path) -> None:
    file = tmp_path / "larger"
    file.write_bytes(b"x" * (MAX_BYTES + 1))

    with pytest.raises(DocumentError) as caught:
        read_file(file)

    assert str(caught.value) == (
        f"{file}: found {MAX_BYTES + 1} bytes; expected at most {MAX_BYTES}"
    )


def test_a_huge_file_is_refused_without_reading_it(tmp_path: Path) -> None:
    file = tmp_path / "huge"
    with file.open("wb") as opened:
        opened.truncate(2**40)

    with pytest.raises(DocumentError, match="found 1099511627776 bytes"):
        read_file(file)


def test_a_pipe_is_read_to_its_end() -> None:
    assert read_file(pipe_with(b"scenario: x\n")) == b"scenario: x\n"


def test_a_pipe_with_more_than_the_limit_is_refused() -> None:
    file = pipe_with(b"x" * 11)

    with pytest.raises(DocumentError, match="found more than 10 bytes"):
        read_file(file, 10)


def test_a_device_without_an_end_is_refused() -> None:
    with pytest.raises(DocumentError) as caught:
        read_file("/dev/zero")

    assert str(caught.value) == (
        f"/dev/zero: found more than {MAX_BYTES} bytes; expected at most {MAX_BYTES}"
    )


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "nothing")


@pytest.mark.parametrize(
    "line",
    [
        "serve --port 0 --scenario /dev/zero",
        "serve --port 0 --world /dev/zero",
        "serve --port 0 --readings /dev/zero",
        "serve --port 0 --given /dev/zero",
        "serve --port 0 --state /dev/zero --max-memory 1MiB",
        "exec --scenario /dev/zero -- true",
        "sweep --scenario /dev/zero -- true",
        "sweep --expected /dev/zero -- true",
        "sweep --merge /dev/zero",
        "scenario check /dev/zero",
        "scenario check --world /dev/zero scenarios/answer-lost.yaml",
        "scenario use /dev/zero",
        "sandboxes create --world /dev/zero",
        "sandboxes create --readings /dev/zero",
        "given /dev/zero",
        "coverage /dev/zero",
        "drift /dev/zero",
    ],
)
def test_a_command_refuses_a_file_without_an_end(line: str) -> None:
    outcome = run_command(*line.split(), EMULATOR_URL="http://127.0.0.1:9")

    assert outcome.status == 2
    assert "/dev/zero: found more than " in outcome.output + outcome.complaint


def test_a_scenario_in_a_pipe_is_checked() -> None:
    outcome = run_command("scenario", "check", pipe_with(b"scenario: x\n"))

    assert outcome.status == 0
    assert outcome.complaint == ""
