"""What commands about a running emulator share: their verbs, and the options that name an emulator and a sandbox in it."""

from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from emulator.cli.arguments import add_arguments, add_parsers
from emulator.cli.output import Style, add_format, out
from emulator.settings import DEFAULT_URL, SettingError, local_url, read_settings
from emulator.testing.control import ControlClient, emulator_address

_URL = {
    "--url URL": f"a running emulator (default: EMULATOR_URL, else EMULATOR_HOST and EMULATOR_PORT, else {DEFAULT_URL})"
}
_TOKEN = {"--control-token TOKEN": "its control token (default: EMULATOR_CONTROL_TOKEN)"}
_SANDBOX = {"--sandbox ID": "which of its sandboxes (default: EMULATOR_SANDBOX, else default)"}


class Verb(NamedTuple):
    """What a verb does, and takes, as `add_arguments` has it. A command that has no verbs is one itself."""

    summary: str
    run: Callable[[ControlClient, Namespace, Style], None]
    arguments: Mapping[str, str] = {}
    formats: tuple[str, ...] = ("table", "json")


def add_verbs(parser: ArgumentParser, verbs: Mapping[str, Verb], *, with_sandbox: bool = True) -> None:
    """Give a command its verbs; the options that name an emulator can stand before and after the verb."""
    _add_emulator(parser, with_sandbox=with_sandbox)
    parsers = add_parsers(parser, {name: verb.summary for name, verb in verbs.items()})
    for one, verb in zip(parsers, verbs.values(), strict=True):
        take(one, verb, with_sandbox=with_sandbox)


def take(parser: ArgumentParser, verb: Verb, *, with_sandbox: bool = True) -> None:
    """Give a parser what a verb takes, and an emulator to do it with; `with_sandbox`: and one of its sandboxes."""
    add_arguments(parser, verb.arguments)
    if verb.formats:
        add_format(parser, *verb.formats)
    _add_emulator(parser, with_sandbox=with_sandbox)
    parser.set_defaults(run=partial(_run, verb))


def _add_emulator(parser: ArgumentParser, *, with_sandbox: bool) -> None:
    # Without a default, so that a verb does not take away what stands before it.
    add_arguments(parser, {**_URL, **(_SANDBOX if with_sandbox else {}), **_TOKEN}, default=SUPPRESS)


def _run(verb: Verb, options: Namespace, environment: Mapping[str, str]) -> None:
    verb.run(_control_client(options, environment), options, out(environment))


def _control_client(options: Namespace, environment: Mapping[str, str]) -> ControlClient:
    """Return the client for the control plane that a command addresses. Raises SettingError."""
    given = vars(options)
    name, url = ("--url", given["url"]) if "url" in given else _address(environment)
    try:
        url = emulator_address(url)
    except ValueError:
        raise SettingError(name, url, f"the address of a running emulator, such as {DEFAULT_URL}") from None
    token = given.get("control_token") or environment.get("EMULATOR_CONTROL_TOKEN") or None
    return ControlClient(url, token, given.get("sandbox") or environment.get("EMULATOR_SANDBOX"))


def _address(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the address that the environment names, and the variable that does. Raises SettingError."""
    if environment.get("EMULATOR_URL"):
        return "EMULATOR_URL", environment["EMULATOR_URL"]
    served = read_settings({}, {name: environment.get(name, "") for name in ("EMULATOR_HOST", "EMULATOR_PORT")})
    return "EMULATOR_HOST", local_url(served.host, served.port)
