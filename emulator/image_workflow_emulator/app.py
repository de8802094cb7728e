"""The application: settings in, one Starlette application out.

Puts the rooms together and knows what lies under which path: `/v1` is the service,
`/files` and `/direct-uploads` are its byte surfaces, `/_emulator` is the control plane.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from image_workflow_emulator.contract import Contract, load_contract
from image_workflow_emulator.control import PREFIX
from image_workflow_emulator.documents.document import read_document
from image_workflow_emulator.documents.files import STATE_ROWS_BYTES, read_file
from image_workflow_emulator.domain.readings import NO_READINGS
from image_workflow_emulator.http.browser_redirects import ICON, BrowserRedirect
from image_workflow_emulator.http.door import Door
from image_workflow_emulator.http.drain import Drain
from image_workflow_emulator.http.guard import Guard, is_loopback
from image_workflow_emulator.http.stops import Stop
from image_workflow_emulator.imaging.done_jobs import JobFolder
from image_workflow_emulator.imaging.helpers import Helpers
from image_workflow_emulator.kernel.seed import Identifiers
from image_workflow_emulator.scenario.named_files import scenario_file
from image_workflow_emulator.scenario.readings import readings_of_option
from image_workflow_emulator.scenario.scenario import NO_SCENARIO, Scenario
from image_workflow_emulator.scenario.scenario_reader import parse_scenario
from image_workflow_emulator.scenario.world import (
    World,
    built_in_world,
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


class Application(Starlette):
    """The whole emulator: `/v1`, its byte surfaces, and the control plane.

    To be closed, which the end of the lifespan does. Several may share the helper
    processes of their image work.
    """

    def __init__(
        self,
        settings: Settings,
        helpers: Helpers | None = None,
        *,
        is_served: bool = False,
    ) -> None:
        """Build it from its settings.

        `is_served`: it is served on the host that they name, where browsers may find it.

        Raises:
            DocumentError: a file that cannot be used.
            OSError: a file that cannot be read.
            UsageError: a state file that cannot be loaded.
        """
        self.settings = settings
        self.contract = load_contract()
        self.sandboxes = Sandboxes(
            MemoryBudget(settings.max_memory),
            settings.journal_requests,
        )
        self._given: bytes | None = None
        if settings.given is not None:
            self._given = read_file(settings.given)
        self._options = sandbox_options(settings, self.contract)
        self._fault = _scenario(settings.fault, self.contract, self._options.world)
        self.sandboxes.create(DEFAULT_SANDBOX_ID, self._options)
        if settings.state is not None:
            self._load_state(settings.state)
        self._helpers = helpers or _helpers(settings)
        self._pictures = PictureWorker(self._helpers, self.sandboxes.memory)
        self._stop = Stop()
        self._identifiers = Identifiers(-1)
        """The ids of requests that no surface gets, which must not change the
        Request-Ids of a test."""
        self._service = Service(
            self.contract,
            self.sandboxes,
            self._pictures,
            settings.public_url,
            self._stop,
            sends_whole=not settings.cors,
        )
        # On the loopback no client uses a name of the local network, but a rebound web
        # page may: refuse such names.
        trusts_network = not (is_served and is_loopback(settings.host))
        door = Middleware(
            Door,
            guard=Guard(settings, trusts_network=trusts_network),
            identifiers=self._identifiers,
            public_url=settings.public_url,
        )
        service = _with_cors(self._service, settings.cors)
        super().__init__(
            routes=self._routes(service),
            middleware=[Middleware(Drain), door],
            lifespan=_closing_helpers,
        )
        self.router.redirect_slashes = False
        self.router.default = service  # any other path: 404, in the journal

    def _routes(self, service: ASGIApp) -> list[BaseRoute]:
        """Return what lies under which path; the first row that fits answers."""
        control = ImportedLater(self._create_control)
        ids = self._identifiers
        return [
            Mount("/v1", service, name="v1"),
            Mount("/files", service, name="files"),
            Mount("/direct-uploads", service, name="direct-uploads"),
            Route(PREFIX, control, name="page"),
            Route(f"{PREFIX}/", BrowserRedirect("../_emulator", control, ids, "ctl")),
            Route(f"{PREFIX}/{{path:path}}", control, name="control"),
            Route("/", BrowserRedirect("_emulator", service, ids, "req")),
            Route("/favicon.ico", BrowserRedirect(ICON, service, ids, "req")),
        ]

    def _create_control(self) -> ASGIApp:
        from image_workflow_emulator.control.application import Control
        from image_workflow_emulator.control.plane import ControlPlane

        plane = ControlPlane(
            self.sandboxes,
            self.contract,
            self.settings,
            self._options,
            self._pictures.data,
            self._pictures.decode,
            self._service.ask_off_record,
            self._stop,
            given=self._given,
            scenario_for_none=self._fault,
        )
        return Control(plane)

    def _load_state(self, file: str) -> None:
        """Let the default sandbox start from a state file. Raises UsageError, OSError."""
        from image_workflow_emulator.service.state import archive

        max_memory = self.settings.max_memory
        content = read_file(file, max_memory + STATE_ROWS_BYTES)
        try:
            sandbox = archive.load(
                content,
                DEFAULT_SANDBOX_ID,
                max_memory,
                self.contract,
            )
            self.sandboxes.replace(sandbox)
        except (archive.StateError, SandboxConflictError) as error:
            raise UsageError(f"{file}: {error}") from None

    def stop(self) -> None:
        """Let the requests in flight come to their end: what only a scenario keeps
        waiting waits no longer.
        """
        self._stop.begin()
        for sandbox in self.sandboxes.by_id.values():
            for held in sandbox.held_admissions.values():
                held.ended.set()

    def close(self) -> None:
        """End the helper processes: uploads that they are decoding are refused."""
        self._helpers.close()

    async def end_drawings(self) -> None:
        """Wait for the drawings that the end of the helper processes has ended."""
        await self._pictures.end()


def _with_cors(service: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """Let pages of some origins call the service and read its answers.

    The service itself decides on methods and headers.
    """
    if not origins:
        return service
    return CORSMiddleware(
        service,
        allow_origins=origins,
        allow_methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
        allow_headers=["*"],
        allow_private_network=True,
        expose_headers=_EXPOSED_HEADERS,
    )


@asynccontextmanager
async def _closing_helpers(application: Starlette) -> AsyncIterator[None]:
    assert isinstance(application, Application)
    yield
    application.close()
    await application.end_drawings()


class ImportedLater:
    """An ASGI application that is imported and made for its first request.

    The start of the emulator does not wait for it.
    """

    def __init__(self, create: Callable[[], ASGIApp]) -> None:
        self._create = create
        self._app: ASGIApp | None = None

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Answer one request."""
        if self._app is None:
            self._app = self._create()
        await self._app(scope, receive, send)


