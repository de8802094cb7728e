"""The command line: `image-workflow-emulator`, or `python -m emulator`.

`main` dispatches and turns every failure into an exit status; `arguments` says what can be typed; one module for each kind
of command does it. Nothing heavy is imported before the command that needs it is known.
"""
