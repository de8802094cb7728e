"""The paths under which the surfaces of the emulator lie. `contract` has that of `/v1`."""

from typing import Final

FILES_PREFIX: Final = "/files/"
DIRECT_UPLOADS_PREFIX: Final = "/direct-uploads/"
CONTROL_PREFIX: Final = "/_emulator"
CONTROL_DOCUMENTS: Final = (CONTROL_PREFIX, f"{CONTROL_PREFIX}/reference")
"""The paths that a person follows a link to: the page and the reference."""


def is_control_path(path: str) -> bool:
    """Return whether a path belongs to the control plane."""
    return path == CONTROL_PREFIX or path.startswith(f"{CONTROL_PREFIX}/")
