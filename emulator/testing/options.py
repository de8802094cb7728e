"""The options of `serve` as Python has them: plain values in, the texts that the command line takes out."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from emulator.settings import OPTIONS

DOCUMENTS: Final = ("world", "scenario")
"""The options that name a file, and may be given as what it says."""


@contextmanager
def option_texts(options: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Give the text of each option that is given, by its field: True is `on`, a list is its members with commas between.

    An option has the name of its flag, such as `allowed_host`; one that can be repeated also that of all its values. A world
    or a scenario that is a mapping is a file while this lasts.

    Raises TypeError for an option that `serve` does not have.
    """
    names = {option.flag.removeprefix("--").replace("-", "_"): option.field for option in OPTIONS}
    fields = {**names, **{field: field for field in names.values()}}
    unknown = sorted(options.keys() - fields.keys())
    if unknown:
        raise TypeError(f"unknown option {unknown[0]!r}; expected one of: {', '.join(names)}")
    with ExitStack() as files:
        yield {
            fields[name]: files.enter_context(_as_file(name, value))
            if name in DOCUMENTS and isinstance(value, Mapping)
            else _value_text(value)
            for name, value in options.items()
            if value is not None
        }


@contextmanager
def _as_file(name: str, document: Mapping[str, Any]) -> Iterator[str]:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        file = Path(folder, f"{name}.json")
        file.write_text(json.dumps(document, indent=2, ensure_ascii=False), encoding="utf-8")
        yield str(file)


def _value_text(value: Any) -> str:
    """Return one value as the command line takes it."""
    match value:
        case bool():
            return "on" if value else "off"
        case datetime():
            return timestamp_text(value)
        case Mapping():  # readings by decision
            return ",".join(f"{decision}={reading}" for decision, reading in value.items()) or "plain"
        case list() | tuple():
            return ",".join(map(_value_text, value))
    return str(value)


def timestamp_text(moment: datetime) -> str:
    """Return an aware `datetime` as the emulator writes it. Raises ValueError for a naive one."""
    if moment.tzinfo is None:
        raise ValueError(f"{moment!r} has no time zone; expected an aware datetime, such as one with timezone.utc")
    return moment.isoformat(timespec="milliseconds")
