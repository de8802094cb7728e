"""The entry point: reads the environment, runs one command, turns its outcome into an exit status.

0 is success, 2 a mistake in what was typed or a file that cannot be used, 1 any other failure, such as what the running
emulator does not have. Messages go to standard error, and where JSON is asked for, also to standard output.
"""

import gc
import os
import sys
from argparse import Namespace
from importlib import import_module
from itertools import pairwise

from image_workflow_emulator.cli.arguments import PROGRAM, ArgumentsError, parse_arguments

FAILURE = 1
BAD_USAGE = 2
INTERRUPTED = 128 + 2
"""The status of what Ctrl-C ended, as of a shell."""
REFUSED_VALUES = (400, 413, 422)
"""The statuses by which a running emulator refuses a value."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command that the arguments ask for (None: those of this process) and return its exit status."""
    _open_closed_streams()
    try:
        return _run(parse_arguments(arguments))
    except ArgumentsError as error:
        given = sys.argv[1:] if arguments is None else arguments
        own = given[: given.index("--")] if "--" in given else given
        if "--format=json" in own or ("--format", "json") in pairwise(own):
            _print_refusal("usage", error.complaint)
        raise
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        _drop_unread_messages()


def _drop_unread_messages() -> None:
    """Flush standard error, or drop its rest if the reader has left: else Python exits with a status of its own."""
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


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
    try:
        status = _status_of(options)
        sys.stdout.flush()  # a closed pipe is noticed here, and not at exit
        return status
    except OSError as error:  # standard output cannot be written: its reader has left (`head`), or the disk is full
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            _complain(f"cannot write the output: {error.strerror}")
        return FAILURE


def _status_of(options: Namespace) -> int:
    # Imported when there is something to run: --help and --version have ended.
    from image_workflow_emulator.client.local_files import EmulatorError, UnusableFileError
    from image_workflow_emulator.documents.complaints import DocumentError
    from image_workflow_emulator.settings import CommandError, UsageError

    code, status = "usage", BAD_USAGE
    try:
        module, _, function = options.run.rpartition(".")
        gc.disable()  # no garbage comes from imports, which take a tenth less time without looking for it
        run = getattr(import_module(f"image_workflow_emulator.{module}"), function)
        gc.enable()
        if "report" in options:
            from image_workflow_emulator.cli.output import conclude

            return conclude(run, options, os.environ)
        run(options, os.environ)
        return 0
    except (UsageError, DocumentError) as error:
        message = str(error)
    except CommandError as error:
        message, status = str(error), error.status
    except EmulatorError as error:
        message, code = error.detail, error.code
        is_mistake = isinstance(error, UnusableFileError) or error.status in REFUSED_VALUES
        status = BAD_USAGE if is_mistake else FAILURE
    if getattr(options, "format", None) == "json":
        _print_refusal(code, message)
    _complain(message)
    return status


def _print_refusal(code: str, message: str) -> None:
    """Print, as JSON for programs, why a command did nothing: each line of the message with the place that it begins
    with.
    """
    import json
    import re

    place = re.compile(r"(?:(.+?:\d+(?::\d+)?): )?(.+)")
    usual = {"rule": code, "severity": "error", "remedy": None, "command": None}
    matches = filter(None, map(place.fullmatch, message.splitlines()))
    findings = [{**usual, "where": match[1], "message": match[2]} for match in matches]
    print(json.dumps({"ok": False, "summary": message, "findings": findings, "next": []}, separators=(",", ":")))


def _complain(message: str) -> None:
    from image_workflow_emulator.kernel.wording import printable

    for line in message.split("\n"):
        print(f"{PROGRAM}: {printable(line)}", file=sys.stderr)
