"""What an observation yields, and what several of them ask of a recording."""

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from msgspec import Struct

from emulator.traffic.calls import RecordedCall, Traffic

NEITHER: Final = "neither"
"""Seen where no reading of the decision explains what the service did."""


class Seen(Struct, frozen=True):
    """One piece of evidence: the reading that it speaks for (`plain`, an id, or `neither`), and the call that shows it."""

    reading: str
    call: RecordedCall
    what: str = ""
    """What was observed, in words, where no reading explains it."""
    aspect: str = ""
    """Which side of the decision it is about, where its readings differ in several: evidence for one says nothing of others."""


Observe: TypeAlias = Callable[[Traffic], Iterator[Seen]]


def whole(calls: Iterator[RecordedCall]) -> Iterator[RecordedCall]:
    """Leave out the calls whose bodies were cut off or lost."""
    return (call for call in calls if not call.is_partial and call.status is not None)


def texts(value: Any) -> Iterator[str]:
    """Iterate over every text in some JSON, keys aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from texts(member)


def meaning(schema: str | None, body: Any) -> Any:
    """Return what a body means in the emulator's reading: defaults apply; None if it breaks one of our rules."""
    from emulator.domain.intents import intent_of
    from emulator.domain.problems import Problem

    try:
        return intent_of(schema, dict(body)) if schema else None
    except (Problem, KeyError, TypeError, ValueError, AttributeError):
        return None


def is_refusal_of_input(call: RecordedCall) -> bool:
    """Whether a body was refused as such."""
    return call.code == "invalid_input"
