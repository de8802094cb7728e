"""The program, and the table of its commands as the help groups them."""

from typing import Final

import click

from image_workflow_emulator import __version__
from image_workflow_emulator.cli.groups import LazyCommand, Program

PROGRAM: Final = "image-workflow-emulator"
DESCRIPTION: Final = (
    "A local, deterministic emulator of the Image Workflow Service API v1."
)
COMPLETION_VARIABLE: Final = "_IMAGE_WORKFLOW_EMULATOR_COMPLETE"
"""The variable by which a shell asks how a word can go on."""
_EPILOG: Final = (
    f"`{PROGRAM} help COMMAND` explains one of them. `{PROGRAM} completion SHELL` "
    "prints what completes them in bash, zsh or fish."
)

GROUPS: Final = {
    "Run": {
        "serve": LazyCommand(
            "run the emulator until interrupted",
            "image_workflow_emulator.cli.commands.serve",
        ),
        "exec": LazyCommand(
            "run a command with its own emulator",
            "image_workflow_emulator.cli.commands.exec",
        ),
        "wait": LazyCommand(
            "wait until an emulator is ready",
            "image_workflow_emulator.cli.commands.wait",
        ),
    },
    "Watch and change": {
        "requests": LazyCommand(
            "list, follow, explain or clear recorded requests",
            "image_workflow_emulator.cli.commands.requests",
        ),
        "scenario": LazyCommand(
            "show, change, list and check what goes wrong",
            "image_workflow_emulator.cli.commands.scenario",
        ),
        "clock": LazyCommand(
            "show or move the clock, or change its mode",
            "image_workflow_emulator.cli.commands.clock",
        ),
        "teams": LazyCommand(
            "list or change Teams",
            "image_workflow_emulator.cli.commands.teams",
        ),
        "credentials": LazyCommand(
            "list, revoke or restore credentials",
            "image_workflow_emulator.cli.commands.credentials",
        ),
        "given": LazyCommand(
            "make what a file lists",
            "image_workflow_emulator.cli.commands.given",
        ),
        "sandboxes": LazyCommand(
            "list, create or delete sandboxes",
            "image_workflow_emulator.cli.commands.sandboxes",
        ),
        "state": LazyCommand(
            "save a sandbox to a file, or load one",
            "image_workflow_emulator.cli.commands.state",
        ),
        "reset": LazyCommand(
            "reset a sandbox to its start",
            "image_workflow_emulator.cli.commands.reset",
        ),
    },
    "Judge": {
        "sweep": LazyCommand(
            "repeat a command with faults",
            "image_workflow_emulator.sweep.command",
        ),
        "conduct": LazyCommand(
            "judge what clients do wrong",
            "image_workflow_emulator.cli.commands.conduct",
        ),
        "coverage": LazyCommand(
            "show how much of the contract clients have covered",
            "image_workflow_emulator.cli.commands.coverage",
        ),
        "drift": LazyCommand(
            "judge which readings the real service has, by recorded traffic",
            "image_workflow_emulator.drift.command",
        ),
    },
    "Contract": {
        "contract": LazyCommand(
            "print what is shipped about the API",
            "image_workflow_emulator.cli.commands.contract",
        ),
    },
}


@click.group(
    PROGRAM,
    cls=Program,
    groups=GROUPS,
    help=DESCRIPTION,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def program() -> None:
    """Run the command that is typed."""


@program.command("help", hidden=True)
@click.argument("words", metavar="[COMMAND [VERB]]", nargs=-1)
def show_help(words: tuple[str, ...]) -> None:
    """Show the help of the program, or of a command."""
    with program.make_context(PROGRAM, [*words, "--help"]) as context:
        program.invoke(context)


@program.command("completion", hidden=True, no_args_is_help=True)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def print_completion(shell: str) -> None:
    """Print the script that completes commands, options and values in a shell.

    For bash: eval "$(image-workflow-emulator completion bash)"
    """
    from click.shell_completion import get_completion_class

    completion = get_completion_class(shell)
    assert completion is not None
    script = completion(program, {}, PROGRAM, COMPLETION_VARIABLE).source()
    click.echo(script)
