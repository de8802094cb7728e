"""The errors that only commands raise, and the files that commands write."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from emulator.settings import SettingError, UsageError
from emulator.testing import errors

REFUSED_VALUES: Final = (400, 413, 422)
"""The statuses by which a running emulator refuses a value."""


class CommandError(Exception):
    """A command that is valid and could not do its work; its text is the whole message, its status 1."""


@contextmanager
def naming_scenario(scenario: str | None) -> Iterator[None]:
    """Report a name that the library of the running emulator does not have. Raises CommandError."""
    try:
        yield
    except errors.EmulatorError as error:
        from emulator.scenario.named_files import scenario_file

        if error.code == "invalid_scenario" and scenario is not None and scenario_file(scenario) is None:
            raise CommandError(str(error)) from None
        raise


def writable_file(flag: str, name: str | None) -> Path | None:
    """Make sure that a file can be written before anything else is done. Raises SettingError."""
    if name is None:
        return None
    file = Path(name)
    try:
        if not file.exists():
            target = file.resolve()  # which a link may already name
            target.touch(exist_ok=False)  # no permission tells it of every place, such as /proc
            target.unlink()
        elif file.is_dir() or not os.access(file, os.W_OK):
            raise PermissionError
    except (OSError, ValueError, RuntimeError):  # the last for links that lead to each other
        raise SettingError(flag, name, "a file that can be written") from None
    return file


@contextmanager
def writing(file: str | Path) -> Iterator[None]:
    """Report a file that cannot be written, by its name. Raises UsageError."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error
