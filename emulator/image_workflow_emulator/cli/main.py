"""The entry point: reads the environment, runs one command, turns its outcome into an exit status.

0 is success, 2 a mistake in what was typed or a file that cannot be used, 1 any other failure, such as what the running emulator
does not have. Messages go to standard error, and where JSON is asked for, also to standard output.
"""

import os
import sys
from argparse import Namespace
from itertools import pairwise

from image_workflow_emulator.cli.arguments import PROGRAM, ArgumentsError, parse_arguments
from image_workflow_emulator.kernel.printable import printable

FAILURE = 1
BAD_USAGE = 2
INTERRUPTED = 128 + 2
"""The status of what Ctrl-C ended, as of a shell."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command that the arguments ask for (None: those of this process) and return its exit status."""
    _open_closed_streams()
    try:
        return _run(parse_arguments(arguments))
    except ArgumentsError as error:
        given = sys.argv[1:] if arguments is None else arguments
        own = given[: given.index("--")] if "--" in given else given
        if "--format=json" in own or ("--format", "json") in pairwise(own):
            _print_refusal(error.complaint)
        raise
    except KeyboardInterrupt:
        return INTERRUPTED


def _open_closed_streams() -> None:
    """Open the null device for each standard stream that is closed: else a socket would take its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


def _run(options: Namespace) -> int:
    """Run a command; report what it raises."""
    # Imported when there is something to run: --help and --version have ended.
    from importlib import import_module

    from image_workflow_emulator.cli.failures import REFUSED_VALUES
    from image_workflow_emulator.cli.invocation import Invocation
    from image_workflow_emulator.documents.complaints import DocumentError
    from image_workflow_emulator.settings import CommandError, UsageError
    from image_workflow_emulator.testing.errors import EmulatorError, UnusableFileError

    try:
        try:
            module, _, function = options.run.rpartition(".")
            run = getattr(import_module(f"image_workflow_emulator.{module}"), function)
            status: int
            if options.reports:
                from image_workflow_emulator.cli.emitters import conclude

                status = conclude(run, options, os.environ)
            else:
                status = run(Invocation(options, os.environ)) or 0
        except (UsageError, DocumentError, UnusableFileError) as error:
            status = _refuse(error, BAD_USAGE, options)
        except CommandError as error:
            status = _refuse(error, error.status, options)
        except EmulatorError as error:
            status = _refuse(error, BAD_USAGE if error.status in REFUSED_VALUES else FAILURE, options)
        sys.stdout.flush()  # a closed pipe is noticed here, and not at exit
        return status
    except OSError as error:
        # Standard output cannot be written, as its reader has closed the pipe (`head`) or the disk is full; nor at
        # exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return FAILURE
        return _complain(f"cannot write the output: {error.strerror}", FAILURE)


def _refuse(error: Exception, status: int, options: Namespace) -> int:
    """Report an error, to programs too where they asked for JSON."""
    from image_workflow_emulator.cli.failures import words_of

    if getattr(options, "format", None) == "json":
        _print_refusal(error)
    return _complain(words_of(error), status)


def _print_refusal(error: object) -> None:
    import json

    from image_workflow_emulator.cli.failures import refusal

    print(json.dumps(refusal(error), separators=(",", ":")))


def _complain(message: str, status: int) -> int:
    for line in message.split("\n"):
        print(f"{PROGRAM}: {printable(line)}", file=sys.stderr)
    return status
