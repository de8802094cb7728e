"""Which running emulator a command speaks to, and which of its sandboxes."""

import functools
from collections.abc import Mapping
from typing import Any, Final

import click
from click.core import ParameterSource

from image_workflow_emulator import DEFAULT_URL
from image_workflow_emulator.client.control_client import (
    ControlClient,
    emulator_address,
)
from image_workflow_emulator.console.options import Decorator, Function
from image_workflow_emulator.settings import (
    OPTIONS,
    SettingError,
    is_of_link,
    local_url,
    read_settings,
)


def of_emulator(function: Function) -> Function:
    """Add the options that name a running emulator, as its client `control`."""

    @click.option(
        "--url",
        metavar="URL",
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
    def command(
        *,
        url: str | None,
        control_token: str | None,
        **values: Any,
    ) -> Any:
        address = _address_of_emulator(click.get_current_context(), url)
        return function(control=ControlClient(address, control_token), **values)

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
    def command(
        *,
        control: ControlClient,
        sandbox: str | None,
        **values: Any,
    ) -> Any:
        return function(control=control.of(sandbox), **values)

    return command


of_team: Final[Decorator] = click.option(
    "--team",
    metavar="TEAM",
    help="for one Team only, by name or id",
)


def _address_of_emulator(context: click.Context, url: str | None) -> str:
    """Return the address of the emulator that is meant. Raises SettingError."""
    if url is None:
        return _served_address(context.obj)
    is_variable = context.get_parameter_source("url") is ParameterSource.ENVIRONMENT
    return _address(url, "EMULATOR_URL" if is_variable else "--url")


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
