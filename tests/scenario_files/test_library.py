"""The shipped library: every scenario can be used, is found by its name, and causes what can be caused."""

import re

import pytest

from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.scenario.library import ScenarioLibrary
from image_workflow_emulator.scenario.world import built_in_world, world_names
from tests.support.every_operation import CONTRACT
from tests.support.served import ROOT

FOLDER = ROOT / "scenarios"
NAMES = sorted(file.stem for file in FOLDER.iterdir())


@pytest.fixture(scope="module")
def library() -> ScenarioLibrary:
    return ScenarioLibrary(CONTRACT)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_tells_people_and_editors_what_they_look_for(name: str, library: ScenarioLibrary) -> None:
    """Its own name, what a good client does, what each rule is for, and its schema."""
    scenario = library.load(name, world_names(built_in_world()))
    assert scenario.name == name
    assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", name)
    assert "good client" in scenario.description
    assert [rule.name for rule in scenario.rules if re.fullmatch(r"rule \d+", rule.name)] == []
    schema = library.text(name).splitlines()[0].removeprefix("# yaml-language-server: $schema=")
    assert (FOLDER / schema).resolve() == ROOT / "contract" / "scenario.schema.json"


@pytest.mark.parametrize("name", ["../contract/openapi", "", ".", "flaky-network.yaml"])
def test_a_name_is_no_path(name: str, library: ScenarioLibrary) -> None:
    with pytest.raises(DocumentError, match="expected the name of a scenario"):
        library.text(name)
