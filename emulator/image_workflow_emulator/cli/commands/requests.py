"""`requests`: what clients sent, as the journal of a sandbox has it."""

from collections.abc import Mapping
from typing import Any, Final

import click
from msgspec import convert

from image_workflow_emulator.cli.addresses import of_sandbox
from image_workflow_emulator.cli.explanations import explanation_lines, verdict_on
from image_workflow_emulator.cli.following import answered_requests
from image_workflow_emulator.cli.groups import Noun
from image_workflow_emulator.client.control_client import MAX_REQUESTS, ControlClient
from image_workflow_emulator.console.options import form
from image_workflow_emulator.console.tables import print_json, show, text_of
from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.kernel.seed import without_signature
from image_workflow_emulator.kernel.wording import count_of, printable_lines

_COLUMNS: Final = ("#", "time", "status", "request", "duration", "team")


@click.group("requests", cls=Noun, default="list")
def command() -> None:
    """List, follow, explain or clear recorded requests."""


@command.command("list")
@click.option(
    "--operation",
    metavar="ID",
    help="only requests of this operation, or `none`",
)
@click.option(
    "--status",
    metavar="STATUS",
    help="only requests with this status, class (such as 4xx), or `none`",
)
@click.option(
    "--code",
    metavar="CODE",
    help="only requests refused with this problem code, or `none`",
)
@click.option(
    "--rule",
    metavar="NAME",
    help="only requests on which this rule of a scenario acted, or `none`",
)
@click.option(
    "--team",
    metavar="TEAM",
    help="only requests of this Team, by name or id",
)
@click.option(
    "--limit",
    metavar="N",
    help="show at most N requests, the newest (default: 100)",
)
@click.option(
    "--follow",
    is_flag=True,
    help="keep printing requests as they are answered",
)
@form("table", "json", "har")
@of_sandbox
def list_requests(
    control: ControlClient,
    form: str,
    follow: bool,
    **filters: str | None,
) -> None:
    """List recorded requests, the newest last (the default)."""
    if follow:
        _follow(control, form, filters)
    answer = control.call("GET", "requests", query=filters)
    entries = list(reversed(answer["data"]))
    if form == "har":
        from image_workflow_emulator.client.exports import journal_as_har

        print_json(journal_as_har(entries, control.url))
        return
    show(form, answer, _COLUMNS, map(_row, convert(entries, list[RecordedRequest])))
    earlier = answer["total"] - len(entries)
    if earlier and form == "table":
        number = count_of(earlier, "earlier request")
        click.echo(f"{number} not shown (--limit N, up to {MAX_REQUESTS})", err=True)


def _follow(
    control: ControlClient,
    form: str,
    filters: Mapping[str, str | None],
) -> None:
    """Print requests as they are answered, until Ctrl-C."""
    for entry in answered_requests(control, filters):
        if form == "json":
            click.echo(text_of(entry))
        else:
            click.echo(str(convert(entry, RecordedRequest)))


def _row(request: RecordedRequest) -> tuple[Any, ...]:
    words = [request.operation or request.bytes or _target(request)]
    if request.code is not None:
        words.append(request.code)
    if request.replayed:
        words.append("replayed")
    if request.lost:
        words.append("lost")
    duration = None
    if request.duration_ms is not None:
        duration = f"{request.duration_ms:.1f} ms"
    return (
        request.sequence,
        request.at[11:23],
        request.status,
        " ".join(words),
        duration,
        request.team,
    )


def _target(request: RecordedRequest) -> str:
    return f"{request.method} {without_signature(request.path)}"


@command.command("show")
@click.argument("request")
@form("text", "json", "curl")
@of_sandbox
def explain(
    control: ControlClient,
    request: str,
    form: str,
) -> None:
    """Explain one request: `last`, a sequence number or a Request-Id."""
    entry = control.explained(request)
    if form == "json":
        print_json(verdict_on(entry) | dict(entry))
    elif form == "curl":
        click.echo(entry["curl"])
    else:
        for lines in explanation_lines(entry):
            click.echo(printable_lines(lines))


@command.command("clear")
@of_sandbox
def clear(control: ControlClient) -> None:
    """Forget all recorded requests."""
    control.call("DELETE", "requests")
    click.echo("done")
