"""The emulator for Python programs and their tests. Public: what is named here keeps its name and meaning.

    with Emulator.start(clock="auto") as emulator, emulator.sandbox(scenario="some-outputs-fail") as sandbox:
        client = MyClient(sandbox.base_url, sandbox.api_key)

Examples in the docstrings begin with `create_app()`, an emulator in this process, since that starts in no time; what they show
works with any emulator. Names that they do not import are those of this module.

The pytest plugin and the command line's own clients stand on this, and it stands on the control plane: it must not look at
an emulator's objects, since most run in another process.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from emulator.control.recorded_request import RecordedRequest
    from emulator.examiner.findings import Conduct, Finding
    from emulator.testing.application import EmulatorApplication, create_app
    from emulator.testing.emulator import Emulator
    from emulator.testing.errors import EmulatorError
    from emulator.testing.given import Given
    from emulator.testing.records import Explanation, Rule
    from emulator.testing.sandbox import Clock, Sandbox, Team

__all__ = [
    "Clock",
    "Conduct",
    "Emulator",
    "EmulatorApplication",
    "EmulatorError",
    "Explanation",
    "Finding",
    "Given",
    "RecordedRequest",
    "Rule",
    "Sandbox",
    "Team",
    "create_app",
]

_HOMES = {
    "emulator.testing.application": ("EmulatorApplication", "create_app"),
    "emulator.testing.emulator": ("Emulator",),
    "emulator.testing.errors": ("EmulatorError",),
    "emulator.control.recorded_request": ("RecordedRequest",),
    "emulator.examiner.findings": ("Conduct", "Finding"),
    "emulator.testing.given": ("Given",),
    "emulator.testing.records": ("Explanation", "Rule"),
    "emulator.testing.sandbox": ("Clock", "Sandbox", "Team"),
}


def __getattr__(name: str) -> Any:
    # Imported when first used: the command line needs little of it, and starts quickly.
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
