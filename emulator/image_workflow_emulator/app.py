"""The application: settings in, one ASGI application out. Puts the rooms together and knows what lies under which path.

`/v1` is the service, `/files` and `/direct-uploads` are its byte surfaces, `/_emulator` is the control plane.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias

from image_workflow_emulator.contract import Contract, load_contract
from image_workflow_emulator.control import DOCUMENTS, PREFIX, REQUEST_ID_KIND
from image_workflow_emulator.documents.document import read_document
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.readings import NO_READINGS
from image_workflow_emulator.http.guard import Guard, is_loopback
from image_workflow_emulator.http.requests import (
    Body,
    Receive,
    Request,
    Scope,
    Send,
    Stop,
)
from image_workflow_emulator.http.responses import Response, problem_response
from image_workflow_emulator.imaging.helpers import Helpers
from image_workflow_emulator.kernel.seed import Identifiers
from image_workflow_emulator.scenario.named_files import scenario_file
from image_workflow_emulator.scenario.scenario import (
    NO_SCENARIO,
    Scenario,
    parse_scenario,
)
from image_workflow_emulator.scenario.world import (
    World,
    built_in_world,
    readings_of_option,
    world_names,
    world_of,
)
from image_workflow_emulator.service.sandbox.images import MemoryBudget
from image_workflow_emulator.service.sandbox.sandbox import (
    DEFAULT_SANDBOX_ID,
    SandboxOptions,
)
from image_workflow_emulator.service.sandbox.sandboxes import (
    SandboxConflictError,
    Sandboxes,
)
from image_workflow_emulator.settings import Settings, UsageError
from image_workflow_emulator.web.asgi import Service
from image_workflow_emulator.web.pictures import PictureWorker
from image_workflow_emulator.web.rendering import FILES_PREFIX
from image_workflow_emulator.web.wire import Wire

AsgiApplication: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Answer: TypeAlias = Callable[[Request, Receive, Send], Awaitable[None]]
_REQUEST: Final = "emulator.request"
_EXPOSED_HEADERS: Final = (
    "Request-Id",
    "Retry-After",
    "Location",
    "Deprecation",
    "Sunset",
    "Link",
    "Emulator-Rule",
)
"""The headers that a page of another origin may read beyond those that every page may."""
_BROWSERS_OWN: Final = {
    "/": b"_emulator",
    "/favicon.ico": b"_emulator/page/icon.svg",
    "/_emulator/": b"../_emulator",
}
"""Paths that browsers ask for or people type, with their redirects: relative, to stay below a public address. A client
with a wrong base URL has a key, and gets none.
"""


class Application:
    """The whole emulator as an ASGI application. To be closed.

    Several may share the helper processes of their image work.
    """

    def __init__(
        self,
        settings: Settings,
        helpers: Helpers | None = None,
        *,
        is_served: bool = False,
    ) -> None:
        """Build it from its settings; `is_served` on the host that they name, where browsers may find it.

        Raises as `sandbox_options` does, and UsageError for a bad state file.
        """
        self.settings = settings
        self._given = (
            None if settings.given is None else Path(settings.given).read_bytes()
        )
        self.contract = load_contract()
        self.sandboxes = Sandboxes(
            MemoryBudget(settings.max_memory), settings.journal_requests
        )
        # On the loopback no client uses a name of the local network, but a rebound web page may: refuse such names.
        trusts_network = not (is_served and is_loopback(settings.host))
        self._guard = Guard(settings, trusts_network=trusts_network)
        self._identifiers = Identifiers(-1)
        """The ids of requests that no surface gets, which must not change the Request-Ids of a test."""
        self._options = sandbox_options(settings, self.contract)
        self.sandboxes.create(DEFAULT_SANDBOX_ID, self._options)
        self._helpers = helpers or Helpers()
        self._pictures = PictureWorker(self._helpers)
        self._stop = Stop()
        self._own_service = Service(
            self.contract,
            self.sandboxes,
            self._pictures,
            settings.public_url,
            self._stop,
        )
        self._service: Answer = (
            _with_cors(self._own_service, settings.cors)
            if settings.cors
            else self._own_service
        )
        if settings.state is not None:
            self._load_state(settings.state)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the control plane or to the service, if it is accepted."""
        if scope["type"] != "http":
            return
        request = Request(scope, self.settings.public_url)
        path: str = scope["path"]
        is_control = path.startswith(PREFIX) and path[len(PREFIX) :][:1] in ("", "/")
        if path.startswith(FILES_PREFIX):
            request.embedding = self._guard.picture_policy(request)
        answer = self._answer_at_door(request, path, is_control)
        if answer is not None:
            await Wire(request, receive, send, Body(receive), self._stop).send(answer)
        elif is_control:
            await self._control(scope, receive, send)
        else:
            await self._service(request, receive, send)

    def _answer_at_door(
        self, request: Request, path: str, is_control: bool
    ) -> Response | None:
        """Return the answer to a refused request, or to one that browsers make by habit; None for any other."""
        try:
            self._guard.check_host(request)
            if (
                path in _BROWSERS_OWN
                and request.method in ("GET", "HEAD")
                and b"authorization" not in request.headers
            ):
                query = b"?" + request.query_string if request.query_string else b""
                request_id = self._next_request_id(is_control).encode()
                target = (b"location", _BROWSERS_OWN[path] + query)
                return Response(
                    302,
                    (target, (b"content-length", b"0"), (b"request-id", request_id)),
                    b"",
                )
            if is_control:
                self._guard.check_own_page(request, is_document=path in DOCUMENTS)
            else:
                self._guard.check_page(request)
        except Problem as problem:
            return problem_response(problem, self._next_request_id(is_control), None)
        return None

    def _next_request_id(self, is_control: bool = False) -> str:
        return self._identifiers.next(REQUEST_ID_KIND if is_control else "req")

    @cached_property
    def _control(self) -> AsgiApplication:
        # Imported when the first request comes: the start does not wait for Starlette.
        from image_workflow_emulator.control.application import create_control
        from image_workflow_emulator.control.dispatch import ControlPlane

        plane = ControlPlane(
            self.sandboxes,
            self.contract,
            self.settings,
            self._options,
            self._pictures.data,
            self._pictures.decode,
            self._own_service.ask_off_record,
            self._stop,
            given=self._given,
        )
        return create_control(plane)

    def _load_state(self, file: str) -> None:
        """Let the default sandbox start from a state file. Raises UsageError, OSError."""
        from image_workflow_emulator.service.state import archive

        try:
            content = Path(file).read_bytes()
            self.sandboxes.replace(
                archive.load(
                    content, DEFAULT_SANDBOX_ID, self.settings.max_memory, self.contract
                )
            )
        except (archive.StateError, SandboxConflictError) as error:
            raise UsageError(f"{file}: {error}") from None

    def stop(self) -> None:
        """Let the requests in flight come to their end: what only a scenario keeps waiting waits no longer."""
        self._stop.begin()
        for sandbox in self.sandboxes.by_id.values():
            for held in sandbox.held_admissions.values():
                held.ended.set()

    def close(self) -> None:
        """End the helper processes: uploads that they are decoding are refused."""
        self._helpers.close()


