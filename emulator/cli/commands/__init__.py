"""What the commands take, and what runs them; the table of all commands is `emulator.cli.arguments.COMMANDS`.

Each command is a function that gives a parser its arguments, and says by the default of `run` what runs it: that gets the
options and the environment, and returns the exit status; None is 0.
"""
