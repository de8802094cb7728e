"""What a rule of conduct is: a name, a sentence of the specification, and a function from a history to its verdicts.

Theory of operation. A rule looks at the whole history of a sandbox (emulator/examiner/history.py), and yields a verdict
for each time that it could have been broken: KEPT, or a Breach. It keeps nothing from one examination to the next, so a
breach that turns out to be none (a retry that came late, but came) is gone at the next examination. A rule that cannot
be sure yields nothing: a false alarm costs more than a mistake that is missed.

A new rule is one file in this folder, a line in `registry`, and a section of docs/conduct.md; in the tests, its two examples.
"""

from collections.abc import Callable, Iterator
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from emulator.examiner.history import History

Severity = Literal["error", "warning", "note"]
"""`error`: it costs money, leaks a credential, or gets a client banned. `note`: it is only wasteful."""


class Breach(Struct, frozen=True):
    """A rule was broken. Those of one client at one operation are one finding, with the message of the first."""

    requests: tuple[int, ...]
    message: str
    severity: Severity | None = None
    """Replaces the severity of the rule."""
    rule: str | None = None
    """The name of the finding, where it is not the rule's."""
    times: int = 1
    """How many verdicts it stands for."""


KEPT: Final = None
"""The verdict on a client that kept the rule."""
Verdict: TypeAlias = Breach | None


class ConductRule(Struct, frozen=True):
    """A rule of conduct. `source` is the sentence of the specification that it follows from."""

    name: str
    severity: Severity
    source: str
    remedy: str
    examine: Callable[[History], Iterator[Verdict]]
    is_timed: bool = False
    """Whether it measures how long a client waited, which an auto clock does not tell."""
    gives_way_to: str | None = None
    """The rule whose finding about the same operation says more, so that it stands alone."""
