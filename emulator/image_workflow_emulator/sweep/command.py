"""`sweep`: a command again and again, each time with other faults."""

import re
from collections.abc import Mapping
from typing import Final, Literal

import click

from image_workflow_emulator.console.options import (
    NO_COMMAND,
    command_words,
    ignoring,
    reporting,
)
from image_workflow_emulator.console.report_output import ReportOutput
from image_workflow_emulator.console.settings_options import (
    GivenSettings,
    settings_options,
)
from image_workflow_emulator.console.values import (
    COUNT,
    FILE,
    LIMIT,
    PERCENTAGE,
    Value,
)
from image_workflow_emulator.settings import Kind


def _parse_shard(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", text, re.ASCII)
    if match is None:
        raise ValueError(text)
    number = int(match[1])
    shards = int(match[2])
    if number > shards:
        raise ValueError(text)
    return number, shards


_SHARD: Final = Value(Kind("K/N", _parse_shard, "K/N such as 2/8, with K from 1 to N"))


class _Sweep(click.Command):
    """A command whose --merge takes several files, such as `shard-*.json`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put --merge before each of its files, as click expects it."""
        end = args.index("--") if "--" in args else len(args)
        words = list[str]()
        is_merging = False
        for word in args[:end]:
            if word.startswith("-"):
                is_merging = word == "--merge"
            elif is_merging:
                words.append("--merge")
            if not (is_merging and word == "--merge"):
                words.append(word)
        return super().parse_args(ctx, [*words, *args[end:]])


@click.command(
    "sweep",
    cls=_Sweep,
    options_metavar="[OPTIONS] --",
    no_args_is_help=True,
    context_settings={"allow_interspersed_args": False},
    epilog=(
        "A cell is OPERATION#N:FAULT, such as createProduct#2:lost-after-commit; with "
        "OPERATION#N+ the fault lasts. Exit status: 1 if a cell hung, a cell or the "
        "clean run did damage, or a cell failed where --strict forbids it; 2 if the "
        "clean run fails, or no fault met a call; 3 if not everything was tried; else "
        "0."
    ),
)
@click.option(
    "--jobs",
    type=COUNT,
    help="how many runs at once (default: one more than there are processors)",
)
@click.option(
    "--only",
    metavar="GLOB",
    help="try every cell that fits, such as 'createProduct#*'",
)
@click.option(
    "--test",
    metavar="NODEID",
    help="where the command is pytest: try cells in this test only",
)
@click.option(
    "--faults",
    metavar="KINDS",
    help=(
        "recoverable, problems, network, outputs, all or client "
        "(default: recoverable, others once)"
    ),
)
@click.option(
    "--timeout",
    type=LIMIT,
    metavar="SECONDS",
    help=(
        "limit of a test or the command "
        "(default: 3 times the longest so far, at least 10)"
    ),
)
@click.option(
    "--budget",
    type=LIMIT,
    help=(
        "limit of the sweep with its clean run, such as 10m "
        "(default: 60s at a terminal)"
    ),
)
@ignoring
@click.option(
    "--expected",
    type=FILE,
    metavar="FILE",
    help="outcomes that are accepted (default: sweep.expected.yaml)",
)
@click.option(
    "--strict",
    type=click.Choice(["recoverable", "all", "off"]),
    is_flag=False,
    flag_value="all",
    help=(
        "exit with 1 for a recoverable cell that failed, or any "
        "(alone: all; with CI set: recoverable)"
    ),
)
@click.option(
    "--shard",
    type=_SHARD,
    help=(
        "try only this part of the plan, such as 2/8; --merge joins the reports of all "
        "parts"
    ),
)
@click.option(
    "--merge",
    type=FILE,
    metavar="FILE",
    multiple=True,
    help=(
        "join the JSON reports of shards, and exit as one sweep would; with a command, "
        "try the rest; can be repeated"
    ),
)
@click.option(
    "--least",
    type=PERCENTAGE,
    default="100",
    show_default=True,
    help="exit with 3 if fewer of the classes were tried",
)
@reporting
@settings_options(
    port="0",
    access_log="off",
    clock="auto",
)
@command_words
@click.pass_obj
def command(
    environment: Mapping[str, str],
    given: GivenSettings,
    output: ReportOutput,
    words: tuple[str, ...],
    jobs: int | None,
    only: str | None,
    test: str | None,
    faults: str | None,
    timeout: float | None,
    budget: float | None,
    ignored: tuple[str, ...],
    expected: str | None,
    strict: Literal["recoverable", "all", "off"] | None,
    shard: tuple[int, int] | None,
    merge: tuple[str, ...],
    least: float,
) -> int:
    """Repeat a command with faults."""
    if not words and not merge:
        raise click.UsageError(NO_COMMAND)
    from image_workflow_emulator.sweep.sweeping import SweepOptions, sweep

    options = SweepOptions(
        words=words,
        jobs=jobs,
        only=only,
        test=test,
        faults=tuple(faults.split(",")) if faults else (),
        timeout_seconds=timeout,
        budget_seconds=budget,
        ignored=ignored,
        expected_file=expected,
        strict=strict,
        shard=shard,
        merged_files=merge,
        least_percent=least,
        given=given,
        prints_findings=not output.is_json,
    )
    return output.conclude(sweep(options, environment))
