"""The command line: `image-workflow-emulator`, or `python -m image_workflow_emulator`.

`main` dispatches and turns every failure into an exit status; `arguments` has the table of commands; `commands` has one
module for each. Nothing heavy is imported before the command that needs it is known.
"""
