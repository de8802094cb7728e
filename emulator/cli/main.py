# PYTHON_ARGCOMPLETE_OK
"""The entry point: reads the environment, runs one command, turns its outcome into an exit status.

0 is success, 2 a mistake in what was typed or a file that cannot be used, 1 any other failure, such as what the running emulator
does not have. Messages go to standard error.
"""

import os
import sys
from argparse import Namespace

from emulator.cli.arguments import PROGRAM, build_parser, module_of, parse_arguments
from emulator.kernel.printable import printable

FAILURE = 1
BAD_USAGE = 2
INTERRUPTED = 128 + 2
"""The status of what Ctrl-C ended, as of a shell."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command that the arguments ask for (None: those of this process) and return its exit status."""
    _open_standard_streams()
    if "_ARGCOMPLETE" in os.environ:  # a shell asks what could be typed next
        from emulator.cli.completion import complete

        complete(build_parser(), os.environ)
    try:
        return _run(parse_arguments(arguments))
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(options: Namespace) -> int:
    """Run a command; report what it raises."""
    # Imported when there is something to run: --help and --version have ended.
    from emulator.cli.errors import REFUSED_VALUES, CommandError
    from emulator.documents.complaints import DocumentError
    from emulator.settings import UsageError
    from emulator.testing.errors import EmulatorError, UnusableFileError

    try:
        status: int = module_of(options.command).run(options, os.environ)
        sys.stdout.flush()  # a closed pipe is noticed here, and not at exit
        return status
    except (UsageError, DocumentError, UnusableFileError) as error:
        return _complain(error, BAD_USAGE)
    except CommandError as error:
        return _complain(error, FAILURE)
    except EmulatorError as error:
        return _complain(error, BAD_USAGE if error.status in REFUSED_VALUES else FAILURE)
    except OSError as error:
        # Standard output cannot be written, as its reader has closed the pipe (`head`) or the disk is full; nor at
        # exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return FAILURE
        return _complain(CommandError(f"cannot write the output: {error.strerror}"), FAILURE)


def _open_standard_streams() -> None:
    """Open standard streams that this process was started without, so that no socket gets their numbers."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:  # pragma: no cover (a new file gets the lowest number that is free)
                os.dup2(opened, number)
            setattr(sys, name, open(number, mode))  # noqa: PTH123, SIM115 (a stream that stays open, of a number)


def _complain(error: Exception, status: int) -> int:
    for line in str(error).split("\n"):
        print(f"{PROGRAM}: {printable(line)}", file=sys.stderr)
    return status
