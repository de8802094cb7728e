"""What an observation yields, and what several of them ask of a recording."""

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from msgspec import Struct

from emulator.traffic.calls import RecordedCall, Traffic
from emulator.traffic.exchanges import leaves

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


def texts(value: Any) -> list[str]:
    """Return every text in some JSON, keys aside."""
    return [leaf for _, leaf in leaves(value) if isinstance(leaf, str)]


def meaning(schema: str | None, body: Any) -> Any:
    """Return what a body means in the emulator's reading: defaults apply; None if it breaks one of our rules."""
    from emulator.domain.intents import intent_of
    from emulator.domain.problems import Problem

    try:
        return intent_of(schema, dict(body)) if schema else None
    except (Problem, KeyError, TypeError, ValueError, AttributeError):
        return None
