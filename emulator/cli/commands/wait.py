"""`wait`: return when an emulator is ready, or has a sandbox."""

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from emulator.cli.errors import CommandError
from emulator.cli.running_emulator import add_emulator_options, control_client
from emulator.kernel.clock import host_elapsed_ms
from emulator.kernel.timestamps import parse_duration_ms
from emulator.settings import SettingError
from emulator.testing.control import path_step
from emulator.testing.errors import EmulatorError

POLL_MS = 50


def add_arguments(parser: ArgumentParser) -> None:
    """Take a timeout and the address of an emulator."""
    parser.add_argument("--timeout", metavar="SECONDS", default="30", help="seconds before it gives up (default: 30)")
    parser.add_argument("--sandbox", metavar="ID", help="until it has this sandbox (default: until it is ready)")
    add_emulator_options(parser, with_sandbox=False)


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Wait. Raises SettingError; CommandError if no emulator is ready in time."""
    control = control_client(options, environment)
    try:
        timeout_ms = parse_duration_ms(options.timeout)
    except ValueError:
        raise SettingError("--timeout", options.timeout, "seconds, such as 30 or 0.5") from None
    deadline = host_elapsed_ms() + timeout_ms
    while True:
        try:
            control.health(max(deadline - host_elapsed_ms(), POLL_MS) / 1000)
            if options.sandbox is not None:
                control.of(None).call("GET", f"sandboxes/{path_step(options.sandbox)}")
        except EmulatorError as error:
            if host_elapsed_ms() + POLL_MS >= deadline:
                raise CommandError(f"no emulator is ready after {timeout_ms / 1000:g} s: {error}") from None
        else:
            return 0
        time.sleep(POLL_MS / 1000)  # noqa: TID251 (another process starts meanwhile, in real time)
