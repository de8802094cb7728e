"""How a command says that it failed."""


class CommandError(Exception):
    """A command that could not do its work, though it was typed well; its text is the whole message, its status 1."""
