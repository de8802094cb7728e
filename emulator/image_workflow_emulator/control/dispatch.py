"""A request to the control plane: its token is checked, its action found by the contract, its body and query read.

Between the read body and the answer nothing waits, so an action is carried out as a whole (only a move of the clock may
let held requests go on in between). Must not know what an action does.
"""

import asyncio
import hmac
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import count
from typing import Any, Final, TypeAlias, TypeVar

import orjson
from msgspec import Struct
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.control import PREFIX, REQUEST_ID_KIND, is_own_file
from image_workflow_emulator.documents.complaints import DocumentError, clause
from image_workflow_emulator.documents.limits import MAX_BYTES
from image_workflow_emulator.documents.schemas import LARGE_BODY_BYTES, Schemas, listed
from image_workflow_emulator.documents.shipped import shipped_document
from image_workflow_emulator.documents.values import MAX_INTEGER
from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.domain.readings import Readings
from image_workflow_emulator.http.json_bodies import check_no_body, parse_json
from image_workflow_emulator.http.bodies import Body, ClientDisconnectedError
from image_workflow_emulator.http.heads import Head
from image_workflow_emulator.http.queries import read_query
from image_workflow_emulator.http.stops import Stop
from image_workflow_emulator.http.answers import method_not_allowed, problem_answer
from image_workflow_emulator.kernel.seed import Identifiers
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.library import ScenarioLibrary
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.sandbox.calls import DecodedUpload
from image_workflow_emulator.service.sandbox.images import ImageStore
from image_workflow_emulator.service.sandbox.sandbox import Sandbox, SandboxOptions
from image_workflow_emulator.service.sandbox.sandboxes import Sandboxes
from image_workflow_emulator.service.sandbox.store import Store
from image_workflow_emulator.settings import Settings

Result = TypeVar("Result")


@dataclass(eq=False)
class ControlPlane:
    """Everything that the endpoints work on. `options` are those of the process: the defaults of a new sandbox."""

    sandboxes: Sandboxes
    contract: Contract
    settings: Settings
    options: SandboxOptions
    picture_data: Callable[[ImageStore, str], Awaitable[bytes]]
    """Draws a picture, if it was not drawn before, while others are served."""
    decode: Callable[[bytes, str, Readings], Awaitable[DecodedUpload]]
    """Decodes and normalizes an uploaded file of a content type while others are served."""
    ask_off_record: Callable[
        [Sandbox, Scope, str, str, str, bytes], Awaitable[dict[str, Any]]
    ]
    """Asks `/v1` as a client would, with no trace in a journal: with a key, a method, a path and a body. The scope is
    that of the request behind it. Returns the JSON of the answer; raises Problem for a refusal.
    """
    stop: Stop
    """Ends every wait when the emulator is about to stop."""
    given: bytes | None = None
    """The content of the file that the option `given` names."""
    identifiers: Identifiers = field(default_factory=lambda: Identifiers(0))
    """The ids of its own requests: looking at a sandbox must not change the ids that the sandbox gives next."""
    names: Iterator[str] = field(
        default_factory=lambda: map("sandbox-{}".format, count(1))
    )
    """The ids of sandboxes that are created without one."""
    taking_file: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Taken from the first byte of a state file to its end: each may be as large as the memory for images."""

    reading_document: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a large document is read: each may need 100 MB meanwhile."""

    async def read_aside(self, size_bytes: int, read: Callable[[], Result]) -> Result:
        """Read a document: a large one in a thread, so that others are served.

        Raises:
            Problem: service_unavailable, if the emulator stops before it is read.
        """
        if size_bytes <= LARGE_BODY_BYTES:
            return read()
        async with self.reading_document:
            if self.stop.has_begun:
                raise Problem(
                    "service_unavailable", "the emulator is stopping", retry_after=1
                )
            return await asyncio.to_thread(read)

    @cached_property
    def library(self) -> ScenarioLibrary:
        """The scenarios that are shipped."""
        return ScenarioLibrary(self.contract)

    def find_sandbox(self, identifier: str | None) -> Sandbox:
        """Return the sandbox that a path names, the default one if it names none. Raises Problem not_found."""
        sandbox = (
            self.sandboxes.default
            if identifier is None
            else self.sandboxes.by_id.get(identifier)
        )
        if sandbox is None:
            raise Problem(
                "not_found", f"{excerpt(identifier)}: there is no such sandbox"
            )
        return sandbox


