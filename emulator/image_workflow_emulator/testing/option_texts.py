"""The options of `serve`, given as plain values of Python."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from image_workflow_emulator.client.control_client import timestamp_text
from image_workflow_emulator.client.local_files import (
    NOT_STARTED,
    EmulatorError,
    is_refusal,
)
from image_workflow_emulator.settings import OPTIONS

__tracebackhide__ = is_refusal


@contextmanager
def option_texts(options: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Give the text of each option, by its field.

    An option has the name of its flag, such as `allowed_host`; one that can be repeated
    also has that of its field. True is `on`, a list is its members with commas between,
    and None leaves the option out. A world or a scenario that is a mapping is a file while
    this lasts.

    Raises TypeError for an option that `serve` does not have, EmulatorError for a mapping
    where no temporary file can be written.
    """
    fields_by_flag = {_flag_name(option.flag): option.field for option in OPTIONS}
    fields = {option.field: option.field for option in OPTIONS} | fields_by_flag
    unknown_names = options.keys() - fields.keys()
    if unknown_names:
        first_name = min(unknown_names)
        expected = ", ".join(fields_by_flag)
        raise TypeError(f"unknown option {first_name!r}; expected one of: {expected}")
    texts: dict[str, str] = {}
    with ExitStack() as files:
        for name, value in options.items():
            field = fields[name]
            if name in ("world", "scenario") and isinstance(value, Mapping):
                file = files.enter_context(_temporary_file(name, value))
                texts[field] = str(file)
            elif value is not None:
                texts[field] = _value_text(value)
        yield texts


def _flag_name(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


@contextmanager
def _temporary_file(name: str, value: Mapping[str, Any]) -> Iterator[Path]:
    """Write a mapping to a file that is deleted at the end. Raises EmulatorError."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            file = Path(folder, f"{name}.json")
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            reason = error.strerror or str(error)
            detail = f"{name}: a mapping needs a temporary file: {reason.lower()}"
            raise EmulatorError(NOT_STARTED, detail) from error
        yield file


def _value_text(value: Any) -> str:
    """Return a value as the command line takes it."""
    match value:
        case bool():
            return "on" if value else "off"
        case datetime():
            return timestamp_text(value)
        case Mapping():  # readings by decision
            readings = [f"{decision}={reading}" for decision, reading in value.items()]
            return ",".join(readings) or "plain"
        case list() | tuple():
            return ",".join(_value_text(member) for member in value)
    return str(value)
