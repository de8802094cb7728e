"""One module for each command: `add_arguments` says what it takes, `run` does it and returns the exit status.

A module is imported when its command is typed. The table of commands is `emulator.cli.arguments.COMMANDS`.
"""
