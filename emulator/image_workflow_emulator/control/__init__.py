"""The control plane, `/_emulator`: what a person or a test does to the emulator itself.

Nothing here is limited, faulted or delayed, and nothing moves a clock unless it says
so. Must not know the web room.
"""

from typing import Any, Final, TypeAlias

from image_workflow_emulator.http.surfaces import CONTROL_DOCUMENTS as DOCUMENTS
from image_workflow_emulator.http.surfaces import CONTROL_PREFIX as PREFIX

REQUEST_ID_KIND: Final = "ctl"
"""How its Request-Ids begin, by which a command recognizes an emulator."""

JsonObject: TypeAlias = dict[str, Any]
"""A value that is written as an object of JSON."""

__all__ = ["DOCUMENTS", "PREFIX", "REQUEST_ID_KIND", "JsonObject", "is_own_file"]


def is_own_file(path: str) -> bool:
    """Return whether a path leads to a file of the page, which holds no data and needs
    no control token.
    """
    return path in DOCUMENTS or path.startswith(f"{PREFIX}/page/")
