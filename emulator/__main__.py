"""`python -m emulator`: the same command as `image-workflow-emulator`."""

from emulator.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
