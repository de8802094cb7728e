"""How a command says that it failed, where no other room has a word for it."""

from emulator.settings import UsageError
from emulator.testing import errors


class CommandError(Exception):
    """A command that could not do its work, though it was typed well; its text is the whole message, its status 1."""


def unreadable(error: OSError) -> UsageError:
    """The complaint about a file that was named and cannot be read."""
    return UsageError(errors.unreadable(error))
