"""The server of `serve`: from its start-up message to its end by a signal.

Owns the start-up message, the `ready` line, the note of a changed scenario, and what a
signal does before the server is ready.
"""

import logging
import os
import shlex
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from typing import Final

import click

from image_workflow_emulator import __version__
from image_workflow_emulator.app import Application
from image_workflow_emulator.cli.background_writer import written_in_background
from image_workflow_emulator.cli.log import process_log
from image_workflow_emulator.cli.serving import make_given, started
from image_workflow_emulator.cli.statuses import INTERRUPTED
from image_workflow_emulator.console.tables import table_lines
from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.control import PREFIX
from image_workflow_emulator.imaging.memory import give_back_large_blocks
from image_workflow_emulator.kernel.clock import host_now
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.scenario.named_files import scenario_file
from image_workflow_emulator.server.server import EmulatorServer
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.settings import Settings

_LOGGER = logging.getLogger("image_workflow_emulator.cli")
_TICKS_PER_SECOND: Final = 10
"""How often the main loop of uvicorn turns."""


def serve(settings: Settings, environment: Mapping[str, str]) -> None:
    """Serve until SIGTERM or Ctrl-C, and let the requests in flight finish.

    Raises UsageError or DocumentError for settings and files that cannot be used,
    CommandError if the port is taken.
    """
    with (
        process_log(settings),
        written_in_background(sys.stdout) as output,
        redirect_stdout(output),
        ExitStack() as stack,
    ):
        with _ended_by_signals():
            start = stack.enter_context(started(settings, environment))
        listener, address, application = start
        _StandaloneServer(application, address).run(sockets=[listener])


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and Ctrl-C end the process, whatever the main thread waits for.

    Python runs handlers in the main thread. While that reads a pipe that nobody writes
    to, it does not learn of a signal that another thread has received.
    """
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))
    received, sent = socket.socketpair()
    sent.setblocking(False)
    watcher = threading.Thread(
        target=_end_at_signal,
        args=(received,),
        daemon=True,
    )
    watcher.start()
    with sent:
        signal.set_wakeup_fd(sent.fileno())
        try:
            yield
        finally:
            signal.set_wakeup_fd(-1)


def _end_at_signal(received: socket.socket) -> None:
    """End the process when the number of a signal arrives."""
    with received:
        numbers = received.recv(1)
    if numbers:
        os._exit(INTERRUPTED if numbers[0] == signal.SIGINT else 0)


class _StandaloneServer(EmulatorServer):
    """A server that prints when it is ready, and for which a signal to stop is not a
    failure.

    It logs when the file of its scenario changed, which takes effect when it is used
    again.
    """

    def __init__(self, application: Application, address: str) -> None:
        super().__init__(application)
        self._application = application
        self._address = address
        scenario = application.settings.scenario
        self._scenario_file = scenario_file(scenario) if scenario else None
        self._last_change_ms = float(host_now())

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        settings = self._application.settings
        try:
            await make_given(settings, self._address)
        except BaseException:
            await self.lifespan.shutdown()
            raise
        address = settings.public_url or self._address
        click.echo(_start_up_message(address, self._application.sandboxes.default))
        click.echo(f"ready {self._address}{BASE_PATH}")
        give_back_large_blocks()

    async def on_tick(self, counter: int) -> bool:
        """Check once a second whether the file of the scenario changed."""
        if counter % _TICKS_PER_SECOND == 0:
            with suppress(OSError):
                self._log_change()
        return await super().on_tick(counter)

    def _log_change(self) -> None:
        """Log if the file of the scenario changed. Raises OSError if it is gone."""
        if self._scenario_file is None:
            return
        changed_ms = self._scenario_file.stat().st_mtime * 1000
        if changed_ms > self._last_change_ms:
            self._last_change_ms = changed_ms
            _LOGGER.warning(
                "%s changed; use it: image-workflow-emulator scenario use %s",
                self._scenario_file,
                shlex.quote(str(self._scenario_file)),
            )


def _start_up_message(address: str, sandbox: Sandbox) -> str:
    now = sandbox.clock.now()
    setting = sandbox.clock.setting
    mode: str = setting.mode
    if setting.rate != 1:
        mode = f"real, {setting.rate:g} times as fast"
    rows = []
    for key, account in sandbox.credentials.items():
        credential = account.credential
        team = sandbox.accounts[credential.team_id].team
        rows.append((team.name, key, credential.profile, credential.state_at(now)))
    keys = "\n            ".join(table_lines((), rows, None))
    first_key = rows[0][1] if rows else "KEY"
    return f"""\
Image Workflow Emulator {__version__}

  base URL  {address}{BASE_PATH}
  page      {address}{PREFIX}
  clock     {mode}, at {format_timestamp(now)}
  keys      {keys}

  curl -H "Authorization: Bearer {first_key}" {address}{BASE_PATH}/team
"""
