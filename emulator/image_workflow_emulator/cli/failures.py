"""The errors that only commands raise, and the files that commands write."""

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from image_workflow_emulator.settings import CommandError, UsageError
from image_workflow_emulator.testing import errors
from image_workflow_emulator.testing.options import writable_file

REFUSED_VALUES: Final = (400, 413, 422)
"""The statuses by which a running emulator refuses a value."""


@contextmanager
def naming_scenario(scenario: str | None) -> Iterator[None]:
    """Report a name that the library of the running emulator does not have. Raises CommandError."""
    try:
        yield
    except errors.EmulatorError as error:
        from image_workflow_emulator.scenario.named_files import scenario_file

        if error.code == "invalid_scenario" and scenario is not None and scenario_file(scenario) is None:
            raise CommandError(str(error)) from None
        raise


def writable_files(options: Namespace, *names: str) -> dict[str, Path]:
    """Return the files that options of these names give; all can be written, before anything else is done. Raises UsageError."""
    given = {name: vars(options)[name] for name in names if vars(options)[name] is not None}
    return {name: writable_file(f"--{name.replace('_', '-')}", file) for name, file in given.items()}


@contextmanager
def writing(file: Path) -> Iterator[None]:
    """Report a file that cannot be written, by its name. Raises UsageError."""
    try:
        yield
    except OSError as error:
        raise UsageError(errors.unwritable(file, error)) from error
