"""A rule of conduct: its words, and a function from a history to its verdicts.

Theory of operation. A rule looks at the whole history of a sandbox
(examiner/history.py), and yields a verdict for each time that it could have been
broken: KEPT, or a Breach. It keeps nothing from one examination to the next, so a
breach that turns out to be none (a retry that came late, but came) is gone at the next
examination. A rule that cannot be sure yields nothing: a false alarm costs more than a
mistake that is missed.

A new rule is a function with its `ConductRule` below it, its place in `conduct.RULES`,
and a section of docs/reference/conduct-rules.md; in the tests, its two examples.
"""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from msgspec import Struct

from image_workflow_emulator.examiner.history import History
from image_workflow_emulator.examiner.request import Request
from image_workflow_emulator.report import Severity


class Breach(Struct, frozen=True):
    """A rule was broken.

    The breaches of one client at one operation are one finding, with the message of the
    first.
    """

    message: str
    requests: tuple[Request, ...]
    severity: Severity | None = None
    """Replaces the severity of the rule."""
    times: int = 1
    """How many verdicts it counts as."""


KEPT: Final = None
"""The verdict on a client that kept the rule."""
Verdict: TypeAlias = Breach | None
Verdicts: TypeAlias = Iterator[Verdict]


class ConductRule(Struct, frozen=True, kw_only=True):
    """A rule of conduct, with the words in which it is reported."""

    name: str
    examine: Callable[[History], Verdicts]
    source: str
    """The sentence of the specification that it follows from."""
    remedy: str
    severity: Severity = "warning"
    is_timed: bool = False
    """Whether it measures how long a client waited, which an auto clock skips."""
    is_about_retries: bool = False
    """Whether a library's retry policy keeps it."""


def breach(
    message: str,
    *requests: Request,
    severity: Severity | None = None,
    times: int = 1,
) -> Breach:
    """Return the breach that some requests are."""
    return Breach(message, requests, severity, times)