@dataclass(slots=True, eq=False)
class ControlCall:
    """An endpoint being called: the request as far as it is read, for the handler."""

    plane: ControlPlane
    head: Head
    sandbox: Sandbox
    now: int
    parameters: Mapping[str, str]
    """The parts of the path that the contract names."""
    query: Mapping[str, Any]
    body: bytes
    fields: Mapping[str, Any]
    """The content of a JSON body."""
    store: Store

    def check_unchanged(self) -> None:
        """Check after a wait that the sandbox was not reset or deleted. Raises Problem with status 409."""
        sandboxes = self.plane.sandboxes
        if (
            sandboxes.by_id.get(self.sandbox.id) is not self.sandbox
            or self.sandbox.store is not self.store
        ):
            raise Problem(
                "invalid_request",
                "the sandbox was reset while this request was being answered",
                status=409,
            )
        self.now = engine.enter(self.sandbox)


Handler: TypeAlias = Callable[[ControlCall], Any]
"""Returns (or promises) the answer: a value for JSON, None for no body, or a response of another kind."""
JSON: Final = "application/json"
YAML: Final = "application/yaml"
STATE_FILE: Final = "application/zip"

MAX_IMAGE_BYTES: Final = 70 * 1024 * 1024
"""The limit of an upload."""
_MAX_VALUES: Final = 50_000
"""Values in a body of JSON: more than twice those that a scenario may have."""


_OWN_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
"""The state of a sandbox must not be cached, nor shown in a page of another origin."""


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


_PAGES: Final = {
    "": "show_page",
    "/reference": "show_reference",
    "/page/{file}": "show_file",
}
"""The paths of the control plane that its contract does not have, and their handlers."""


def _routes(
    handlers: Mapping[str, Handler],
) -> Iterator[tuple[re.Pattern[str], Mapping[str, Action]]]:
    """Iterate over the patterns of all paths, each with its actions by method.

    What concerns one sandbox acts on `default`, and below `/sandboxes/{sandbox}` on another.
    """
    for path, name in _PAGES.items():
        yield (
            _pattern(path),
            {"GET": Action(handlers[name], query={"sandbox": "Sandbox"})},
        )
    for path, item in contract()["paths"].items():
        actions = {
            method.upper(): _action(handlers, one)
            for method, one in item.items()
            if method != "servers"
        }
        yield _pattern(path), actions
        if "servers" not in item:
            yield _pattern(f"/sandboxes/{{sandbox}}{path}"), actions


def _action(handlers: Mapping[str, Handler], operation: Mapping[str, Any]) -> Action:
    """Return the action of an operation of the contract: `getClock` is answered by `get_clock`."""
    name = re.sub(
        "[A-Z]", lambda capital: f"_{capital[0].lower()}", operation["operationId"]
    )
    body = operation.get("requestBody", {})
    known = contract()["components"]["parameters"]
    components = [
        one["$ref"].rpartition("/")[2] for one in operation.get("parameters", ())
    ]
    query = {
        known[one]["name"]: one for one in components if known[one]["in"] == "query"
    }
    status = int(next(iter(operation["responses"])))
    return Action(
        handlers[name],
        query,
        body.get("content", {}),
        body.get("required", False),
        status,
    )


async def in_slices(
    values: Iterable[Any], describe: Callable[[Any], Any]
) -> list[orjson.Fragment]:
    """Describe many values as JSON, ten at a time, between which other requests are served."""
    described = list[orjson.Fragment]()
    for number, value in enumerate(values, start=1):
        described.append(orjson.Fragment(orjson.dumps(describe(value))))
        if number % 10 == 0:
            await asyncio.sleep(0)
    return described


