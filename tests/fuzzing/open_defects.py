"""Defects that the fuzz tests have found and that are still there, by how they show in the log.

Each has a test in test_found.py that fails as expected; who mends one takes it away here and the mark away there.
"""

import logging
import re
from collections.abc import Mapping

OPEN_DEFECTS: Mapping[str, re.Pattern[str]] = {
    "a damaged zip": re.compile(r"error: Error -3 while decompressing|ValueError: negative seek value"),
    "a state with something unhashable in it": re.compile(r"TypeError: unhashable type"),
    "a state with an instant beyond the calendar": re.compile(r"ValueError: year -?\d+ is out of range|OverflowError"),
    "a state with Credits beyond 64 bits": re.compile(r"LedgerError|TypeError: Integer exceeds 64-bit range"),
}


def is_open_defect(record: logging.LogRecord) -> bool:
    """Tell whether a record of the log shows one of them."""
    error = record.exc_info[1] if record.exc_info else None
    shown = f"{type(error).__name__}: {error}"
    return error is not None and any(pattern.match(shown) for pattern in OPEN_DEFECTS.values())
