"""The errors that only commands raise."""

from collections.abc import Iterator
from contextlib import contextmanager

from emulator.settings import UsageError
from emulator.testing import errors


class CommandError(Exception):
    """A command that could not do its work, though it was typed well; its text is the whole message, its status 1."""


@contextmanager
def naming_scenario(scenario: str | None) -> Iterator[None]:
    """Report a name that the library of the running emulator does not have. Raises CommandError."""
    try:
        yield
    except errors.EmulatorError as error:
        from emulator.testing.files import scenario_file

        if error.code == "invalid_scenario" and scenario is not None and scenario_file(scenario) is None:
            raise CommandError(str(error)) from None
        raise


def unreadable(error: OSError) -> UsageError:
    """The complaint about a file that was named and cannot be read."""
    return UsageError(errors.unreadable(error))
