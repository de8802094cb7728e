"""The requests of a sandbox, followed as they are answered."""

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from image_workflow_emulator.client.control_client import MAX_REQUESTS, ControlClient

_POLL_SECONDS: Final = 0.1


def answered_requests(
    control: ControlClient,
    filters: Mapping[str, str | None],
) -> Iterator[dict[str, Any]]:
    """Iterate without end over the requests that filters select, each once it is
    answered. The first are those of a list.

    A journal that begins anew, as after a reset, is followed from its beginning.
    """
    told = set[int]()
    listed = control.call("GET", "requests", query=filters)["data"]
    since = listed[-1]["sequence"] - 1 if listed else 0
    while True:
        unanswered = control.call(
            "GET",
            "requests",
            query={"status": "none", "since": since, "limit": MAX_REQUESTS},
        )
        if unanswered["last_sequence"] < since:
            told.clear()
            since = 0
        for entry in control.recorded({**filters, "since": since}):
            is_answered = entry["duration_ms"] is not None
            if is_answered and entry["sequence"] not in told:
                told.add(entry["sequence"])
                yield entry
        since = _first_unanswered(unanswered) - 1
        told = {sequence for sequence in told if sequence > since}
        # Clients of the emulator go on, in real time.
        time.sleep(_POLL_SECONDS)  # noqa: TID251


def _first_unanswered(requests: Mapping[str, Any]) -> int:
    """Return the number of the first request in flight; without any, the next number."""
    in_flight = [
        int(entry["sequence"])
        for entry in requests["data"]
        if entry["duration_ms"] is None
    ]
    return min(in_flight, default=int(requests["last_sequence"]) + 1)
