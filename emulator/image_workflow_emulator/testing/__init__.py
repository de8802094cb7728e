"""The emulator for Python programs and their tests. Public: what is named here keeps its name and meaning.

    with Emulator.start(clock="auto") as emulator, emulator.sandbox(scenario="some-outputs-fail") as sandbox:
        client = MyClient(sandbox.base_url, sandbox.api_key)

Examples in the docstrings begin with `create_app()`, an emulator in this process, since that starts in no time; what
they show works with any emulator. Names that they do not import are those of this module.

The pytest plugin and the command line's own clients use this, and it uses the control plane: it must not use
an emulator's objects, since most run in another process.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from image_workflow_emulator.control.recorded_request import RecordedRequest as RecordedRequest
    from image_workflow_emulator.examiner.findings import Conduct as Conduct
    from image_workflow_emulator.examiner.findings import Finding as Finding
    from image_workflow_emulator.testing.emulator import Emulator as Emulator
    from image_workflow_emulator.testing.errors import EmulatorError as EmulatorError
    from image_workflow_emulator.testing.in_process import EmulatorApplication as EmulatorApplication
    from image_workflow_emulator.testing.in_process import create_app as create_app
    from image_workflow_emulator.testing.sandbox import Clock as Clock
    from image_workflow_emulator.testing.sandbox import Explanation as Explanation
    from image_workflow_emulator.testing.sandbox import Given as Given
    from image_workflow_emulator.testing.sandbox import Rule as Rule
    from image_workflow_emulator.testing.sandbox import Sandbox as Sandbox
    from image_workflow_emulator.testing.sandbox import Team as Team

_HOMES = {
    "image_workflow_emulator.control.recorded_request": ("RecordedRequest",),
    "image_workflow_emulator.examiner.findings": ("Conduct", "Finding"),
    "image_workflow_emulator.testing.in_process": ("EmulatorApplication", "create_app"),
    "image_workflow_emulator.testing.emulator": ("Emulator",),
    "image_workflow_emulator.testing.errors": ("EmulatorError",),
    "image_workflow_emulator.testing.sandbox": ("Clock", "Explanation", "Given", "Rule", "Sandbox", "Team"),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    # Imported when first used: the command line needs little of it, and starts quickly.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
