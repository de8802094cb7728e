"""The log of a running emulator: lines on standard error, as text or as JSON. Standard output is for the start-up message."""

import json
import logging
import sys
from typing import TYPE_CHECKING

from emulator.kernel.timestamps import format_timestamp

if TYPE_CHECKING:
    from emulator.settings import LogFormat, LogLevel


class _Lines(logging.Formatter):
    """One line a record, led by the real time, which is not the emulator's."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        time = format_timestamp(int(record.created * 1000))
        level = record.levelname.lower()
        message = super().format(record)  # with the traceback, if there is one
        if self._as_json:
            return json.dumps({"time": time, "level": level, "logger": record.name, "message": message})
        return f"{time} {level:7} {message}"


def configure_logging(log_format: "LogFormat", log_level: "LogLevel") -> None:
    """Send the log of the whole process to standard error, from the given level up."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines(as_json=log_format == "json"))
    level = log_level.upper()
    logging.basicConfig(handlers=[handler], level=level, force=True)
    logging.getLogger("PIL").setLevel(logging.WARNING)  # it logs every chunk of every picture
    # The server's own messages at `info` (process ids, "Shutting down") are of no use to its user.
    logging.getLogger("uvicorn").setLevel(
        "DEBUG" if level == "DEBUG" else max(logging.WARNING, logging.getLevelName(level))
    )
