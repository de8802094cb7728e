"""What a run leaves: how its tests ended, the journals of sandboxes, and what was
found.

Owns the files through which a sweep and its plugin of pytest exchange data; no part of
pytest is imported here.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias

from msgspec import Struct, field, json

from image_workflow_emulator.kernel.timestamps import parse_timestamp
from image_workflow_emulator.report import ReportFinding
from image_workflow_emulator.sweep.journals import Entry

FOLDER_VARIABLE: Final = "IMAGE_WORKFLOW_SWEEP"
"""Names the folder of a run to the plugin."""
TASKS: Final = "tasks.json"
"""The file with the rounds of a run, a list of `Tasks`. The clean run has none."""
NOTES: Final = "notes"
"""The file to which the plugin adds lines of JSON: each is a `Note`."""
WHOLE: Final = ""
"""The place of a command that has no tests with sandboxes of their own."""


class Task(Struct):
    """What is to be tried in a place."""

    tests: list[str]
    scenario: Mapping[str, Any]
    """For the sandboxes of the place."""


Tasks: TypeAlias = dict[str, Task]
"""What is to be tried in one round of the tests, by place. A test that is in none of
them is not run."""


class BegunTest(Struct, tag="began"):
    """A note: a test begins."""

    test: str
    round: int = 0
    """In which round of the tests."""


class EndedTest(Struct, tag="ended"):
    """A note: how a test ended, or the command as a whole."""

    test: str
    places: list[str]
    """Whose sandboxes it used."""
    status: int
    """1 if a test failed, else 0. The exit status, if it is a command."""
    seconds: float
    error: str | None = None
    """The name of the exception that failed the test."""
    is_repeatable: bool = False
    """Whether it can be run again in the same process."""
    round: int = 0


class EndedSandbox(Struct, tag="sandbox"):
    """A note: what happened in a sandbox, at its end."""

    place: str
    requests: list[Entry]
    findings: list[ReportFinding]
    round: int = 0


Note: TypeAlias = BegunTest | EndedTest | EndedSandbox


class Place(Struct):
    """What happened in the sandboxes of a test, of a fixture that tests share, or of
    the command.
    """

    tests: dict[str, EndedTest] = field(default_factory=dict)
    """By their ids."""
    journals: list[list[Entry]] = field(default_factory=list)
    findings: list[ReportFinding] = field(default_factory=list)
    is_recorded: bool = False
    """Whether the journals were written. They are not after a SIGKILL."""

    @property
    def seconds(self) -> float:
        """How long the longest of its tests took."""
        return max((ended.seconds for ended in self.tests.values()), default=0.0)

    @property
    def status(self) -> int:
        """The highest status of its tests."""
        return max((ended.status for ended in self.tests.values()), default=0)

    def is_repeatable(self, name: str) -> bool:
        """Tell whether this place, which has this name, is one test that can be run
        again in the same process, and that shares no sandbox with others.
        """
        test = self.tests.get(name)
        if test is None or not test.is_repeatable:
            return False
        return test.places == [name]

    @property
    def entries(self) -> Iterator[Entry]:
        """The requests to all of its sandboxes."""
        for journal in self.journals:
            yield from journal

    @property
    def longest_pause_seconds(self) -> float:
        """The longest time between two requests to a sandbox."""
        longest_ms = 0
        for journal in self.journals:
            arrivals = [parse_timestamp(entry.arrived_at or "") for entry in journal]
            for before, after in pairwise(arrivals):
                longest_ms = max(longest_ms, after - before)
        return longest_ms / 1000


class Notes(Struct):
    """What the plugin noted in a round of the tests."""

    places: dict[str, Place] = field(default_factory=dict)
    unfinished: set[str] = field(default_factory=set)
    """The tests that have begun and not ended."""

    def add(self, note: Note) -> None:
        """Add what a note says."""
        if isinstance(note, BegunTest):
            self.unfinished.add(note.test)
        elif isinstance(note, EndedTest):
            self.unfinished.discard(note.test)
            for name in note.places:
                self._place(name).tests[note.test] = note
        else:
            place = self._place(note.place)
            place.is_recorded = True
            place.journals.append(note.requests)
            place.findings += note.findings

    def _place(self, name: str) -> Place:
        return self.places.setdefault(name, Place())


def read_notes(folder: Path) -> defaultdict[int, Notes]:
    """Return what the plugin noted in the folder of a run, by round."""
    rounds: defaultdict[int, Notes] = defaultdict(Notes)
    file = folder / NOTES
    if not file.exists():
        return rounds
    # A signal may have cut off the last line.
    for line in file.read_bytes().split(b"\n")[:-1]:
        note = json.decode(line, type=Note)
        rounds[note.round].add(note)
    return rounds
