"""The files through which a sweep and the plugin in its run of pytest exchange data, in the folder of the run.

Owns their form, and how long the pauses of a client were. No part of pytest is imported here.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, json

from image_workflow_emulator.kernel.timestamps import parse_timestamp

FOLDER_VARIABLE: Final = "IMAGE_WORKFLOW_SWEEP"
"""Names the folder to the plugin."""
PLUGIN_VARIABLE: Final = "IMAGE_WORKFLOW_PYTEST"
"""Names a module to the plugin of pytest, which loads it as a plugin too."""
TASKS: Final = "tasks.json"
"""The file with what is to be run; there is none in the clean run, which runs everything."""
NOTES: Final = "notes"
"""The file to which the plugin adds lines of JSON: what began, how it ended, and the journals of sandboxes."""
MAX_REPETITIONS: Final = 20
"""How often a client may repeat what a fault keeps from it: later pauses do not count."""


class Task(Struct, frozen=True):
    """What happens in the sandbox of a test: a scenario, for some of its Teams. `seconds` is the time limit of each test."""

    scenario: Mapping[str, Any]
    teams: Sequence[str]
    tests: Sequence[str]
    seconds: float


def add_note(folder: Path, **row: Any) -> None:
    """Add a line to the notes."""
    with (folder / NOTES).open("ab") as file:
        file.write(json.encode(row) + b"\n")


def notes_of(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of the notes; one that was cut off by a signal is no line."""
    file = folder / NOTES
    lines = file.read_bytes().split(b"\n")[:-1] if file.exists() else []
    return [json.decode(line) for line in lines]


def paused_seconds(journal: Sequence[Mapping[str, Any]]) -> float:
    """Return how long a client paused after failures and then came back: that is no sign of a run that hangs."""
    pauses = [
        parse_timestamp(after["arrived_at"]) - parse_timestamp(before["arrived_at"])
        for before, after in pairwise(journal)
        if before["lost"] or before["abandoned"] or before["rule"] or (before["status"] or 500) >= 400
    ]
    return sum(pauses[:MAX_REPETITIONS]) / 1000
