"""The journal of a whole run of `exec`, of every sandbox, as a file: entries are kept on disk meanwhile."""

import tempfile
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import orjson

from emulator.drift.har import as_har
from emulator.drift.journals import read_entry

if TYPE_CHECKING:
    from emulator.service.record import RequestRecord
    from emulator.service.sandbox import Sandbox

MOST_BYTES_IN_MEMORY: Final = 4 * 2**20


def journal_as_har(entries: Iterable[Mapping[str, Any]], url: str) -> dict[str, Any]:
    """Return entries of the journal of the emulator at `url` as HAR, in the emulator's time."""
    return as_har(read_entry(entry, "", url) for entry in entries)


class Recording:
    """Entries as they are completed, in that order; each with the id of its sandbox."""

    def __init__(self) -> None:
        self._lines = tempfile.SpooledTemporaryFile(MOST_BYTES_IN_MEMORY)  # noqa: SIM115 (it outlives any block)

    def note(self, sandbox: "Sandbox", record: "RequestRecord") -> None:
        """Take an record of a sandbox's journal, once it is complete."""
        if record.is_complete:
            from emulator.control.describing import describe_request
            from emulator.control.masks import Masks

            described = {"sandbox": sandbox.id, **describe_request(record, Masks(sandbox.credentials))}
            self._lines.write(orjson.dumps(described, option=orjson.OPT_APPEND_NEWLINE))

    def content(self, suffix: str, url: str) -> bytes:
        """Return all entries in the order of their arrival: as HAR for a file with the suffix `.har`, else as JSON."""
        self._lines.seek(0)
        with self._lines:
            entries = sorted(map(orjson.loads, self._lines), key=lambda record: record["arrived_at"])
        content = journal_as_har(entries, url) if suffix == ".har" else {"data": entries}
        return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
