"""The emulator's own journal, as `requests --format json` and `exec --journal` write it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import convert
from msgspec.structs import replace

from image_workflow_emulator.client.exports import har_entry
from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.drift.exchanges import RecordedExchange
from image_workflow_emulator.drift.har import exchange_of_har
from image_workflow_emulator.drift.json_values import instant_of

JOURNAL_ORIGIN: Final = "http://emulator"
"""Stands for the emulator's address, which a journal does not have."""


def exchange_of_journal(entry: Mapping[str, Any], where: str) -> RecordedExchange:
    """Return an entry of a journal as an exchange.

    Raises ValidationError (of msgspec), and KeyError for a field that lacks.
    """
    recorded = convert(entry, RecordedRequest)
    return replace(
        exchange_of_har(har_entry(entry, JOURNAL_ORIGIN), where),
        sandbox=str(entry.get("sandbox", "")),
        sequence=recorded.sequence,
        arrived_at=instant_of(recorded.arrived_at),
        entry=recorded,
    )


def runs_of(exchanges: Iterable[RecordedExchange]) -> list[Sequence[RecordedExchange]]:
    """Part the exchanges of a journal by sandbox, and where one was reset: its numbers
    begin again.
    """
    runs: list[list[RecordedExchange]] = []
    latest_run: dict[str, list[RecordedExchange]] = {}
    for exchange in _as_they_arrived(exchanges):
        run = latest_run.get(exchange.sandbox)
        if run is None or exchange.sequence <= run[-1].sequence:
            run = latest_run[exchange.sandbox] = []
            runs.append(run)
        run.append(exchange)
    return list(runs)


def _as_they_arrived(exchanges: Iterable[RecordedExchange]) -> list[RecordedExchange]:
    """Sort by the host's time, then by number: a journal may list the newest first."""
    return sorted(
        exchanges, key=lambda exchange: (exchange.arrived_at or 0, exchange.sequence)
    )
