"""The journal of a sandbox: a record of every request, in the order of arrival.

Bounded by requests and by bytes; what is dropped is counted. The control plane words
the records on request. Must not know its readers; nothing here waits.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from image_workflow_emulator.kernel.clock import host_elapsed_ms, host_now
from image_workflow_emulator.service.records.feed import Feed
from image_workflow_emulator.service.records.record import RequestRecord

MAX_REQUESTS = 10_000
"""The usual bound."""
MAX_BYTES = 64 * 1024 * 1024
"""The bound of paths, headers and bodies for up to `MAX_REQUESTS`; it grows with a
higher bound of the requests."""


@dataclass(slots=True, eq=False)
class Journal:
    """The requests, oldest first, also those in flight."""

    feed: Feed = field(default_factory=Feed)
    max_requests: int = MAX_REQUESTS
    requests: deque[RequestRecord] = field(default_factory=deque)
    last_sequence: int = 0
    dropped: int = 0
    held_bytes: int = 0
    _cleared_up_to: int = 0

    def arrive(self, request: RequestRecord) -> None:
        """Write down a request that has arrived; its number is never used again,
        whatever is dropped or cleared.
        """
        self.last_sequence += 1
        request.sequence = self.last_sequence
        request.arrived_at = host_now()
        request.arrived_ms = host_elapsed_ms()
        self.requests.append(request)
        request.change = self.feed.note("arrived", self.last_sequence)
        if len(self.requests) > self.max_requests:
            self._drop_oldest()

    def leave(
        self,
        request: RequestRecord,
        left_at: int,
        *,
        is_timed: bool,
    ) -> bool:
        """Complete the record of a request that has left, within the bounds; tell
        whether it was not cleared meanwhile.
        """
        request.left_at = left_at
        request.is_timed = is_timed
        request.last_arrival = self.last_sequence
        request.duration_ms = host_elapsed_ms() - request.arrived_ms
        request.complete()
        if request.sequence >= self._first_sequence:
            self.held_bytes += request.held_bytes
            max_bytes = MAX_BYTES
            if self.max_requests > MAX_REQUESTS:
                max_bytes = MAX_BYTES // MAX_REQUESTS * self.max_requests
            while self.held_bytes > max_bytes:
                self._drop_oldest()
        is_known = request.sequence > self._cleared_up_to
        if is_known:
            self.feed.note("left", request)
        return is_known

    def clear(self) -> None:
        """Forget every request; one still in flight leaves no trace either."""
        self.requests.clear()
        self.feed.forget_before(self.feed.last_number + 1)
        self.held_bytes = 0
        self.dropped = 0
        self._cleared_up_to = self.last_sequence
        self.feed.note("cleared", self.last_sequence)

    # Reading --------------------------------------------------------------------------

    def completed(self) -> list[RequestRecord]:
        """Return the records of the requests that have left."""
        return [request for request in self.requests if request.is_complete]

    def find(self, identifier: str) -> RequestRecord | None:
        """Return the newest request whose answer carries a Request-Id, or which arrived
        under it; None if there is none.

        So of a request and its replays, which all carry the same one, the last replay
        is found; the first answer, and every other, has a sequence number of its own.
        """
        for record in self.newest_first():
            if identifier in (record.request_id, record.replay_of):
                return record
        return None

    def at_sequence(self, sequence: int) -> RequestRecord | None:
        """Return the request of a sequence number; None if it is not there."""
        index = sequence - self._first_sequence  # each number has one request
        if not 0 <= index < len(self.requests):
            return None
        return self.requests[index]

    def original_of(self, replay: RequestRecord) -> RequestRecord | None:
        """Return the request whose stored answer a replay sent again, or None if it was
        dropped.
        """
        for record in self.newest_first():
            if record.request_id == replay.replay_of:
                return record
        return None

    def newest_first(self, since: int = 0) -> Iterator[RequestRecord]:
        """Go through the requests from the newest on, down to those later than a
        sequence number.
        """
        for request in reversed(self.requests):
            if request.sequence <= since:
                return
            yield request

    # Dropping -------------------------------------------------------------------------

    @property
    def _first_sequence(self) -> int:
        if not self.requests:
            return self.last_sequence + 1
        return self.requests[0].sequence

    def _drop_oldest(self) -> None:
        request = self.requests.popleft()
        self.dropped += 1
        self.feed.forget_before(request.change + 1)
        if request.is_complete:
            self.held_bytes -= request.held_bytes
