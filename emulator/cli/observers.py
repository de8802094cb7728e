"""What `exec` observes of all sandboxes while its command runs: the whole journal, and the numbers of requests."""

import tempfile
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import orjson

from emulator.control.describing import describe_request
from emulator.control.explanations import remedy_of
from emulator.control.masks import Masks
from emulator.scenario.matching import ByteSurface
from emulator.service.record import RequestData, RequestRecord
from emulator.service.sandbox import Sandbox

MAX_BYTES_IN_MEMORY: Final = 4 * 2**20


class Recording:
    """Entries of the journal as they are completed, each with the id of its sandbox. They are kept on disk meanwhile."""

    def __init__(self) -> None:
        self._lines = tempfile.SpooledTemporaryFile(MAX_BYTES_IN_MEMORY)  # noqa: SIM115 (it outlives any block)

    def note(self, sandbox: Sandbox, record: RequestRecord) -> None:
        """Take a record of a sandbox's journal, once it is complete."""
        if record.is_complete:
            described = {"sandbox": sandbox.id, **describe_request(record, Masks(sandbox.credentials))}
            self._lines.write(orjson.dumps(described, option=orjson.OPT_APPEND_NEWLINE))

    def content(self, suffix: str, url: str) -> bytes:
        """Return all entries in the order of their arrival: as HAR for a file with the suffix `.har`, else as JSON."""
        self._lines.seek(0)
        with self._lines:
            entries = sorted(map(orjson.loads, self._lines), key=lambda record: record["arrived_at"])
        from emulator.drift.har import journal_as_har

        content = journal_as_har(entries, url) if suffix == ".har" else {"data": entries}
        return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


class RequestCount(NamedTuple):
    """What is counted of a request: where it came, and how it ended. `status` is None where it was never answered."""

    operation: str | None
    status: int | None
    code: str | None
    byte_surface: ByteSurface | None = None
    is_replayed: bool = False
    is_lost: bool = False


class Requests:
    """The requests to all sandboxes, counted; those refused also by operation and code, each with the remedy of the first."""

    def __init__(self) -> None:
        self.counts = Counter[RequestCount]()
        self._has_ended = False
        self._refused = Counter[tuple[str, str]]()
        self._remedies: dict[tuple[str, str], str | None] = {}

    def note(self, _sandbox: Sandbox, record: RequestRecord) -> None:
        """Take a record of a sandbox's journal, once it is complete."""
        if not record.is_complete or self._has_ended:
            return
        self._count(record)
        if record.problem is not None:
            kind = (record.operation or record.byte_surface or record.path, record.problem.code)
            self._refused[kind] += 1
            self._remedies.setdefault(kind, remedy_of(record))

    def end(self, sandboxes: Iterable[Sandbox]) -> None:
        """Count the requests that have no answer yet, and none that ends later."""
        self._has_ended = True
        for sandbox in sandboxes:
            for request in sandbox.journal.requests:
                if not request.is_complete:
                    self._count(request)

    def _count(self, request: RequestData) -> None:
        place = request.operation, request.status, request.code, request.byte_surface
        self.counts[RequestCount(*place, request.replay_of is not None, request.loss is not None)] += 1

    def refusals(self) -> list[dict[str, Any]]:
        """Return those refused as JSON, the most frequent first."""
        return [
            {"operation": kind[0], "code": kind[1], "count": count, "remedy": self._remedies[kind]}
            for kind, count in self._refused.most_common()
        ]