def _with_cors(service: Service, origins: Sequence[str]) -> Answer:
    """Let pages of some origins call the service and read its answers: it decides itself on methods and headers."""
    from starlette.middleware.cors import CORSMiddleware

    cors = CORSMiddleware(
        lambda scope, receive, send: service(scope.pop(_REQUEST), receive, send),
        allow_origins=origins,
        allow_methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
        allow_headers=["*"],
        allow_private_network=True,
        expose_headers=_EXPOSED_HEADERS,
    )

    def answer(request: Request, receive: Receive, send: Send) -> Awaitable[None]:
        request.scope[_REQUEST], request.can_send_whole = request, False
        return cors(request.scope, receive, send)

    return answer


def sandbox_options(settings: Settings, contract: Contract) -> SandboxOptions:
    """Read the files that the settings name, and return how the default sandbox begins.

    Raises:
        DocumentError: a file that cannot be used.
        OSError: a file that cannot be read.
    """
    file = settings.world
    world = (
        built_in_world()
        if file is None
        else world_of(read_document(Path(file).read_bytes(), file))
    )
    scenario = _scenario(settings, contract, world)
    return SandboxOptions(
        seed=settings.seed,
        clock=settings.clock,
        start=settings.start,
        rate_limits=settings.rate_limits,
        evolution=settings.evolution,
        readings=None
        if settings.readings is None
        else readings_of_option(settings.readings),
        found_readings=readings_of_option(settings.found_readings)
        if settings.found_readings
        else NO_READINGS,
        world=world,
        scenario=scenario,
    )


def _scenario(settings: Settings, contract: Contract, world: World) -> Scenario:
    """Read a scenario from a file, or by its name from the library."""
    name_or_file = settings.scenario
    if name_or_file is None:
        return NO_SCENARIO
    from image_workflow_emulator.scenario.library import ScenarioLibrary

    file = scenario_file(name_or_file)
    if file is not None:
        return parse_scenario(
            file.read_bytes(), name_or_file, contract, world_names(world)
        )
    return ScenarioLibrary(contract).load(name_or_file, world_names(world))
