"""`state save` and `state load` against a running emulator."""

import os
import sys
from pathlib import Path

import pytest

from tests.cli.command import run_command
from tests.support.pictures import noise
from tests.support.served import Outcome, Server
from tests.support.served_client import ServedClient


def run_state(server: Server, *arguments: str) -> Outcome:
    return run_command("state", *arguments, EMULATOR_URL=server.url)


def now(server: Server) -> str:
    return run_command("clock", EMULATOR_URL=server.url).output.splitlines()[1].split()[0]


def test_a_saved_state_can_be_loaded_again(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "state.zip"
    before = now(server)
    outcome = run_state(server, "save", str(file))
    assert (outcome.status, outcome.output) == (0, f"saved {file} ({file.stat().st_size} bytes)\n")
    run_command("clock", "advance", "1h", EMULATOR_URL=server.url)
    assert now(server) != before
    outcome = run_state(server, "load", str(file))
    assert (outcome.status, outcome.output) == (0, f"loaded {file}\n")
    assert now(server) == before


def test_a_sandbox_that_does_not_exist_is_neither_saved_nor_loaded(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "state.zip"
    run_state(server, "save", str(file))
    before = file.read_bytes()
    for verb in ("save", "load"):
        outcome = run_state(server, verb, "--sandbox", "none", str(file))
        assert (outcome.status, outcome.output) == (1, "")
        assert "there is no such sandbox" in outcome.complaint
    assert [file] == [*tmp_path.iterdir()]
    assert file.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there, and devices are no paths")
def test_what_is_no_file_is_written_to_as_it_is(server: Server, tmp_path: Path) -> None:
    link = tmp_path / "link.zip"
    link.symlink_to(tmp_path / "state.zip")
    assert run_state(server, "save", str(link)).status == 0
    assert link.is_symlink()
    assert (tmp_path / "state.zip").stat().st_size > 1_000
    device = Path(os.devnull)
    assert run_state(server, "save", str(device)).status == 0
    assert not device.is_file()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("is_large", [False, True])
def test_a_full_disk_is_told(server: Server, is_large: bool) -> None:
    if is_large:  # more than is buffered
        ServedClient(server.url).told("POST", "/assets", content=noise(), headers={"Content-Type": "image/png"})
    outcome = run_state(server, "save", "/dev/full")
    assert (outcome.status, outcome.complaint) == (
        2,
        "image-workflow-emulator: cannot write /dev/full: no space left on device\n",
    )


def test_a_file_that_is_larger_than_any_state_is_not_read(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "huge.zip"
    with file.open("wb") as sparse:
        sparse.truncate(5 * 2**30)
    refused = run_state(server, "load", str(file))
    assert (2, True) == (refused.status, "found 5368709120 bytes; expected at most 4294967296" in refused.complaint)
