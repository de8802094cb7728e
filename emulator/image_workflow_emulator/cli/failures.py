"""The errors that only commands raise, and the files that commands write."""

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from image_workflow_emulator.settings import UsageError
from image_workflow_emulator.testing import errors

REFUSED_VALUES: Final = (400, 413, 422)
"""The statuses by which a running emulator refuses a value."""


class CommandError(Exception):
    """A command that is valid and could not do its work; its text is the whole message. `status`: the exit status."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


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
    files = {name: Path(file) for name, file in given.items()}
    for name, file in files.items():
        try:
            target, is_new = file.resolve(), not file.exists()  # a link may name a file that is not there yet
            target.open("ab").close()
            if is_new:
                target.unlink()
        except (OSError, ValueError, RuntimeError) as error:  # the last for links that lead to each other
            raise UsageError(f"--{name.replace('_', '-')}: {errors.unwritable(given[name], error)}") from None
    return files


def write_file(file: Path, content: str | bytes) -> None:
    """Write a file. Raises UsageError."""
    with writing(file):
        file.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def writing(file: Path) -> Iterator[None]:
    """Report a file that cannot be written, by its name. Raises UsageError."""
    try:
        yield
    except OSError as error:
        raise UsageError(errors.unwritable(file, error)) from error
