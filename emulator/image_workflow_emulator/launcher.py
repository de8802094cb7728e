"""Runs the command line in a process that ends with the process that started it.

Standard input is a pipe that the starting process holds: its end is the signal to stop.
Options count here, and no variable `EMULATOR_...` of the environment. This is run as a
script, `python -P launcher.py FOLDER ARGUMENT ...`, so that the package is taken from
FOLDER, but no other module that lies beside it there is preferred to an installed one.
"""

import os
import signal
import sys
import threading

_PREFIX = "EMULATOR_"


def main() -> int:
    """Run the command and return its exit status."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    folder = sys.argv.pop(1)
    sys.path.append(folder)
    for name in list(os.environ):
        if name.startswith(_PREFIX):
            del os.environ[name]
    from image_workflow_emulator.cli import main as command_line

    return command_line.main()


def _end_with_parent() -> None:
    """Stop the command when nobody holds its standard input any more."""
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
