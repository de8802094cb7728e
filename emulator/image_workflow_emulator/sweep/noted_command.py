"""A program: notes the process group of a command, and becomes the command.

    noted_command.py FILE COMMAND [ARGUMENT ...]

A sweep kills the group of a command that ignores signals, and so outlives its `exec`.
"""

import os
import sys
from pathlib import Path


def main(file: str, command: list[str]) -> None:
    """Write the id of this process, which leads its group, and run the command."""
    group = str(os.getpid())
    Path(file).write_text(group, encoding="utf-8")
    program = command[0]
    os.execvp(program, command)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
