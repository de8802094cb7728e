"""`python -m image_workflow_emulator`: the same command as `image-workflow-emulator`."""

from image_workflow_emulator.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
