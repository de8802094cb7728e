"""The options of commands that name a running emulator, and a sandbox in it."""

from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Mapping

from emulator.cli.addresses import local_url
from emulator.cli.arguments import add_options, add_verbs
from emulator.settings import DEFAULT_URL, SettingError, read_settings
from emulator.testing.control import ControlClient, HttpTransport, emulator_address

_URL = {
    "--url URL": f"a running emulator (default: EMULATOR_URL, else EMULATOR_HOST and EMULATOR_PORT, else {DEFAULT_URL})"
}
_TOKEN = {"--control-token TOKEN": "its control token (default: EMULATOR_CONTROL_TOKEN)"}


def add_emulator_options(parser: ArgumentParser, *, with_sandbox: bool = True) -> None:
    """Give a command, or a verb of one, the options that name an emulator and, unless all are meant, a sandbox."""
    sandbox = {"--sandbox ID": "which of its sandboxes (default: EMULATOR_SANDBOX, else default)"}
    # Without a default, so that a verb does not take away what stands before it.
    add_options(parser, {**_URL, **(sandbox if with_sandbox else {}), **_TOKEN}, default=SUPPRESS)


def add_emulator_verbs(parser: ArgumentParser, *, with_sandbox: bool = True, **summaries: str) -> list[ArgumentParser]:
    """Give a command its verbs, and the options that name an emulator before and after the verb; return a parser for each."""
    verbs = add_verbs(parser, **summaries)
    for one in (parser, *verbs):
        add_emulator_options(one, with_sandbox=with_sandbox)
    return verbs


def control_client(options: Namespace, environment: Mapping[str, str]) -> ControlClient:
    """Return the client for the control plane that a command addresses. Raises SettingError."""
    given = vars(options)
    name, url = ("--url", given["url"]) if "url" in given else _address(environment)
    try:
        url = emulator_address(url)
    except ValueError:
        raise SettingError(name, url, f"the address of a running emulator, such as {DEFAULT_URL}") from None
    token = given.get("control_token") or environment.get("EMULATOR_CONTROL_TOKEN") or None
    return ControlClient(HttpTransport(url), token, given.get("sandbox") or environment.get("EMULATOR_SANDBOX"))


def _address(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the address that the environment names, and the variable that does. Raises SettingError."""
    if environment.get("EMULATOR_URL"):
        return "EMULATOR_URL", environment["EMULATOR_URL"]
    served = read_settings({}, {name: environment.get(name, "") for name in ("EMULATOR_HOST", "EMULATOR_PORT")})
    return "EMULATOR_HOST", local_url(served.host, served.port)
