"""One run of a command: what was typed, its environment, the emulator that it addresses, and how it shows what it found."""

import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from emulator.cli.output import Style, print_json, print_table
from emulator.settings import DEFAULT_URL, SettingError, local_url, read_settings

if TYPE_CHECKING:
    from emulator.testing.control import ControlClient


class Invocation:
    """What a command gets. `options` are as they were typed, `environment` holds the variables."""

    def __init__(self, options: Namespace, environment: Mapping[str, str]) -> None:
        self.options = options
        self.environment = environment

    @property
    def style(self) -> Style:
        """The style of standard output."""
        return Style(sys.stdout, self.environment)

    def show(self, answer: Any, headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Print an answer as --format asks for: as JSON, or as a table of these rows."""
        if self.options.format == "json":
            print_json(answer)
        else:
            print_table(headers, rows, self.style)

    @cached_property
    def control(self) -> "ControlClient":
        """The client of the control plane that the command addresses. Raises SettingError."""
        from emulator.testing.control import ControlClient, emulator_address

        given = vars(self.options)
        name, url = ("--url", given["url"]) if "url" in given else _address(self.environment)
        try:
            url = emulator_address(url)
        except ValueError:
            raise SettingError(name, url, f"the address of a running emulator, such as {DEFAULT_URL}") from None
        token = given.get("control_token") or self.environment.get("EMULATOR_CONTROL_TOKEN") or None
        return ControlClient(url, token, given.get("sandbox") or self.environment.get("EMULATOR_SANDBOX"))


def _address(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the address that the environment names, and the variable that does. Raises SettingError."""
    if environment.get("EMULATOR_URL"):
        return "EMULATOR_URL", environment["EMULATOR_URL"]
    served = read_settings({}, {name: environment.get(name, "") for name in ("EMULATOR_HOST", "EMULATOR_PORT")})
    return "EMULATOR_HOST", local_url(served.host, served.port)