# From a request to its answer ---------------------------------------------------------------------------------------


class Control:
    """The control plane as an ASGI application: gives each request an id, and answers it or its refusal."""

    def __init__(self, plane: ControlPlane, handlers: Mapping[str, Handler]) -> None:
        """`handlers` are the functions of the operations, by their names."""
        self._plane = plane
        self._routes = list(_routes(handlers))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        head = Head(scope, self._plane.settings.public_url)
        body = Body(receive, head.has_body())
        request_id = self._plane.identifiers.next(REQUEST_ID_KIND)

        async def finish(message: Message) -> None:
            if head.method == "HEAD" and "body" in message:
                message["body"] = b""
            if body.has_more and "body" in message and not message.get("more_body"):
                await send({**message, "more_body": True})
                await body.drain()
                message["body"] = b""
            await send(message)

        try:
            response = await self._answer(head, body)
        except ClientDisconnectedError:
            return
        except Exception as error:
            response = _refuse(error, head, request_id)
        response.headers["Request-Id"] = request_id
        for name, value in _OWN_HEADERS.items():
            response.headers.setdefault(name, value)
        await response(scope, receive, finish)

    async def _answer(self, head: Head, body: Body) -> Response:
        plane = self._plane
        _check_token(head, plane.settings.control_token)
        action, parameters = self._find(head)
        async with plane.taking_file if STATE_FILE in action.body else nullcontext():
            content = await _read_body(plane, action, head, body)
            query = _read_parameters(head.query_string, action.query)
            sandbox = plane.find_sandbox(parameters.get("sandbox"))
            fields = _read_fields(action, head, content)
            now = engine.enter(sandbox)
            call = ControlCall(
                plane,
                head,
                sandbox,
                now,
                parameters,
                query,
                content,
                fields,
                sandbox.store,
            )
            value = action.handler(call)
            if isinstance(value, Awaitable):
                value = await value
        if isinstance(value, Response):
            return value
        content = b"" if value is None else orjson.dumps(value)
        return Response(
            content, action.status, media_type=None if value is None else JSON
        )

    def _find(self, head: Head) -> tuple[Action, Mapping[str, str]]:
        """Find the action of a request, and the parts of its path; a slash within one came as `%2F`. Raises Problem."""
        for pattern, actions in self._routes:
            if match := pattern.fullmatch(head.path):
                action = actions.get("GET" if head.method == "HEAD" else head.method)
                if action is None:
                    raise method_not_allowed(
                        head.method, {*actions, *(["HEAD"] if "GET" in actions else [])}
                    )
                return action, {
                    name: part.replace("%2F", "/")
                    for name, part in match.groupdict().items()
                }
        raise Problem(
            "not_found",
            f"{excerpt(head.path)}: there is no such path",
            check=Check.ROUTE,
        )


