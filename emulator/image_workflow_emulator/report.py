"""The report that every command which judges makes: `exec`, `conduct`, `coverage`,
`sweep`, `drift`, `scenario check`.

Owns its form as JSON. `console` writes any report as text, JSON, JUnit XML or HTML, and
knows no rule. A judge fills a report, and knows no format.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

ReportKind: TypeAlias = Literal[
    "exec", "conduct", "coverage", "sweep", "drift", "scenario"
]
Severity: TypeAlias = Literal["error", "warning", "note"]
"""`error`: it costs money, leaks a credential, or gets a client banned. `note`: it is
only wasteful."""


class ReportFinding(Struct, kw_only=True, frozen=True, omit_defaults=False):
    """One thing that is wrong, or worth knowing."""

    rule: str
    severity: Severity
    where: str | None
    message: str
    source: str | None = None
    """The sentence of the specification that it is about."""
    remedy: str | None = None
    requests: Sequence[int] = ()
    """The numbers of its requests in the journal."""
    command: str | None = None
    """The command that shows more, or repeats it."""


class ReportTable(Struct, kw_only=True, frozen=True):
    """A table: the title, the heads of its columns, and rows of as many cells."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | int | None]]


class Report(Struct, kw_only=True):
    """The outcome of a command that judges."""

    kind: ReportKind
    ok: bool
    """Whether there is nothing to mend."""
    summary: str
    """The outcome in a sentence."""
    findings: Sequence[ReportFinding] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    checked: Mapping[str, int] = field(default_factory=dict)
    """How often each rule had an occasion. JUnit XML has a test case for each; without
    an occasion it is skipped."""
    not_checked: Sequence[str] | None = None
    """Those of `checked` that could not be judged. None: no such rule is known of, and
    the JSON has no such member."""
    tables: Sequence[ReportTable] = ()
    next: Sequence[str] = ()
    """The commands to run next."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What this kind has beside the above, by its name in the JSON: such as the `cells`
    of a sweep."""
    status: int = 0
    """The exit status of the command. Not part of the JSON."""
