"""What the functions of the control plane work on: everything there is, the request as far as it is read, and the contract.

Must not know what such a function does.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import count
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import orjson
from msgspec import Struct
from starlette.responses import Response

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.documents import shipped_document
from image_workflow_emulator.documents.complaints import clause
from image_workflow_emulator.documents.schemas import LARGE_BODY_BYTES, Schemas, listed
from image_workflow_emulator.documents.values import FORMATS, MAX_INTEGER
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.readings import Readings
from image_workflow_emulator.http.requests import Request, Scope, read_query
from image_workflow_emulator.http.stopping import Stop
from image_workflow_emulator.kernel.identifiers import Identifiers
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.library import ScenarioLibrary, shipped_library
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.sandbox.calls import DecodedUpload
from image_workflow_emulator.service.sandbox.images import ImageStore
from image_workflow_emulator.service.sandbox.sandbox import Sandbox, SandboxOptions
from image_workflow_emulator.service.sandbox.sandboxes import Sandboxes
from image_workflow_emulator.service.sandbox.store import Store
from image_workflow_emulator.settings import Settings

Value = TypeVar("Value")


class Pictures(Protocol):
    """Does image work while others are served."""

    async def data(self, images: ImageStore, key: str) -> bytes:
        """Return the bytes of a picture."""

    async def decode(self, data: bytes, content_type: str, readings: Readings) -> DecodedUpload:
        """Decode and normalize an uploaded file."""


AskOffRecord: TypeAlias = Callable[[Sandbox, Scope, str, str, str, bytes], Awaitable[dict[str, Any]]]
"""Asks `/v1` as a client would, with no trace in a journal: with a key, a method, a path and a body. The scope is that of the
request behind it. Returns what is answered; raises Problem where it is refused."""


class JsonResponse(Response):
    """A value as JSON."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Write the value."""
        return orjson.dumps(content)


