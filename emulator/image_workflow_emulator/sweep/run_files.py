"""The files through which a sweep and the plugin in its run of pytest exchange data, in the folder of the run.

Owns their form. No part of pytest is imported here.
"""

from pathlib import Path
from typing import Any, Final

from msgspec import json

FOLDER_VARIABLE: Final = "IMAGE_WORKFLOW_SWEEP"
"""Names the folder to the plugin."""
PLUGIN_VARIABLE: Final = "IMAGE_WORKFLOW_PYTEST"
"""Names a module to the plugin of pytest, which loads it as a plugin too."""
TASKS: Final = "tasks.json"
"""The file with what is to be run: by place its `tests`, and the `scenario` of its sandboxes. The clean run
has none.
"""
NOTES: Final = "notes"
"""The file to which the plugin adds lines of JSON: what began, how it ended, and the journals of sandboxes."""


def add_note(folder: Path, **row: Any) -> None:
    """Add a line to the notes."""
    with (folder / NOTES).open("ab") as file:
        file.write(json.encode(row) + b"\n")


def notes_of(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of the notes; one that was cut off by a signal is no line."""
    file = folder / NOTES
    lines = file.read_bytes().split(b"\n")[:-1] if file.exists() else []
    return [json.decode(line) for line in lines]
