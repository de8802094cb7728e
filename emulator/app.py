"""The application: settings in, one ASGI application out. Puts the rooms together and knows what lies under which path.

`/v1` is the service, `/files` and `/direct-uploads` are the byte surfaces it links to, `/_emulator` is the control plane.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from emulator.contract import BASE_PATH, Contract, load_contract
from emulator.control import PREFIX as CONTROL_PREFIX
from emulator.documents import shipped_path
from emulator.domain.problems import Check, Problem, excerpt
from emulator.http.requests import Receive, Request, Scope, Send, send_response
from emulator.http.responses import problem_response
from emulator.http.stopping import Stop
from emulator.imaging.helpers import Helpers
from emulator.kernel.timestamps import format_timestamp
from emulator.scenario.scenario import NO_SCENARIO, Scenario
from emulator.scenario.world import BUILT_IN_WORLD, WorldFile, world_names
from emulator.service.images import MemoryBudget
from emulator.service.sandbox import DEFAULT_SANDBOX_ID, Sandbox, SandboxOptions
from emulator.service.sandboxes import Sandboxes
from emulator.settings import Settings
from emulator.web.direct_uploads import DirectUploads
from emulator.web.files import Files
from emulator.web.links import DIRECT_UPLOADS_PREFIX, FILES_PREFIX
from emulator.web.pictures import PictureWorker
from emulator.web.road import Road

if TYPE_CHECKING:
    from starlette.types import ASGIApp


@dataclass(frozen=True, slots=True)
class StartUpSummary:
    """What a person needs to know at start: the keys, each with its Team and a note, and how the clock runs."""

    keys: Sequence[tuple[str, str, str]]
    clock: str


class Application:
    """The whole emulator as an ASGI application, to be closed. Several may share helpers for their image work."""

    def __init__(self, settings: Settings, helpers: Helpers | None = None) -> None:
        self.settings = settings
        self.contract = load_contract()
        self.sandboxes = Sandboxes(MemoryBudget(settings.max_memory))
        self._options = sandbox_options(settings, self.contract)
        self.sandboxes.create(DEFAULT_SANDBOX_ID, self._options)
        self._helpers = helpers or Helpers()
        self._pictures = pictures = PictureWorker(self._helpers)
        self._stop = Stop()
        self._road = Road(self.contract, self.sandboxes, pictures, settings.public_url, self._stop)
        self._files = Files(self.sandboxes, pictures, settings.public_url)
        self._direct_uploads = DirectUploads(self.sandboxes, settings.public_url)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request to the surface that its path belongs to."""
        if scope["type"] != "http":
            return
        path: str = scope["path"]
        if path.startswith(BASE_PATH + "/"):
            await self._road(scope, receive, send)
        elif path.startswith(FILES_PREFIX):
            await self._files(scope, receive, send)
        elif path.startswith(DIRECT_UPLOADS_PREFIX):
            await self._direct_uploads(scope, receive, send)
        elif path == CONTROL_PREFIX or path.startswith(CONTROL_PREFIX + "/"):
            await self._control(scope, receive, send)
        else:
            await self._refuse(scope, send)

    @cached_property
    def _control(self) -> "ASGIApp":
        # Imported when the first request comes: the start does not wait for Starlette.
        from emulator.control.application import create_control

        return create_control(self.sandboxes, self.contract, self.settings, self._options, self._pictures, self._stop)

    async def _refuse(self, scope: Scope, send: Send) -> None:
        """Refuse a path that belongs to no surface; whose key it brought finds it in the journal."""
        request = Request(scope, self.settings.public_url)
        caller = self.sandboxes.find_caller(request.bearer_key() or "")
        sandbox = caller.sandbox if caller else self.sandboxes.default
        journal, request_id = sandbox.journal, sandbox.identifiers.next("req")
        entry = journal.arrive(sandbox.clock.now(), request_id, request.method, request.path, caller)
        entry.problem = Problem(
            "not_found",
            f"{excerpt(request.path)}: there is no such path; the API is under {BASE_PATH}",
            check=Check.ROUTE,
            remedy=f"put {BASE_PATH} before the path, or use one that the contract has",
        )
        response = problem_response(entry.problem, request_id, None)
        entry.status, entry.response_body = response.status, response.body
        journal.leave(entry)
        await send_response(send, response)

    def stop(self) -> None:
        """Let the requests in flight come to their end: what only a scenario keeps waiting waits no longer."""
        self._stop.begin()
        for sandbox in self.sandboxes.by_id.values():
            for held in sandbox.held_admissions.values():
                held.end()

    def close(self) -> None:
        """End the helper processes: uploads that they are decoding are refused."""
        self._helpers.close()

    def start_up_summary(self) -> StartUpSummary:
        """Describe the default sandbox to the person who started it."""
        sandbox = self.sandboxes.default
        return StartUpSummary([_describe_key(sandbox, key) for key in sandbox.credentials], _describe_clock(sandbox))


def _describe_key(sandbox: Sandbox, key: str) -> tuple[str, str, str]:
    credential, now = sandbox.credentials[key].credential, sandbox.clock.now()
    state = "expired" if now >= credential.expires_at else credential.state
    return sandbox.accounts[credential.team_id].team.name, key, credential.profile if state == "active" else state


def _describe_clock(sandbox: Sandbox) -> str:
    setting = sandbox.clock.setting
    mode = f"real, {setting.rate:g} times as fast" if setting.rate != 1 else setting.mode
    return f"{mode}, at {format_timestamp(sandbox.clock.now())}"


def sandbox_options(settings: Settings, contract: Contract) -> SandboxOptions:
    """Read the files that the settings name, and return how the default sandbox begins.

    Raises:
        DocumentError: a file that cannot be used.
        OSError: a file that cannot be read.
    """
    world = _world(settings.world)
    return SandboxOptions(
        seed=settings.seed,
        clock=settings.clock,
        start=settings.start,
        rate_limits=settings.rate_limits,
        world=world,
        scenario=_scenario(settings.scenario, contract, world),
    )


def _world(file: str | None) -> WorldFile:
    if file is None:
        return BUILT_IN_WORLD
    from emulator.scenario.world_format import parse_world

    return parse_world(Path(file).read_bytes(), file)


def _scenario(name_or_file: str | None, contract: Contract, world: WorldFile) -> Scenario:
    """Read a scenario from a file, or by its name from the library; a file of that name wins."""
    if name_or_file is None:
        return NO_SCENARIO
    from emulator.scenario.format import parse_scenario
    from emulator.scenario.library import ScenarioLibrary

    path = Path(name_or_file)
    if path.suffix or path.is_file():
        return parse_scenario(path.read_bytes(), name_or_file, contract.facts(), world_names(world))

    library = ScenarioLibrary(shipped_path("scenarios"), contract.facts())
    return library.load(name_or_file, world_names(world))


def create_application(settings: Settings, helpers: Helpers | None = None) -> Application:
    """Build the emulator from its settings; raises as `sandbox_options` does."""
    return Application(settings, helpers)
