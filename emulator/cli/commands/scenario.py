"""`scenario`: the running scenario of an emulator, shown, replaced and ended."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from emulator.cli.errors import naming_scenario
from emulator.cli.output import BOLD, Style, add_format, out, print_json, print_table
from emulator.cli.running_emulator import add_emulator_verbs, control_client
from emulator.kernel.printable import printable
from emulator.testing.sandbox import use_scenario


def add_arguments(parser: ArgumentParser) -> None:
    """Take a verb, and the Team that the scenario is limited to."""
    show, use, off = add_emulator_verbs(
        parser,
        show="show the running scenario (the default)",
        use="run a scenario from now on",
        off="end the running scenario",
    )
    add_format(show, "table", "json")
    use.add_argument("scenario", metavar="NAME|FILE", help="a scenario of the library, or a YAML file")
    for verb in (show, use, off):
        verb.add_argument("--team", metavar="TEAM", help="for one Team only, by name or id")


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Run the command and return its exit status. Raises UsageError, CommandError and EmulatorError."""
    control, query = control_client(options, environment), {"team": options.team}
    match options.action:
        case "use":
            with naming_scenario(options.scenario):
                shown = use_scenario(control, options.scenario, options.team)
            print(f"using {options.scenario}{_for(options.team)}")
            if shown["takes_effect_at_reset"]:
                print(f"from the next reset on: its {', '.join(shown['takes_effect_at_reset'])}")
        case "off":
            control.call("DELETE", "scenario", query=query)
            print(f"off{_for(options.team)}")
            if options.team is None:
                _print_those_of_teams(control.call("GET", "scenario"))
        case _:
            shown = control.call("GET", "scenario", query=query)
            if options.format == "json":
                print_json(shown)
            else:
                _print(shown, options.team, out(environment))
    return 0


def _for(team: str | None) -> str:
    return "" if team is None else printable(f" for the Team {team}")


def _print_those_of_teams(shown: Mapping[str, Any]) -> None:
    for own in shown["team_scenarios"]:
        print(printable(f"the Team {own['team']['name']} has one of its own: {own['scenario']}"))


def _print(shown: Mapping[str, Any], team: str | None, style: Style) -> None:
    if shown["scenario"] is None:
        print(f"none{_for(team)}")
    else:
        _print_running(shown, team, style)
    if team is None:
        if shown["scenario"] and shown["team_scenarios"]:
            print()
        _print_those_of_teams(shown)


def _print_running(shown: Mapping[str, Any], team: str | None, style: Style) -> None:
    print(style(printable(shown["scenario"]), BOLD), f"since {shown['began_at']}{_for(team)}")
    if shown["description"]:
        print(printable(" ".join(shown["description"].split())))
    if shown["rules"]:
        print()
        rows = ((rule["name"], rule["matched"], rule["fired"]) for rule in shown["rules"])
        print_table(("RULE", "MATCHED", "FIRED"), rows, style)
    if shown["timeline"]:
        print()
        print_table(("AT", "SETS", "DONE AT"), _timeline(shown["timeline"]), style)


def _timeline(entries: list[Mapping[str, Any]]) -> Iterator[tuple[Any, ...]]:
    for entry in entries:
        changes = ", ".join(f"{name} {value}" for name, value in entry["set"].items())
        yield entry.get("at") or _after(entry["after"]), changes, entry["done_at"]


def _after(request: Mapping[str, Any]) -> str:
    """Say after which request a change is made."""
    facts = {**request["match"], "nth": request["nth"]}
    return "after " + ", ".join(f"{name} {_listed(value)}" for name, value in facts.items())


def _listed(value: Any) -> str:
    return " or ".join(value) if isinstance(value, list) else str(value)