@dataclass(eq=False)
class ControlPlane:
    """Everything that the endpoints work on. `options` are those of the process: the defaults of a new sandbox."""

    sandboxes: Sandboxes
    contract: Contract
    settings: Settings
    options: SandboxOptions
    pictures: Pictures
    ask_off_record: AskOffRecord
    stop: Stop
    """Ends every wait when the emulator is about to stop."""
    given: bytes | None = None
    """The content of the file that the option `given` names."""
    identifiers: Identifiers = field(default_factory=lambda: Identifiers(0))
    """The ids of its own requests: looking at a sandbox must not change the ids that the sandbox gives next."""
    names: Iterator[str] = field(default_factory=lambda: map("sandbox-{}".format, count(1)))
    """The ids of sandboxes that are created without one."""
    taking_file: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held from the first byte of a state file to its end: each may be as large as the memory for images."""

    @cached_property
    def library(self) -> ScenarioLibrary:
        """The scenarios that are shipped."""
        return shipped_library(self.contract)

    @cached_property
    def library_entries(self) -> list[dict[str, str]]:
        """The library, read once: it is shipped, and does not change while the process runs."""
        return self.library.entries()

    def find_sandbox(self, identifier: str | None) -> Sandbox:
        """Return the sandbox that a path names, the default one if it names none. Raises Problem not_found."""
        if identifier is None:
            return self.sandboxes.default
        sandbox = self.sandboxes.by_id.get(identifier)
        if sandbox is None:
            raise Problem("not_found", f"{excerpt(identifier)}: there is no such sandbox")
        return sandbox


@dataclass(slots=True, eq=False)
class ControlCall:
    """An endpoint being called: the request as far as it is read, for the handler."""

    plane: ControlPlane
    head: Request
    sandbox: Sandbox
    now: int
    parameters: Mapping[str, str]
    """The parts of the path that the contract names."""
    query: Mapping[str, Any]
    body: bytes
    fields: Mapping[str, Any]
    """Of a body that is JSON and nothing else."""
    store: Store

    def check_unchanged(self) -> None:
        """Check after a wait that the sandbox was not reset. Raises Problem with status 409: it was reset or deleted."""
        sandboxes = self.plane.sandboxes
        if sandboxes.by_id.get(self.sandbox.id) is not self.sandbox or self.sandbox.store is not self.store:
            raise Problem("invalid_request", "the sandbox was reset while this request was being answered", status=409)
        self.now = engine.enter(self.sandbox)


Handler: TypeAlias = Callable[[ControlCall], Any]
"""Returns (or promises) what is answered: a value for JSON, None for no body, or a response of another kind."""
JSON: Final = "application/json"
STATE_FILE: Final = "application/zip"

_DESCRIBED_AT_ONCE: Final = 10


class Action(Struct, frozen=True):
    """What one method of a path does, and what it takes and answers by the contract."""

    handler: Handler
    query: Mapping[str, str] = {}
    """The components of its query parameters, by their names."""
    body: Mapping[str, Any] = {}
    """What its body may be, by media type; nothing where it takes none."""
    needs_body: bool = False
    status: int = 200

    @property
    def schema(self) -> str | None:
        """The reference to the schema of a body that is JSON and nothing else."""
        return self.body[JSON]["schema"]["$ref"] if [*self.body] == [JSON] else None


def action_of(handler: Handler, operation: Mapping[str, Any]) -> Action:
    """Return the action of an operation of the contract."""
    body = operation.get("requestBody", {})
    components = [one["$ref"].rpartition("/")[2] for one in operation.get("parameters", ())]
    parameters = {name: contract()["components"]["parameters"][name] for name in components}
    query = {described["name"]: name for name, described in parameters.items() if described["in"] == "query"}
    status = int(next(iter(operation["responses"])))
    return Action(handler, query, body.get("content", {}), body.get("required", False), status)


async def in_slices(values: Iterable[Value], describe: Callable[[Value], Any]) -> list[orjson.Fragment]:
    """Describe many values as JSON, some at a time, between which other requests are served."""
    described = list[orjson.Fragment]()
    for number, value in enumerate(values, start=1):
        described.append(orjson.Fragment(orjson.dumps(describe(value))))
        if number % _DESCRIBED_AT_ONCE == 0:
            await asyncio.sleep(0)
    return described


# What the contract says of bodies and queries ---------------------------------------------------------------------------


@cache
def contract() -> dict[str, Any]:
    """Return the contract of the control plane."""
    document: dict[str, Any] = shipped_document("contract/control-plane.yaml")
    return document


@cache
def schemas() -> Schemas:
    """Return the schemas of bodies and parameters."""
    return Schemas(contract(), FORMATS)


def read_fields(reference: str, value: Any, size_bytes: int) -> Any:
    """Return the values of a body that fits a schema of the contract. Raises Problem with all that is wrong."""
    violations = schemas().violations(reference, value, first_only=size_bytes > LARGE_BODY_BYTES)
    if violations:
        raise Problem("invalid_request", listed(violations))
    return schemas().value(reference, value)


def read_parameters(query_string: bytes, parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of a query, with defaults; `parameters` are the components of the contract by their names.

    Raises:
        Problem: invalid_request.
    """
    known = contract()["components"]["parameters"]
    values = {name: known[component]["schema"].get("default") for name, component in parameters.items()}
    for name, text in read_query(query_string, parameters).items():
        component = parameters[name]
        is_number = known[component]["schema"].get("type") == "integer"
        number = number_in(text, MAX_INTEGER) if is_number else None
        values[name] = text if number is None else number
        for violation in schemas().violations(f"#/components/parameters/{component}/schema", values[name]):
            raise unfit(name, text, violation.expected)
    return values


def unfit(where: str, found: Any, expected: str, suggestions: Sequence[str] = ()) -> Problem:
    """Build the refusal of a field or a query parameter: where it stands, what is there, what should be, what was meant."""
    return Problem("invalid_request", f"{where or '(body)'}: {clause(excerpt(found), expected, suggestions)}")


def number_in(text: str, maximum: int) -> int | None:
    """Return the whole number from 0 to a maximum that a text writes; None for any other text."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(maximum))
    return int(text) if is_number and int(text) <= maximum else None
