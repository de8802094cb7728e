"""How `serve` and `exec` start in the same way: the socket and the application."""

import asyncio
import errno
import logging
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

from image_workflow_emulator.app import Application
from image_workflow_emulator.cli.log import RequestLog
from image_workflow_emulator.client.local_files import unreadable
from image_workflow_emulator.settings import (
    READINGS_FILE,
    CommandError,
    Settings,
    UsageError,
    local_url,
    unknown_variables,
)

_LOGGER = logging.getLogger("image_workflow_emulator.cli")


@contextmanager
def started(
    settings: Settings,
    environment: Mapping[str, str],
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
            Given(ControlClient(address, settings.control_token)).file,
            settings.given,
        )
