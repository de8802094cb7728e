"""The emulator for Python programs and their tests.

Public: what is named here keeps its name and meaning.

    with Emulator.start(clock="auto") as emulator:
        with emulator.sandbox(scenario="some-outputs-fail") as sandbox:
            client = MyClient(sandbox.base_url, sandbox.api_key)

Examples in the docstrings begin with `create_app()`, an emulator in this process, since
that starts in no time; what they show works with any emulator. Names that they do not
import are those of this module.

The pytest plugin and the command line's own clients use this, and it uses the control
plane: it must not use an emulator's objects, since most run in another process.
"""

from image_workflow_emulator.client.local_files import EmulatorError
from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.examiner.findings import Conduct, Finding
from image_workflow_emulator.testing.answers import Explanation, Rule
from image_workflow_emulator.testing.application import EmulatorApplication, create_app
from image_workflow_emulator.testing.clock import Clock
from image_workflow_emulator.testing.emulator import Emulator
from image_workflow_emulator.testing.sandbox import Sandbox
from image_workflow_emulator.testing.seeding import Given
from image_workflow_emulator.testing.team import Team

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
