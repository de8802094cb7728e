"""The command line: `image-workflow-emulator`, or `python -m image_workflow_emulator`.

`main` reads what is typed and turns every failure into an exit status; `table` lists the commands.
"""
