"""What image_workflow_emulator.server leans on in uvicorn, so that a new version that changes it is noticed at once."""

import inspect
from hashlib import sha256

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

READ = "1f0ad26f71ba02a760f1965589e05ae7e93ec5eb5a25b6c0d796f71630a3a051"
"""Of uvicorn 0.54.0."""


def test_the_classes_that_the_server_extends_are_those_that_were_read() -> None:
    source = "".join(inspect.getsource(each) for each in (HttpToolsProtocol, RequestResponseCycle, FlowControl))
    digest = sha256(source.encode()).hexdigest()
    assert digest == READ, "read what has changed in these classes, then write the new digest here"
