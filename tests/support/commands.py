"""The commands that there are, as click knows them."""

from collections.abc import Iterator

import click

from image_workflow_emulator.cli.program import program


def command_names() -> list[str]:
    """Every command, as it is typed: a noun with its verbs alone is none."""
    context = click.Context(program)
    return list(_names(program, context, ""))


def _names(
    group: click.Group,
    context: click.Context,
    before: str,
) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _names(command, context, f"{before}{name} ")
        elif command is not None and not command.hidden:
            yield f"{before}{name}"


def parsed(words: list[str]) -> str:
    """Parse a command line, and return the name of its command. Raises UsageError."""
    name, *arguments = words
    context_of_program = click.Context(program)
    command = program.get_command(context_of_program, name)
    assert command is not None
    context = command.make_context(name, arguments)
    return str(context.info_name)
