"""The emulator's own journal, as `requests --format json` and `exec --journal` write it:
as JSON, or as a HAR whose entries have what only a journal knows.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from image_workflow_emulator.client.exports import har_entry
from image_workflow_emulator.drift.exchanges import RecordedExchange
from image_workflow_emulator.drift.har import exchange_of_har

_ORIGIN: Final = "http://emulator"
"""Stands for the emulator's address, which a journal does not have."""


def exchange_of_journal(entry: Mapping[str, Any], where: str) -> RecordedExchange:
    """Return an entry of a journal as an exchange.

    Raises ValidationError (of msgspec), and KeyError for a field that lacks.
    """
    as_har = har_entry(entry, _ORIGIN)
    with_journal = {**as_har, "_journal": entry}
    return exchange_of_har(with_journal, where)


def runs_of(exchanges: Iterable[RecordedExchange]) -> list[Sequence[RecordedExchange]]:
    """Part the exchanges of a journal by sandbox, and where one was reset: its numbers
    begin again.
    """
    runs: list[list[RecordedExchange]] = []
    latest_run: dict[str, list[RecordedExchange]] = {}
    for exchange in _as_they_arrived(exchanges):
        run = latest_run.get(exchange.sandbox)
        if run is None or exchange.sequence <= run[-1].sequence:
            run = []
            runs.append(run)
            latest_run[exchange.sandbox] = run
        run.append(exchange)
    return list(runs)


def _as_they_arrived(exchanges: Iterable[RecordedExchange]) -> list[RecordedExchange]:
    """Sort by the host's time, then by number: a journal may list the newest first."""

    def arrival(exchange: RecordedExchange) -> tuple[float, int]:
        return exchange.arrived_at or 0, exchange.sequence

    return sorted(exchanges, key=arrival)
