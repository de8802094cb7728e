"""`credentials`: the keys of a running emulator, listed, revoked and restored."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from emulator.cli.arguments import add_verbs
from emulator.cli.output import add_format, out, print_json, print_table
from emulator.cli.running_emulator import add_emulator_options, control_client
from emulator.kernel.printable import printable
from emulator.testing.sandbox import DEFAULT_SANDBOX, find_credential

_STATES = {"revoke": "revoked", "restore": "active"}


def add_arguments(parser: ArgumentParser) -> None:
    """Take a verb and a key."""
    listing, revoke, restore = add_verbs(
        parser,
        list="list the credentials of all Teams (the default)",
        revoke="revoke a credential: its next request is refused",
        restore="make a revoked credential active again",
    )
    for verb in (revoke, restore):
        verb.add_argument("key", metavar="KEY", help="the sandbox's form of a key, or the world's")
    for verb in (listing, revoke, restore):
        add_format(verb, "table", "json")
        add_emulator_options(verb)
    add_emulator_options(parser)


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Run the command and return its exit status. Raises UsageError and EmulatorError."""
    control = control_client(options, environment)
    if options.action == "list":
        answer = control.call("GET", "teams")
        rows = [(team["name"], credential) for team in answer["data"] for credential in team["credentials"]]
        credentials = [credential for _, credential in rows]
    else:
        credential = find_credential(control, control.sandbox or DEFAULT_SANDBOX, options.key)
        answer = control.call("PATCH", f"credentials/{credential['id']}", {"state": _STATES[options.action]})
        credentials = [answer]
    if options.format == "json":
        print_json(answer)
        return 0
    now = control.call("GET", "clock")["now"]
    for credential in credentials:
        if credential["state"] == "active" and credential["expires_at"] <= now:
            credential["state"] = "expired"
    if options.action == "list":
        names = ("key", "profile", "state", "expires_at")
        cells = ([team, *(credential[name] for name in names)] for team, credential in rows)
        print_table(("TEAM", "KEY", "PROFILE", "STATE", "EXPIRES AT"), cells, out(environment))
    else:
        print(f"{printable(answer['key'])} is {answer['state']}")
    return 0
