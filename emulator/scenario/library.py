"""The library: the scenario files that are shipped, found by name. The caller passes which operations there are."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from emulator.documents import shipped_path
from emulator.documents.complaints import Complaint, nearest, one_of
from emulator.kernel.wording import excerpt
from emulator.scenario.format import ScenarioError, parse_scenario
from emulator.scenario.scenario import Scenario
from emulator.scenario.vocabulary import OperationFacts
from emulator.scenario.world import WorldNames

_SUFFIX: Final = ".yaml"


class LibraryEntry(Struct, frozen=True):
    """A scenario of the library: its name and description."""

    name: str
    description: str


class ScenarioLibrary:
    """The scenarios of one folder, each in a file of its name."""

    def __init__(self, folder: Path, operations: OperationFacts) -> None:
        self._folder = folder
        self._operations = operations

    def names(self) -> list[str]:
        """Return the names there are, sorted."""
        return sorted(self._files())

    def entries(self) -> list[LibraryEntry]:
        """Return every scenario with its description.

        Raises:
            ScenarioError: a file cannot be used.
        """
        return [LibraryEntry(scenario.name, scenario.description) for scenario in self.scenarios()]

    def scenarios(self) -> Iterator[Scenario]:
        """Read every scenario, in the order of their names.

        Raises:
            ScenarioError: a file cannot be used.
        """
        return map(self.load, self.names())

    def text(self, name: str) -> str:
        """Return the text of a scenario's file.

        Raises:
            ScenarioError: there is no scenario of this name.
        """
        files = self._files()
        if name not in files:
            complaint = Complaint(
                "scenarios", 0, 0, "", excerpt(name), one_of(files, "the name of a scenario"), nearest(name, files)
            )
            raise ScenarioError([complaint])
        return files[name].read_bytes().decode()

    def load(self, name: str, world: WorldNames | None = None) -> Scenario:
        """Read a scenario.

        Raises:
            ScenarioError: there is no scenario of this name, or its file cannot be used.
        """
        return parse_scenario(self.text(name), f"{name}{_SUFFIX}", self._operations, world)

    def _files(self) -> dict[str, Path]:
        return {file.stem: file for file in self._folder.iterdir() if file.suffix == _SUFFIX}


def shipped_library(operations: OperationFacts) -> ScenarioLibrary:
    """Return the library that this installation ships."""
    return ScenarioLibrary(shipped_path("scenarios"), operations)
