"""What the service itself can do: `problem`, `hold` and `deprecated`.

A problem before the commit is raised at the very check that would raise it (D54), so that it binds or frees the
Idempotency-Key as the real one does. After the commit it takes the place of the answer: everything has happened.
"""

from email.utils import formatdate
from typing import NoReturn

from image_workflow_emulator.domain.problems import CATALOGUE, ENTRANCE_CHECKS, Check
from image_workflow_emulator.http.responses import Header, Response
from image_workflow_emulator.kernel.timestamps import SECOND_MS
from image_workflow_emulator.scenario.faults.fault import Fault, FaultContext, Moment


class ProblemFault(Fault, frozen=True):
    """The answer is a problem. `retry_after` (seconds) and `detail` None: what the service itself would say."""

    code: str
    retry_after: int | None = None
    detail: str | None = None
    at: Moment = "before_commit"

    async def entrance(self, context: FaultContext) -> Response | None:
        """Raise a problem that the service decides before it reads the request."""
        if CATALOGUE[self.code].check in ENTRANCE_CHECKS:
            if self.code == "rate_limited":
                context.forget_rate()
            self._raise(context)
        return None

    def after_check(self, context: FaultContext, check: Check) -> None:
        """Raise it at its check."""
        if self.at == "before_commit" and CATALOGUE[self.code].check is check:
            self._raise(context)

    def before_operation(self, context: FaultContext) -> None:
        """Raise a problem that belongs to no later check: those of reads, which commit nothing, and internal_error."""
        if self.at == "before_commit" and (context.is_read or self.code == "internal_error"):
            self._raise(context)

    def before_commit(self, context: FaultContext) -> None:
        """Raise a problem of an operation's own check, after the other checks passed."""
        if self.at == "before_commit":
            self._raise(context)

    def headers(self, context: FaultContext, is_refusal: bool) -> tuple[Header, ...]:
        """The answer that is replaced is the service's own, as its repetition will show it."""
        return ()

    def answer(self, context: FaultContext, response: Response) -> Response:
        """Hide what was done behind the problem."""
        if self.at == "before_commit":
            return response
        return context.refuse(context.problem(self.code, self.detail, self.retry_after))

    def _raise(self, context: FaultContext) -> NoReturn:
        raise context.problem(self.code, self.detail, self.retry_after)


class HoldFault(Fault, frozen=True):
    """The request stays in admission for a span of emulator time, so that a second one with its key is 409 (D13)."""

    duration_ms: int

    async def admission(self, context: FaultContext) -> None:
        """Hold it."""
        if self.duration_ms:
            await context.hold(self.duration_ms)


class DeprecatedFault(Fault, frozen=True):
    """Every answer, a refusal too, says that the operation is deprecated (section 9, rule 4; D43)."""

    sunset: int | None = None
    link: str | None = None

    async def entrance(self, context: FaultContext) -> Response | None:
        """Count it."""
        context.fire()
        return None

    def headers(self, context: FaultContext, is_refusal: bool) -> tuple[Header, ...]:
        """Add Deprecation, Link and Sunset."""
        headers = [*context.rule_header, (b"deprecation", b"@%d" % (context.began_at // SECOND_MS))]
        if self.link is not None:
            headers.append((b"link", f'<{self.link}>; rel="deprecation"'.encode()))
        if self.sunset is not None:
            headers.append((b"sunset", formatdate(self.sunset / SECOND_MS, usegmt=True).encode()))
        return tuple(headers)