def _helpers(settings: Settings) -> Helpers:
    """Return helpers that share a folder with other emulators, if there is one."""
    if settings.job_folder is None:
        return Helpers()
    folder = JobFolder(Path(settings.job_folder))
    return Helpers(folder)


def sandbox_options(settings: Settings, contract: Contract) -> SandboxOptions:
    """Read the files that the settings name, and return how the default sandbox begins.

    Raises:
        DocumentError: a file that cannot be used.
        OSError: a file that cannot be read.
    """
    world = built_in_world()
    if settings.world is not None:
        content = read_file(settings.world)
        world = world_of(read_document(content, settings.world))
    readings = None
    if settings.readings is not None:
        readings = readings_of_option(settings.readings)
    found_readings = NO_READINGS
    if settings.found_readings:
        found_readings = readings_of_option(settings.found_readings)
    return SandboxOptions(
        seed=settings.seed,
        clock=settings.clock,
        start=settings.start,
        rate_limits=settings.rate_limits,
        evolution=settings.evolution,
        readings=readings,
        found_readings=found_readings,
        world=world,
        scenario=_scenario(settings.scenario, contract, world),
    )


def _scenario(
    name_or_file: str | None,
    contract: Contract,
    world: World,
) -> Scenario:
    """Read a scenario from a file, or by its name from the library."""
    if name_or_file is None:
        return NO_SCENARIO
    file = scenario_file(name_or_file)
    if file is not None:
        names = world_names(world)
        return parse_scenario(read_file(file), name_or_file, contract, names)
    from image_workflow_emulator.scenario.library import ScenarioLibrary

    return ScenarioLibrary(contract).load(name_or_file, world_names(world))
