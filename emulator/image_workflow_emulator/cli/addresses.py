"""Which running emulator a command speaks to, and which of its sandboxes."""

import functools
from collections.abc import Mapping
from typing import Any, Final

import click

from image_workflow_emulator import DEFAULT_URL
from image_workflow_emulator.client.control_client import (
    ControlClient,
    emulator_address,
)
from image_workflow_emulator.console.options import Decorator, Function
from image_workflow_emulator.console.values import spelled
from image_workflow_emulator.settings import (
    OPTIONS,
    SettingError,
    is_of_link,
    local_url,
    read_settings,
)


class EmulatorAddress(click.ParamType[str]):
    """The address of a running emulator, of its page, or its base URL."""

    name = "URL"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the address of the emulator. Raises SettingError."""
        return _address(value, spelled(param, ctx))


def of_emulator(function: Function) -> Function:
    """Add the options that name a running emulator, as its client `control`."""

    @click.option(
        "--url",
        type=EmulatorAddress(),
        envvar="EMULATOR_URL",
        show_envvar=True,
        help=(
            "a running emulator "
            f"(default: EMULATOR_HOST and EMULATOR_PORT, else {DEFAULT_URL})"
        ),
    )
    @click.option(
        "--control-token",
        metavar="TOKEN",
        envvar="EMULATOR_CONTROL_TOKEN",
        show_envvar=True,
        help="its control token",
    )
    @functools.wraps(function)
    def command(*, url: str | None, control_token: str | None, **values: Any) -> Any:
        if url is None:
            url = _served_address(click.get_current_context().obj)
        return function(control=ControlClient(url, control_token), **values)

    return command


def of_sandbox(function: Function) -> Function:
    """Add the options that name a sandbox of a running emulator, as its client
    `control`.
    """

    @of_emulator
    @click.option(
        "--sandbox",
        metavar="ID",
        envvar="EMULATOR_SANDBOX",
        show_envvar=True,
        help="which of its sandboxes (default: default)",
    )
    @functools.wraps(function)
    def command(*, control: ControlClient, sandbox: str | None, **values: Any) -> Any:
        return function(control=control.of(sandbox), **values)

    return command


of_team: Final[Decorator] = click.option(
    "--team", metavar="TEAM", help="for one Team only, by name or id"
)


def _served_address(environment: Mapping[str, str]) -> str:
    """Return the address of the server that has the options of these variables."""
    texts = dict[str, str]()
    variables = dict[str, str]()
    for option in OPTIONS:
        text = environment.get(option.variable)
        is_address = option.field in ("host", "port")
        if is_address and text and not is_of_link(option.variable, text):
            texts[option.field] = text
            variables[option.field] = option.variable
    settings = read_settings(texts, variables)
    return _address(local_url(settings.host, settings.port), "EMULATOR_HOST")


def _address(text: str, source: str) -> str:
    try:
        return emulator_address(text)
    except ValueError:
        expected = f"the address of a running emulator, such as {DEFAULT_URL}"
        raise SettingError(source, text, expected) from None
