"""The command line: `image-workflow-emulator`, or `python -m image_workflow_emulator`.

`main` runs a command and turns every failure into an exit status, `table` lists the commands, and `arguments` reads
what is typed. Nothing heavy is imported before the command is known.
"""
