"""The control plane, `/_emulator`: what a person or a test does to the emulator itself.

Nothing here is limited, faulted or delayed, and nothing moves a clock unless it says so. Must not know the web room.
"""

from typing import Final

PREFIX: Final = "/_emulator"

REQUEST_ID_KIND: Final = "ctl"
"""How its Request-Ids begin, by which a command recognizes an emulator."""

DOCUMENTS: Final = (PREFIX, f"{PREFIX}/reference")
"""The paths that a person follows a link to: the page and the reference."""


def is_own_file(path: str) -> bool:
    """Tell whether a path leads to a file of the page, which holds no data and needs no control token."""
    return path in DOCUMENTS or path.startswith(f"{PREFIX}/page/")
