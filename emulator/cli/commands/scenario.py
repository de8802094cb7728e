"""`scenario`: the running scenario of an emulator, shown, replaced and ended."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
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
            for warning in shown["warnings"]:
                print(printable(f"warning: {warning}"))
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
        print(style(printable(shown["scenario"]), BOLD), f"since {shown['began_at']}{_for(team)}")
        print(printable(" ".join((shown["description"] or "").split())))
        if shown["rules"]:
            rows = ((rule["name"], rule["matched"], rule["fired"]) for rule in shown["rules"])
            print_table(("RULE", "MATCHED", "FIRED"), rows, style)
        if shown["timeline"]:
            rows = ((_when(entry), _words(entry["set"]), entry["done_at"]) for entry in shown["timeline"])
            print_table(("AT", "SETS", "DONE AT"), rows, style)
    if team is None:
        _print_those_of_teams(shown)


def _when(entry: Mapping[str, Any]) -> str:
    """Say when a change is made: at a time, or after a request."""
    if "after" not in entry:
        return str(entry["at"])
    return f"after {_words({**entry['after']['match'], 'nth': entry['after']['nth']})}"


def _words(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {' or '.join(v) if isinstance(v, list) else v}" for name, v in facts.items())
