"""`scenario`: the running scenario of an emulator, shown, replaced and ended."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from emulator.cli.arguments import add_verbs
from emulator.cli.errors import naming_scenario
from emulator.cli.output import BOLD, add_format, out, print_json, print_table
from emulator.cli.running_emulator import add_emulator_options, control_client
from emulator.testing.sandbox import use_scenario


def add_arguments(parser: ArgumentParser) -> None:
    """Take a verb, and the Team that the scenario is limited to."""
    show, use, off = add_verbs(
        parser,
        show="show the running scenario (the default)",
        use="run a scenario from now on",
        off="end the running scenario",
    )
    add_format(show, "table", "json")
    use.add_argument("scenario", metavar="NAME|FILE", help="a scenario of the library, or a YAML file")
    for verb in (show, use, off):
        verb.add_argument("--team", metavar="TEAM", help="for one Team only, by name or id")
        add_emulator_options(verb)
    add_emulator_options(parser)


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Run the command and return its exit status. Raises UsageError, CommandError and EmulatorError."""
    control, query = control_client(options, environment), {"team": options.team}
    match options.action:
        case "use":
            with naming_scenario(options.scenario):
                use_scenario(control, options.scenario, options.team)
            print(f"using {options.scenario}")
        case "off":
            control.call("DELETE", "scenario", query=query)
            print("off")
        case _:
            shown = control.call("GET", "scenario", query=query)
            if options.format == "json":
                print_json(shown)
            else:
                _print(shown, environment)
    return 0


def _print(shown: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    style = out(environment)
    if shown["scenario"] is None:
        print("none")
        return
    print(style(shown["scenario"], BOLD), f"since {shown['began_at']}")
    if shown["description"]:
        print(" ".join(shown["description"].split()))
    if shown["rules"]:
        print()
        rows = ((rule["name"], rule["matched"], rule["fired"]) for rule in shown["rules"])
        print_table(("RULE", "MATCHED", "FIRED"), rows, style)
    if shown.get("timeline"):
        print()
        print_table(("AT", "SETS", "DONE AT"), _timeline(shown["timeline"]), style)


def _timeline(entries: list[Mapping[str, Any]]) -> Iterator[tuple[Any, ...]]:
    for entry in entries:
        changes = ", ".join(f"{name} {value}" for name, value in entry["set"].items())
        yield entry.get("at") or "after a request", changes, entry["done_at"]
