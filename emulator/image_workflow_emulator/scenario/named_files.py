"""Whether the name of a scenario, as a person types it, means a file or a scenario of
the library. Reads neither.
"""

import os
from os import PathLike
from pathlib import Path
from typing import Final

from image_workflow_emulator.documents.shipped import shipped_path

PROBLEM_PREFIX: Final = "problem:"
"""The prefix of the names of scenarios that are no files."""


def scenario_file(name: "str | PathLike[str]") -> Path | None:
    """Return the file that is meant, None for a scenario of the library.

    A file is a path, a text with a suffix or a folder, or else something that exists
    and is not named as one of the library. A text of several lines is a scenario
    itself, and names neither.
    """
    if isinstance(name, str) and "\n" in name:
        return None
    path = Path(name)
    # `./x` names a file: a Path does not keep the dot.
    folder = os.path.dirname(name)  # noqa: PTH120
    if isinstance(name, PathLike) or path.suffix or folder:
        return path
    if is_in_library(name):
        return None
    # No text is too long for this function.
    if not os.path.exists(name):  # noqa: PTH110
        return None
    return path


def is_in_library(name: str) -> bool:
    """Tell whether a scenario of the library has this name."""
    return name.startswith(PROBLEM_PREFIX) or name in library_files()


def library_files() -> dict[str, Path]:
    """Return the files of the library by the names of their scenarios."""
    folder = shipped_path("scenarios")
    return {file.stem: file for file in folder.glob("*.yaml")}