def _pattern(path: str) -> re.Pattern[str]:
    """Return the pattern of a path: a parameter is one step of it; the path of a page has several."""
    path = path.replace("{path}", "(?P<path>.+)")
    return re.compile(re.escape(PREFIX) + re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", path))


def _check_token(head: Head, token: str | None) -> None:
    """Require the control token, if there is one; health, for which others wait, and the page's own files need none.

    Raises:
        Problem: authentication_required.
    """
    if token is None or head.path == f"{PREFIX}/health" or is_own_file(head.path):
        return
    found = head.bearer_key()
    if found is None or not hmac.compare_digest(
        found.encode("latin-1"), token.encode()
    ):
        detail = f"Authorization: found {'another' if found else 'none'}; expected `Bearer` and the control token"
        raise Problem("authentication_required", detail, check=Check.CREDENTIAL)


async def _read_body(
    plane: ControlPlane, action: Action, head: Head, body: Body
) -> bytes:
    """Read the body. Raises Problem invalid_request, with status 413 for one that is too large."""
    if not body.has_more:
        return b""
    limits = {"image/png": MAX_IMAGE_BYTES, STATE_FILE: plane.settings.max_memory}
    limit_bytes = next(
        (limits[name] for name in action.body if name in limits), MAX_BYTES
    )
    content = (
        await body.read(limit_bytes) if head.announced_bytes() <= limit_bytes else None
    )
    if not action.body:
        check_no_body(content)
    if content is None:
        expected = (
            f"at most --max-memory {limit_bytes}"
            if STATE_FILE in action.body
            else "fewer"
        )
        raise Problem(
            "invalid_request",
            f"(body): found more than {limit_bytes} bytes; expected {expected}",
            status=413,
        )
    return content


def _refuse(error: Exception, head: Head, request_id: str) -> Response:
    """Answer with a problem, in the form of the service's."""
    if isinstance(error, DocumentError):
        error = Problem("invalid_request", str(error))
    problem = (
        error if isinstance(error, Problem) else head.internal_error(error, request_id)
    )
    rendered = problem_answer(problem, request_id, problem.retry_after)
    response = Response(rendered.body, rendered.status)
    response.raw_headers = list(rendered.headers)
    return response


# Bodies and queries by the contract ----------------------------------------------------------------------------------


@cache
def contract() -> dict[str, Any]:
    """Return the contract of the control plane."""
    return dict(shipped_document("contract/control-plane.yaml"))


@cache
def schemas() -> Schemas:
    """Return the schemas of bodies and parameters."""
    return Schemas(contract())


def _read_fields(action: Action, head: Head, content: bytes) -> Any:
    """Return the values of a body that is JSON by its schema. Raises Problem with all that is wrong."""
    content_type = head.headers.get(b"content-type")
    if YAML in action.body and content_type is not None:
        _check_document_type(content_type.decode("latin-1"), action.body)
    if action.schema is None:
        return {}
    is_sent = content or action.needs_body
    value = parse_json(content, content_type, _MAX_VALUES) if is_sent else {}
    violations = schemas().violations(
        action.schema, value, first_only=len(content) > LARGE_BODY_BYTES
    )
    if violations:
        raise Problem("invalid_request", listed(violations))
    return schemas().value(action.schema, value)


def _check_document_type(content_type: str, media_types: Iterable[str]) -> None:
    """Refuse a document of a media type that the contract does not name.

    Raises:
        Problem: invalid_request.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type not in media_types:
        found = f"found {excerpt(content_type)}"
        expected = f"expected {' or '.join(media_types)}"
        raise Problem("invalid_request", f"Content-Type: {found}; {expected}")


def _read_parameters(
    query_string: bytes, parameters: Mapping[str, str]
) -> dict[str, Any]:
    """Return the values of a query, with defaults; `parameters` are the components of the contract by their names.

    Raises:
        Problem: invalid_request.
    """
    known = contract()["components"]["parameters"]
    values = {
        name: known[component]["schema"].get("default")
        for name, component in parameters.items()
    }
    for name, text in read_query(query_string, parameters).items():
        component = parameters[name]
        is_number = known[component]["schema"].get("type") == "integer"
        number = number_in(text) if is_number else None
        values[name] = text if number is None else number
        for violation in schemas().violations(
            f"#/components/parameters/{component}/schema", values[name]
        ):
            raise invalid_value(name, text, violation.expected)
    return values


def invalid_value(
    where: str, found: Any, expected: str, suggestions: Sequence[str] = ()
) -> Problem:
    """Build the refusal of a field or a query parameter: its place, the value, what was expected, what may be meant."""
    return Problem(
        "invalid_request",
        f"{where or '(body)'}: {clause(excerpt(found), expected, suggestions)}",
    )


def number_in(text: str) -> int | None:
    """Return the whole number from 0 to `MAX_INTEGER` that a text writes; None for any other text."""
    is_number = (
        text.isascii() and text.isdecimal() and len(text) <= len(str(MAX_INTEGER))
    )
    return int(text) if is_number and int(text) <= MAX_INTEGER else None
