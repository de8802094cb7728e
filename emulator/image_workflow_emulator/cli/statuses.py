"""The exit statuses of commands."""

from typing import Final

FAILURE: Final = 1
BAD_USAGE: Final = 2
INTERRUPTED: Final = 128 + 2
"""The status of what Ctrl-C ended, as of a shell."""
REFUSED_VALUES: Final = (400, 413, 422)
"""The statuses by which a running emulator refuses a value: bad usage."""
