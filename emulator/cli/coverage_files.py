"""What the command line reads of coverage: files of it, and thresholds."""

import json
from pathlib import Path

from emulator.examiner.coverage import Document, DocumentError, read
from emulator.settings import UsageError


def read_coverage(name: str) -> Document:
    """Read a file. Raises UsageError for one that is not a coverage document, OSError for one that cannot be read."""
    try:
        return read(json.loads(Path(name).read_bytes()))
    except (DocumentError, ValueError, RecursionError) as error:
        raise UsageError(f"{name}: {error}") from None


def least_percent(text: str) -> float:
    """Read the threshold of --coverage-fail-under and --fail-under. Raises ValueError."""
    value = float(text)
    if not 0 <= value <= 100:
        raise ValueError(text)
    return value
