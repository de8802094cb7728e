"""`credentials`: the keys of a running emulator, listed, revoked and restored."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from emulator.cli.output import add_format, print_json, show
from emulator.cli.running_emulator import add_emulator_verbs, control_client
from emulator.kernel.printable import printable
from emulator.testing.sandbox import DEFAULT_SANDBOX, find_credential

_STATES = {"revoke": "revoked", "restore": "active"}


def add_arguments(parser: ArgumentParser) -> None:
    """Take a verb and a key."""
    listing, revoke, restore = add_emulator_verbs(
        parser,
        list="list the credentials of all Teams (the default)",
        revoke="revoke a credential: its next request is refused",
        restore="make a revoked credential active again",
    )
    for verb in (revoke, restore):
        verb.add_argument("key", metavar="KEY", help="the sandbox's form of a key, or the world's")
    for verb in (listing, revoke, restore):
        add_format(verb, "table", "json")


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Run the command and return its exit status. Raises UsageError and EmulatorError."""
    control = control_client(options, environment)
    if options.action == "list":
        answer = control.call("GET", "teams")
        rows = (
            [team["name"], one["key"], one["profile"], one["state"], one["expires_at"]]
            for team in answer["data"]
            for one in team["credentials"]
        )
        show(options, environment, answer, ("TEAM", "KEY", "PROFILE", "STATE", "EXPIRES AT"), rows)
        return 0
    credential = find_credential(control, control.sandbox or DEFAULT_SANDBOX, options.key)
    answer = control.call("PATCH", f"credentials/{credential['id']}", {"state": _STATES[options.action]})
    if options.format == "json":
        print_json(answer)
    else:
        print(f"{printable(answer['key'])} is {answer['state']}")
    return 0
