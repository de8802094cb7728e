"""Coverage as the command line reads it: files and thresholds."""

import json
from argparse import ArgumentTypeError
from contextlib import suppress
from typing import TYPE_CHECKING

from emulator.settings import UsageError
from emulator.testing.files import read_file

if TYPE_CHECKING:
    from emulator.examiner.coverage import Coverage


def read_coverage(name: str) -> "Coverage":
    """Read a file. Raises UsageError for one that cannot be read, or is not a coverage document."""
    from emulator.examiner.coverage import read

    try:
        return read(json.loads(read_file(name)))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}: {error}") from None


def least_percent(text: str) -> float:
    """Read the threshold of --coverage-fail-under and --fail-under. Raises ArgumentTypeError."""
    with suppress(ValueError):
        value = float(text)
        if 0 <= value <= 100:
            return value
    raise ArgumentTypeError(f"found {text!r}, expected a number from 0 to 100")
