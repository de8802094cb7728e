"""What the endpoints of the control plane work on: the sandboxes, the settings, and the
service itself.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any, Protocol, TypeVar

from starlette.types import Scope

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.documents.schemas import LARGE_BODY_BYTES
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.readings import Readings
from image_workflow_emulator.http.stops import Stop
from image_workflow_emulator.kernel.seed import Identifiers
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.library import ScenarioLibrary
from image_workflow_emulator.scenario.scenario import NO_SCENARIO, Scenario
from image_workflow_emulator.service.sandbox.calls import DecodedUpload
from image_workflow_emulator.service.sandbox.images import ImageStore
from image_workflow_emulator.service.sandbox.sandbox import Sandbox, SandboxOptions
from image_workflow_emulator.service.sandbox.sandboxes import Sandboxes
from image_workflow_emulator.settings import Settings

Result = TypeVar("Result")


def _numbered_sandbox_ids() -> Iterator[str]:
    for number in count(1):
        yield f"sandbox-{number}"


class AskOffRecord(Protocol):
    """Asks `/v1` as a client would, with no trace in a journal."""

    async def __call__(
        self,
        sandbox: Sandbox,
        scope: Scope,
        key: str,
        method: str,
        path: str,
        content: bytes,
    ) -> dict[str, Any]:
        """Return the JSON of the answer.

        `scope` is that of the request behind it.

        Raises:
            Problem: it is refused.
        """


@dataclass(eq=False)
class ControlPlane:
    """Everything that the endpoints work on.

    `options` are those of the process: the defaults of a new sandbox.
    """

    sandboxes: Sandboxes
    contract: Contract
    settings: Settings
    options: SandboxOptions
    picture_data: Callable[[ImageStore, str], Awaitable[bytes]]
    """Draws a picture, if it was not drawn before, while others are served."""
    decode: Callable[[bytes, str, Readings], Awaitable[DecodedUpload]]
    """Decodes and normalizes an uploaded file of a content type while others are
    served."""
    ask_off_record: AskOffRecord
    stop: Stop
    """Ends every wait when the emulator is about to stop."""
    given: bytes | None = None
    """The content of the file that the option `given` names."""
    scenario_for_none: Scenario = NO_SCENARIO
    """The scenario of sandboxes that are made without any: the fault of a sweep."""
    identifiers: Identifiers = field(default_factory=lambda: Identifiers(0))
    """The ids of its own requests: looking at a sandbox must not change the ids that
    the sandbox gives next."""
    unused_sandbox_ids: Iterator[str] = field(default_factory=_numbered_sandbox_ids)
    """The ids of sandboxes that are created without one."""
    reading_state_file: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held from the first byte of a state file to its end: each may be as large as the
    memory for images."""
    reading_document: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a large document is read: each may need 100 MB meanwhile."""

    @cached_property
    def library(self) -> ScenarioLibrary:
        """The scenarios that are shipped."""
        return ScenarioLibrary(self.contract)

    def find_sandbox(self, identifier: str | None) -> Sandbox:
        """Return the sandbox of an id, the default one for None.

        Raises:
            Problem: not_found.
        """
        if identifier is None:
            return self.sandboxes.default
        sandbox = self.sandboxes.by_id.get(identifier)
        if sandbox is None:
            detail = f"{excerpt(identifier)}: there is no such sandbox"
            raise Problem("not_found", detail)
        return sandbox

    async def read_aside(self, size_bytes: int, read: Callable[[], Result]) -> Result:
        """Read a document: a large one in a thread, so that others are served.

        Raises:
            Problem: service_unavailable, if the emulator stops before it is read.
        """
        if size_bytes <= LARGE_BODY_BYTES:
            return read()
        async with self.reading_document:
            if self.stop.has_begun:
                detail = "the emulator is stopping"
                raise Problem("service_unavailable", detail, retry_after=1)
            return await asyncio.to_thread(read)
