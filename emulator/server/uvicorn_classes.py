"""The classes of uvicorn that serve requests, without the rest of it.

The package's own `__init__` imports its command line, and with it click and multiprocessing: a tenth of the processor
time until `ready` (24 of 268 ms, medians of 30 starts), for nothing that is used here. So it runs only when one of its
names is used.
"""

import sys
from importlib.util import find_spec, module_from_spec

_PACKAGE = "uvicorn"


def _defer_package() -> None:
    spec = find_spec(_PACKAGE)
    assert spec is not None
    assert spec.loader is not None
    loader, package = spec.loader, module_from_spec(spec)

    def load(name: str) -> object:
        del package.__getattr__
        loader.exec_module(package)
        return getattr(package, name)

    package.__getattr__ = load  # type: ignore[method-assign]
    sys.modules[_PACKAGE] = package


if _PACKAGE not in sys.modules:
    _defer_package()

from uvicorn.config import Config  # noqa: E402
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl  # noqa: E402
from uvicorn.protocols.http.httptools_impl import (  # noqa: E402
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)
from uvicorn.server import Server, ServerState  # noqa: E402

vars(sys.modules[_PACKAGE])["Config"] = Config  # which uvicorn's own modules ask the package for

__all__ = [
    "HIGH_WATER_LIMIT",
    "STATUS_LINE",
    "Config",
    "FlowControl",
    "HttpToolsProtocol",
    "RequestResponseCycle",
    "Server",
    "ServerState",
]
