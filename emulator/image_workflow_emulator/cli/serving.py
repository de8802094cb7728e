"""The `serve` command: one uvicorn server around the application, from the bound port to the last answer.

Owns the start-up message, the `ready` line and signals.
"""

import asyncio
import logging
import shlex
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from image_workflow_emulator import __version__
from image_workflow_emulator.cli.invocation import Invocation, table_lines
from image_workflow_emulator.cli.start_up import make_given, started
from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.control import PREFIX
from image_workflow_emulator.imaging.memory import give_back_large_blocks
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.scenario.named_files import scenario_file
from image_workflow_emulator.server.server import WatchedServer
from image_workflow_emulator.settings import read_settings

if TYPE_CHECKING:
    from image_workflow_emulator.app import Application
    from image_workflow_emulator.service.sandbox.sandbox import Sandbox

_LOGGER = logging.getLogger("image_workflow_emulator.cli")
_TICKS_A_SECOND = 10
"""Of uvicorn."""
GRACE_SECONDS = 8
"""How long requests in flight may take to finish after SIGTERM: less than the 10 s after which containers are killed."""
TRANSFER_GRACE_SECONDS = 7
"""How long bodies and answers may take that are still on their way; then their connections are cut."""
UNWIND_SECONDS = 1
"""How long requests may take to end once their connections are cut."""
IMAGE_GRACE_SECONDS = 4
"""How much of this image work may take, so that its clients still get their answers; usual images need a tenth."""


def serve(call: Invocation) -> None:
    """Serve until SIGTERM or Ctrl-C, let the requests in flight finish.

    Raises UsageError or DocumentError for settings and files that cannot be used, CommandError if the port is taken.
    """
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))  # until it is ready
    settings = read_settings(vars(call.options), call.environment)
    with started(settings, call.environment) as (listener, address, application):
        message = _start_up_message(settings.public_url or address, application.sandboxes.default)
        scenario = scenario_file(settings.scenario) if settings.scenario else None
        _AnnouncingServer(application, address, message, scenario).run(sockets=[listener])


class _AnnouncingServer(WatchedServer):
    """A server that prints when it is ready, and for which a signal to stop is not a failure.

    It logs when the file of its scenario changed, which takes effect when it is used again.
    """

    def __init__(self, application: "Application", address: str, message: str, scenario: Path | None) -> None:
        super().__init__(application, GRACE_SECONDS)
        self._application = application
        self._address = address
        self._announcement = f"{message}\nready {address}{BASE_PATH}"
        self._scenario = scenario
        self._scenario_changed_at = _changed_at(scenario)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        await make_given(self._application.settings, self._address)
        print(self._announcement, flush=True)
        give_back_large_blocks()

    async def on_tick(self, counter: int) -> bool:
        """Look once a second whether the file of the scenario changed."""
        if self._scenario is not None and counter % _TICKS_A_SECOND == 0:
            changed_at = _changed_at(self._scenario)
            if changed_at not in (None, self._scenario_changed_at):
                self._scenario_changed_at = changed_at
                name = shlex.quote(str(self._scenario))
                _LOGGER.warning("%s changed; use it: image-workflow-emulator scenario use %s", self._scenario, name)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._application.stop()
        loop = asyncio.get_running_loop()
        loop.call_later(IMAGE_GRACE_SECONDS, self._application.close)
        loop.call_later(TRANSFER_GRACE_SECONDS, self._end_transfers)
        await super().shutdown(sockets)
        self._application.close()
        if self.server_state.tasks:  # of connections that were cut: a cancelled one would be logged as a defect
            await asyncio.wait(self.server_state.tasks, timeout=UNWIND_SECONDS)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop at the first signal, and at once at the second, whichever they are."""
        if self.should_exit and not self.force_exit:
            self.force_exit = True
            asyncio.get_running_loop().call_soon_threadsafe(self.cut_connections)
        self.should_exit = True

    def _end_transfers(self) -> None:
        number = self.cut_connections()
        if number:
            _LOGGER.warning("cut %d connections whose requests did not end within %d s", number, TRANSFER_GRACE_SECONDS)

    def cut_connections(self) -> int:
        self._application.close()  # no request waits for image work any more
        return super().cut_connections()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn would end the process by the signal it caught; here the caller returns a status of its own.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.handle_exit)
        yield


def _changed_at(file: Path | None) -> int | None:
    """Return when a file was changed; None where there is none."""
    try:
        return None if file is None else file.stat().st_mtime_ns
    except OSError:
        return None


def _start_up_message(address: str, sandbox: "Sandbox") -> str:
    now, setting = sandbox.clock.now(), sandbox.clock.setting
    mode = f"real, {setting.rate:g} times as fast" if setting.rate != 1 else setting.mode
    rows = []
    for key, caller in sandbox.credentials.items():
        state = caller.credential.state_at(now)
        team = sandbox.accounts[caller.credential.team_id].team.name
        rows.append((team, key, caller.credential.profile if state == "active" else state))
    lines = table_lines((), rows, None)
    example = rows[0][1] if rows else "KEY"
    return "\n".join(
        [
            f"Image Workflow Emulator {__version__}",
            "",
            f"  base URL  {address}{BASE_PATH}",
            f"  page      {address}{PREFIX}",
            f"  clock     {mode}, at {format_timestamp(now)}",
            *(f"  {'' if number else 'keys':8}  {line}" for number, line in enumerate(lines)),
            "",
            f'  curl -H "Authorization: Bearer {example}" {address}{BASE_PATH}/team',
            "",
        ]
    )
