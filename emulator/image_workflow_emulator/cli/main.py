"""The entry point: runs the command that is typed, and turns its outcome into an exit
status.

0 is success, 2 a mistake in what was typed or a file that cannot be used, 1 any other
failure, such as what the running emulator does not have. Messages go to standard error,
and where JSON is asked for, also to standard output.
"""

import os
import sys
from collections.abc import Sequence
from itertools import pairwise

import click

from image_workflow_emulator.cli.program import COMPLETION_VARIABLE, PROGRAM, program
from image_workflow_emulator.cli.statuses import (
    BAD_USAGE,
    FAILURE,
    INTERRUPTED,
    REFUSED_VALUES,
)
from image_workflow_emulator.cli.streams import discard, open_closed_streams


def main(arguments: list[str] | None = None) -> int:
    """Run the command that the arguments ask for (None: those of this process) and
    return its exit status.
    """
    open_closed_streams()
    words = sys.argv[1:] if arguments is None else arguments
    try:
        status = _status_of(words)
        sys.stdout.flush()  # a closed pipe is noticed here, and not at exit
        return status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of standard output has left, as `head` does
        discard(sys.stdout)
        return FAILURE
    except OSError as error:
        from image_workflow_emulator.console.messages import complain

        discard(sys.stdout)
        complain(f"cannot write the output: {error.strerror}")
        return FAILURE
    finally:
        try:
            sys.stderr.flush()
        except OSError:  # its reader has left
            discard(sys.stderr)


def _status_of(words: Sequence[str]) -> int:
    """Run a command. Say why it failed, if it does."""
    instruction = os.environ.get(COMPLETION_VARIABLE)
    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(program, {}, PROGRAM, COMPLETION_VARIABLE, instruction)
    try:
        _check_text(words)
        # Here alone NO_COLOR is read, and the environment, which commands get.
        has_no_colour = bool(os.environ.get("NO_COLOR"))
        color = False if has_no_colour else None
        with program.make_context(
            PROGRAM,
            list(words),
            obj=os.environ,
            color=color,
        ) as context:
            status: int | None = program.invoke(context)
        return status or 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help())
        return 0
    except click.UsageError as error:
        if error.ctx is not None:
            click.echo(error.ctx.get_usage(), err=True)
        return _refuse(words, _message_of(error))
    except Exception as error:
        return _status_of_failure(error, words)


def _message_of(error: click.UsageError) -> str:
    """Return what is wrong, with the option that a misspelt one is nearest to."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return error.format_message()
    from image_workflow_emulator.documents.complaints import did_you_mean, nearest

    options = list[str]()
    for parameter in error.ctx.command.get_params(error.ctx):
        if isinstance(parameter, click.Option):
            options += parameter.opts
    suggestion = did_you_mean(nearest(error.option_name, options))
    return f"no such option {error.option_name!r}{suggestion}"


def _check_text(words: Sequence[str]) -> None:
    """Check that all words of a command are text, and the variables of its options.

    Raises UsageError: bytes that are no UTF-8 could not be sent to the emulator. The
    words of another command, after `--`, may have them.
    """
    texts = list(_own_words(words))
    texts += [text for name, text in os.environ.items() if name.startswith("EMULATOR_")]
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            message = f"found {text!r}, which is not UTF-8; expected text"
            raise click.UsageError(message) from None


def _own_words(words: Sequence[str]) -> Sequence[str]:
    """Return the words before those of another command."""
    return words[: words.index("--")] if "--" in words else words


def _status_of_failure(error: Exception, words: Sequence[str]) -> int:
    """Say why a command failed, and return its status. Raises the error where it is a
    defect.
    """
    from image_workflow_emulator.client.local_files import (
        EmulatorError,
        UnusableFileError,
    )
    from image_workflow_emulator.documents.complaints import DocumentError
    from image_workflow_emulator.settings import CommandError, UsageError

    match error:
        case UsageError() | DocumentError():
            return _refuse(words, str(error))
        case CommandError():
            return _refuse(words, str(error), error.code, error.status)
        case UnusableFileError():
            return _refuse(words, error.detail, error.code)
        case EmulatorError() if error.status in REFUSED_VALUES:
            return _refuse(words, error.detail, error.code)
        case EmulatorError():
            return _refuse(words, error.detail, error.code, FAILURE)
    raise error


def _refuse(
    words: Sequence[str],
    message: str,
    code: str = "usage",
    status: int = BAD_USAGE,
) -> int:
    """Say why a command did nothing, for programs as JSON too, and return the status."""
    from image_workflow_emulator.console.messages import complain, print_refusal

    own = _own_words(words)
    if "--format=json" in own or ("--format", "json") in pairwise(own):
        print_refusal(message, code)
    complain(message)
    return status
