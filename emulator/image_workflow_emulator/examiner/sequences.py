"""Several requests: grouped, in rows, and the pauses between two of them.

Spans are in milliseconds. A pause is measured by two clocks, the emulator's and the
host's; a client that has waited by either has waited.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple, TypeVar

from image_workflow_emulator.examiner.request import Request, Requests
from image_workflow_emulator.kernel.timestamps import MINUTE_MS, SECOND_MS

PATIENCE_MS: Final = 10 * MINUTE_MS
"""What was not done within this much emulator time counts as never done."""
_LEAST_SHARE: Final = 0.95
"""A wait is kept if this share of it has passed, less `_SLACK_MS`."""
_SLACK_MS: Final = 50
"""How much earlier than it was set a timer may go off."""
Key = TypeVar("Key", bound=Hashable)


def grouped(
    requests: Iterable[Request],
    key: Callable[[Request], Key],
) -> Mapping[Key, Requests]:
    """Return requests by their key, in the order in which each key first came."""
    groups: defaultdict[Key, list[Request]] = defaultdict(list)
    for request in requests:
        groups[key(request)].append(request)
    return groups


class Row(NamedTuple):
    """Requests that belong together, and the request that ended the row."""

    requests: Requests
    end: Request | None


def rows_of(
    requests: Iterable[Request],
    belongs: Callable[[Request], object],
    ends: Callable[[Request, Request], bool],
) -> Iterator[Row]:
    """Iterate over the rows of requests that belong.

    `ends` says of the last request of a row and the next one whether the row is over.
    """
    row: list[Request] = []
    for request in requests:
        if row and ends(row[-1], request):
            yield Row(row, request)
            row = []
        if belongs(request):
            row.append(request)
    if row:
        yield Row(row, None)


# Pauses -------------------------------------------------------------------------------


def pause_ms(earlier: Request, later: Request) -> float:
    """Return the pause between an answer and the next request.

    It is measured by the clock that moved farther.
    """
    emulator_ms = later.at - earlier.left_at
    took_ms = earlier.duration_ms or 0
    host_ms = later.arrived_ms - earlier.arrived_ms - took_ms
    return max(emulator_ms, host_ms)


def is_wait_measured(earlier: Request, later: Request) -> bool:
    """Whether the wait between two requests can be measured: no auto clock skips it."""
    return earlier.is_timed and later.is_timed


def has_waited(
    earlier: Request,
    later: Request,
    seconds: int,
) -> bool:
    """Whether a client has waited so long between an answer and the next request."""
    least_ms = seconds * SECOND_MS * _LEAST_SHARE - _SLACK_MS
    return pause_ms(earlier, later) >= least_ms


def follows_soon(earlier: Request, later: Request) -> bool:
    """Whether the pause is too short for the later request to be a new attempt."""
    return later.at - earlier.left_at < PATIENCE_MS


def is_refused_alike(earlier: Request, later: Request) -> bool:
    """Whether nothing has changed between two refusals that follow each other."""
    return (
        earlier.code == later.code
        and earlier.available_credits == later.available_credits
        and follows_soon(earlier, later)
    )
