"""`readings`: the readings of the specification, with what each one finds. Needs no running emulator."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from emulator.cli.output import add_format, show
from emulator.drift.probes import PROBES
from emulator.scenario.readings_format import described_readings

_NOT_PROBED = "only traffic that shows it"


def add_arguments(parser: ArgumentParser) -> None:
    """Take a format."""
    add_format(parser, "table", "json")


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Print them."""
    told_by = {decision: probe.summary for probe in PROBES for decision in probe.decisions}
    described = [{**one, "told_by": told_by.get(one["decision"], _NOT_PROBED)} for one in described_readings()]
    rows = ((f"{one['decision']}={one['id']}", one["gives"], one["client"], one["told_by"]) for one in described)
    show(options, environment, {"data": described}, ("READING", "GIVES", "FINDS A CLIENT THAT", "TOLD BY"), rows)
    return 0
