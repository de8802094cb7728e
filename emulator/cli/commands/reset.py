"""`reset`: reset a sandbox of a running emulator."""

from argparse import Namespace
from collections.abc import Mapping

from emulator.cli.running_emulator import add_emulator_options, control_client

add_arguments = add_emulator_options


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Reset it. Raises SettingError and EmulatorError."""
    control_client(options, environment).call("POST", "reset")
    print("reset")
    return 0
