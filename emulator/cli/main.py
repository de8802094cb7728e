"""The entry point: reads the environment, runs one command, turns its outcome into an exit status (interfaces, section 2).

0 is success, 2 a mistake in what was typed or in a file that was given, 1 any other failure. Messages go to standard error.
"""

import gc
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from emulator.cli.arguments import PROGRAM, parse_arguments
from emulator.cli.errors import CommandError
from emulator.documents.complaints import DocumentError
from emulator.settings import UsageError, read_settings

if TYPE_CHECKING:
    from argparse import Namespace

FAILURE = 1
BAD_USAGE = 2


def main(arguments: list[str] | None = None) -> int:
    """Run the command that the arguments ask for (None: those of this process) and return its exit status."""
    options = parse_arguments(arguments)
    try:
        status = _run(options, os.environ)
        if sys.stdout is not None:
            sys.stdout.flush()  # a reader who has left is noticed here, and not at exit
        return status
    except (UsageError, DocumentError) as error:
        return _complain(error, BAD_USAGE)
    except CommandError as error:
        return _complain(error, FAILURE)
    except BrokenPipeError:
        # The reader of our output has left, as `head` does; nothing more can be said to it, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except KeyboardInterrupt:
        return FAILURE


def _run(options: "Namespace", environment: Mapping[str, str]) -> int:
    match options.command:
        case "serve":
            gc.disable()  # until ready: there is nothing to collect in what is only being imported
            from emulator.cli.serving import serve

            return serve(read_settings(vars(options), environment))
        case "exec":
            gc.disable()
            from emulator.cli.execution import execute

            return execute(options, environment)
        case "contract" | "scenarios":
            from emulator.cli import shipped

            return shipped.run(options, environment)
        case "state":
            from emulator.cli import state

            return state.run(options, environment)
        case _:
            from emulator.cli import remote

            return remote.run(options, environment)


def _complain(error: Exception, status: int) -> int:
    for line in str(error).splitlines():
        print(f"{PROGRAM}: {line}", file=sys.stderr)
    return status
