"""The three classes of uvicorn that serve requests, without the rest of it.

Importing anything of uvicorn imports its command line first, and with it click and multiprocessing: 13 ms of the time until
`ready`, for nothing that is used here. So a module that says yes to everything stands in for it meanwhile, and the real one
is imported when somebody asks uvicorn for what it holds.
"""

import sys
from importlib import import_module
from types import ModuleType

_COMMAND_LINE = "uvicorn.main"


class _StandIn(ModuleType):
    """Has every name that is asked of it."""

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


def _from_command_line(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(import_module(_COMMAND_LINE), name)


_is_needed = _COMMAND_LINE not in sys.modules
if _is_needed:
    sys.modules[_COMMAND_LINE] = _StandIn(_COMMAND_LINE)

from uvicorn.config import Config  # noqa: E402
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol  # noqa: E402
from uvicorn.server import Server  # noqa: E402

if _is_needed:
    del sys.modules[_COMMAND_LINE]
    _package = vars(sys.modules["uvicorn"])
    for _name in [name for name, value in _package.items() if value is None and not name.startswith("__")]:
        del _package[_name]
    _package["__getattr__"] = _from_command_line

__all__ = ["Config", "HttpToolsProtocol", "Server"]
