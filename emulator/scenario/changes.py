"""Changes of state that a scenario makes at a time of its own: the nouns of its `timeline`.

Owns what can be changed. The engine makes the changes, each at its instant; Teams change alike in a world and in a
timeline, so `TeamChange` is the world's.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from emulator.scenario.matching import RequestMatch
from emulator.scenario.world import TeamChange

Admission = Literal["paused", "open"]


class AdmissionChange(Struct, frozen=True):
    """New writes are refused with 503 from now on, or admitted again. `retry_after` (seconds) None: the service's own."""

    admission: Admission
    retry_after: int | None = None


class CredentialChange(Struct, frozen=True):
    """What is set for a credential: its `state`, `expires_at`, `profile` or `name`.

    `key` is the key in the world file, or the sandbox's form of it.
    """

    key: str
    values: Mapping[str, Any]


Change: TypeAlias = AdmissionChange | TeamChange | CredentialChange


class After(Struct, frozen=True):
    """The answer to the nth request of those that match."""

    match: RequestMatch
    nth: int = 1


class TimedChange(Struct, frozen=True):
    """A change, and its time since the scenario began or the request after which it is made."""

    when: int | After
    """Milliseconds, or a request."""
    change: Change
    line: int
    """Its line in the file; 0 if it was not read from text."""
    spelling: Mapping[str, Any]
    """The entry as the file has it, for people."""
