"""The emulator for Python programs and their tests. Public: what is named here keeps its name and meaning.

    with Emulator.start(clock="auto") as emulator, emulator.sandbox(scenario="some-outputs-fail") as sandbox:
        client = MyClient(sandbox.base_url, sandbox.api_key)

The pytest plugin and the command line's own clients stand on this, and it stands on the control plane: it must not look at
an emulator's objects, since most run in another process.
"""

from typing import TYPE_CHECKING, Any

from emulator.testing.emulator import Emulator
from emulator.testing.errors import EmulatorError
from emulator.testing.records import Explanation, RecordedRequest, Rule
from emulator.testing.sandbox import Clock, Sandbox, Team

if TYPE_CHECKING:
    from emulator.testing.application import EmulatorApplication, create_app

__all__ = [
    "Clock",
    "Emulator",
    "EmulatorApplication",
    "EmulatorError",
    "Explanation",
    "RecordedRequest",
    "Rule",
    "Sandbox",
    "Team",
    "create_app",
]


def __getattr__(name: str) -> Any:
    # An emulator in this process needs all of its modules: they are imported for those alone who want one.
    if name in ("EmulatorApplication", "create_app"):
        from emulator.testing import application

        return getattr(application, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
