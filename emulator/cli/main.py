"""The entry point: reads the environment, runs one command, turns its outcome into an exit status.

0 is success, 2 a mistake in what was typed or in a file that was given, 1 any other failure. Messages go to standard error.
"""

import os
import sys

from emulator.cli.arguments import PROGRAM, module_of, parse_arguments
from emulator.cli.errors import CommandError
from emulator.documents.complaints import DocumentError
from emulator.settings import UsageError
from emulator.testing.errors import EmulatorError

FAILURE = 1
BAD_USAGE = 2
REFUSED_VALUES = (400, 413, 422)
"""The statuses by which a running emulator says that a value is none."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command that the arguments ask for (None: those of this process) and return its exit status."""
    options = parse_arguments(arguments)
    try:
        status: int = module_of(options.command).run(options, os.environ)
        if sys.stdout is not None:
            sys.stdout.flush()  # a reader who has left is noticed here, and not at exit
        return status
    except (UsageError, DocumentError) as error:
        return _complain(error, BAD_USAGE)
    except CommandError as error:
        return _complain(error, FAILURE)
    except EmulatorError as error:
        return _complain(error, BAD_USAGE if error.status in REFUSED_VALUES else FAILURE)
    except BrokenPipeError:
        # The reader of our output has left, as `head` does; nothing more can be said to it, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except KeyboardInterrupt:
        return FAILURE


def _complain(error: Exception, status: int) -> int:
    for line in str(error).splitlines():
        print(f"{PROGRAM}: {line}", file=sys.stderr)
    return status
