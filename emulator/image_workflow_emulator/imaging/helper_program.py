"""The program of a helper process, which is run as a script.

Its arguments are the places of the server's modules, so that it imports the same ones.
"""

import sys

if __name__ == "__main__":
    sys.path[:] = sys.argv[1:]

    from image_workflow_emulator.imaging.worker import main

    main()
