"""The `serve` command, and what `exec` starts in the same way: socket and application.

Owns the start-up message, the `ready` line and signals.
"""

import asyncio
import errno
import logging
import shlex
import signal
import socket
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from ipaddress import ip_address
from pathlib import Path

from image_workflow_emulator import __version__
from image_workflow_emulator.app import Application
from image_workflow_emulator.cli.background_writer import written_in_background
from image_workflow_emulator.cli.log import RequestLog, process_log
from image_workflow_emulator.cli.output import table_lines
from image_workflow_emulator.client.local_files import unreadable
from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.control import PREFIX
from image_workflow_emulator.imaging.memory import give_back_large_blocks
from image_workflow_emulator.kernel.clock import host_now
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.scenario.named_files import scenario_file
from image_workflow_emulator.server.server import EmulatorServer
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.settings import (
    READINGS_FILE,
    CommandError,
    Settings,
    UsageError,
    local_url,
    read_settings,
    unknown_variables,
)

_LOGGER = logging.getLogger("image_workflow_emulator.cli")


def serve(options: Namespace, environment: Mapping[str, str]) -> None:
    """Serve until SIGTERM or Ctrl-C, let the requests in flight finish.

    Raises UsageError or DocumentError for settings and files that cannot be used,
    CommandError if the port is taken.
    """
    # Until the server is ready and handles its signals.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))
    settings = read_settings(vars(options), environment)
    with (
        process_log(settings),
        written_in_background(sys.stdout) as output,
        redirect_stdout(output),
        started(settings, environment) as (listener, address, application),
    ):
        _AnnouncingServer(application, address).run(sockets=[listener])


class _AnnouncingServer(EmulatorServer):
    """A server that prints when it is ready, and that a signal stops without a failure.

    It logs when the file of its scenario changed, which takes effect when it is used
    again.
    """

    def __init__(self, application: Application, address: str) -> None:
        super().__init__(application)
        self._application = application
        self._address = address
        self._scenario: Path | None = None
        if application.settings.scenario:
            self._scenario = scenario_file(application.settings.scenario)
        self._last_change_ms = float(host_now())

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        try:
            await make_given(self._application.settings, self._address)
        except BaseException:
            await self.lifespan.shutdown()
            raise
        address = self._application.settings.public_url or self._address
        print(_start_up_message(address, self._application.sandboxes.default))
        print(f"ready {self._address}{BASE_PATH}", flush=True)
        give_back_large_blocks()

    async def on_tick(self, counter: int) -> bool:
        """Check once a second whether the file of the scenario changed."""
        if counter % 10 == 0:  # uvicorn ticks ten times a second
            self._report_changed_scenario()
        return await super().on_tick(counter)

    def _report_changed_scenario(self) -> None:
        if self._scenario is None:
            return
        with suppress(OSError):
            changed_ms = self._scenario.stat().st_mtime * 1000
            if changed_ms > self._last_change_ms:
                self._last_change_ms = changed_ms
                _LOGGER.warning(
                    "%s changed; use it: image-workflow-emulator scenario use %s",
                    self._scenario,
                    shlex.quote(str(self._scenario)),
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
    example_key = rows[0][1] if rows else "KEY"
    authorization = f'"Authorization: Bearer {example_key}"'
    keys = "\n            ".join(table_lines((), rows, None))
    return f"""\
Image Workflow Emulator {__version__}

  base URL  {address}{BASE_PATH}
  page      {address}{PREFIX}
  clock     {mode}, at {format_timestamp(now)}
  keys      {keys}

  curl -H {authorization} {address}{BASE_PATH}/team
"""


# The start ----------------------------------------------------------------------------


@contextmanager
def started(
    settings: Settings, environment: Mapping[str, str]
) -> Iterator[tuple[socket.socket, str, Application]]:
    """Give a socket that is bound, its address, and the application for it.

    Call it within `process_log`: it writes a line for each request to standard error,
    if the settings ask for it.

    Raises UsageError or DocumentError for settings and files that cannot be used,
    CommandError if the port is taken.
    """
    for name in unknown_variables(environment):
        _LOGGER.warning("unknown variable %s", name)
    if settings.readings is None and Path(READINGS_FILE).exists():
        settings = settings._replace(found_readings=READINGS_FILE)
    with _listening_socket(settings.host, settings.port) as listener:
        host, port = listener.getsockname()[:2]
        if not settings.control_token and not ip_address(host).is_loopback:
            _LOGGER.warning(
                "listening on %s: without --control-token, anyone who reaches it can "
                "use and read it",
                host,
            )
        try:
            application = Application(settings, is_served=True)
        except OSError as error:
            raise UsageError(unreadable(error)) from error
        if settings.access_log:
            log = RequestLog(sys.stderr, as_json=settings.log_format == "json")
            application.sandboxes.watchers.append(log.note)
        yield listener, local_url(host, port), application


def _listening_socket(host: str, port: int) -> socket.socket:
    """Bind the address first, so that a port in use is reported at once.

    Raises CommandError.
    """
    # A name such as localhost may have addresses of both kinds: clients that use
    # 127.0.0.1 must find the server there.
    family = socket.AF_INET
    is_dual = False
    if ":" in host:
        family = socket.AF_INET6
        is_dual = socket.has_dualstack_ipv6()
    try:
        return socket.create_server((host, port), family=family, dualstack_ipv6=is_dual)
    except (OSError, TypeError) as error:
        reason = "invalid host name"
        if isinstance(error, OSError) and error.strerror:
            reason = error.strerror.partition(" (while")[0]
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            reason += "; choose another with --port (0 picks a free one)"
        message = f"cannot listen on {host}, port {port}: {reason}"
        raise CommandError(message) from error


async def make_given(settings: Settings, address: str) -> None:
    """Make what the option `given` lists, in the emulator that this process serves.

    Raises EmulatorError.
    """
    if settings.given is not None:
        from image_workflow_emulator.client.control_client import ControlClient
        from image_workflow_emulator.testing.seeding import Given

        await asyncio.to_thread(
            Given(ControlClient(address, settings.control_token)).file, settings.given
        )
