"""What clients did wrong, as JSON has it.

It is the one shape in which the control plane, `image_workflow_emulator.testing` and
reports show it. Must not know a rule: most readers run in another process.
"""

from collections.abc import Mapping, Sequence
from typing import Final, get_args

from msgspec import Struct

from image_workflow_emulator.kernel.wording import first_of
from image_workflow_emulator.report import ReportFinding, Severity

SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
"""The worst first."""
_MAX_NUMBERS: Final = 10
"""Limit of the requests that a text names."""


class Finding(Struct, frozen=True, kw_only=True):
    """A mistake of a client. As a text, it is one line with its remedy."""

    rule: str
    severity: Severity
    message: str
    source: str
    """The sentence of the specification."""
    requests: list[int]
    """Sequence numbers of the recorded requests."""
    client: Mapping[str, str | None]
    """`credential` (its id) and `user_agent`."""
    remedy: str

    def reported(self, where: str) -> ReportFinding:
        """Return it as a finding of a report.

        `where` says where its requests were sent. Raises nothing.

        >>> from starlette.testclient import TestClient
        >>> app = create_app()
        >>> answer = TestClient(app).get(f"/v1/team?api_key={app.sandbox.api_key}")
        >>> app.sandbox.conduct().findings[0].reported("in the query").where
        'in the query'
        """
        return ReportFinding(
            rule=self.rule,
            severity=self.severity,
            where=where,
            message=self.message,
            source=self.source,
            remedy=self.remedy,
            requests=self.requests,
        )

    def __str__(self) -> str:
        numbers = request_numbers(self.requests)
        return (
            f"{self.severity}: {self.rule}: {self.message} ({numbers}); "
            f"remedy: {self.remedy}"
        )


class Conduct(Struct, frozen=True, kw_only=True):
    """What the clients of a sandbox did wrong, as far as the journal shows it.

    `Sandbox.conduct` returns it.
    """

    findings: list[Finding]
    """The most expensive first."""
    checked: Mapping[str, int]
    """By rule: how often it could have been broken."""
    not_checked: list[str] = []
    """The rules that an auto clock keeps from being checked."""
    judged: Mapping[str, int]
    """The number of `requests` that were judged, and how many had `left` before."""

    @property
    def errors(self) -> list[Finding]:
        """The findings that cost money, leak a credential or get a client banned."""
        return [finding for finding in self.findings if finding.severity == "error"]


def request_numbers(requests: Sequence[int]) -> str:
    """Name requests by their sequence numbers, such as `requests 2, 5`."""
    noun = "request" if len(requests) == 1 else "requests"
    return f"{noun} {first_of(requests, _MAX_NUMBERS)}"
