"""The command line: `image-workflow-emulator`, or `python -m image_workflow_emulator`.

`program` has the table of commands, `commands` a module for each, and `main` turns
every failure into an exit status.
"""
