"""Whether a name means a file or a scenario of the library."""

from pathlib import Path

import pytest

from image_workflow_emulator.scenario.named_files import is_in_library, scenario_file


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with a file of the user's, and two named as in the library."""
    monkeypatch.chdir(tmp_path)
    for name in ("mine", "rate-limited", "problem:not_found"):
        Path(name).touch()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("mine", id="a file that is there"),
        pytest.param("./mine", id="with a folder"),
        pytest.param("./rate-limited", id="named as in the library, with a folder"),
        pytest.param("./nothing", id="one that is not there, with a folder"),
        pytest.param("nothing.yaml", id="one that is not there, with a suffix"),
        pytest.param(Path("rate-limited"), id="a Path"),
    ],
)
def test_a_name_means_a_file(name: str | Path) -> None:
    assert scenario_file(name) == Path(name)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("rate-limited", id="in the library, and a file too"),
        pytest.param("problem:not_found", id="a problem, and a file too"),
        pytest.param("nothing", id="nowhere"),
        pytest.param(
            "scenario: x\nrules: []  # as in ./x.yaml",
            id="a scenario itself",
        ),
    ],
)
def test_a_name_means_no_file(name: str) -> None:
    assert scenario_file(name) is None


@pytest.mark.parametrize("name", ["rate-limited", "problem:not_found"])
def test_a_scenario_is_in_the_library(name: str) -> None:
    assert is_in_library(name)


def test_a_file_is_not_in_the_library() -> None:
    assert not is_in_library("mine")
