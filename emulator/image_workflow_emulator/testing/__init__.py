"""The emulator for Python programs and their tests. Public: what is named here keeps its name and meaning.

    with Emulator.start(clock="auto") as emulator, emulator.sandbox(scenario="some-outputs-fail") as sandbox:
        client = MyClient(sandbox.base_url, sandbox.api_key)

Examples in the docstrings begin with `create_app()`, an emulator in this process, since that starts in no time; what
they show works with any emulator. Names that they do not import are those of this module.

The pytest plugin and the command line's own clients use this, and it uses the control plane: it must not use
an emulator's objects, since most run in another process.
"""

from image_workflow_emulator.client.local_files import EmulatorError as EmulatorError
from image_workflow_emulator.control.recorded_request import RecordedRequest as RecordedRequest
from image_workflow_emulator.examiner.findings import Conduct as Conduct
from image_workflow_emulator.examiner.findings import Finding as Finding
from image_workflow_emulator.testing.emulator import Emulator as Emulator
from image_workflow_emulator.testing.emulator import EmulatorApplication as EmulatorApplication
from image_workflow_emulator.testing.emulator import create_app as create_app
from image_workflow_emulator.testing.sandbox import Clock as Clock
from image_workflow_emulator.testing.sandbox import Explanation as Explanation
from image_workflow_emulator.testing.sandbox import Given as Given
from image_workflow_emulator.testing.sandbox import Rule as Rule
from image_workflow_emulator.testing.sandbox import Sandbox as Sandbox
from image_workflow_emulator.testing.sandbox import Team as Team
