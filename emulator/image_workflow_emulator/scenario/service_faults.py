"""Faults that the service itself could cause: a problem, a slow admission, deprecation."""

from typing import NoReturn

from image_workflow_emulator.domain.problems import (
    CATALOGUE,
    ENTRANCE_CHECKS,
    Check,
    Problem,
)
from image_workflow_emulator.http.answers import Answer, Header
from image_workflow_emulator.kernel.timestamps import SECOND_MS
from image_workflow_emulator.scenario.faults import Ended, Fault, FaultContext, Moment


class ProblemFault(Fault, frozen=True):
    """The answer is a problem."""

    code: str
    retry_after: int | None = None
    """Seconds. None: what the service itself would say, as for `detail`."""
    detail: str | None = None
    at: Moment = "before_commit"

    @property
    def needs_commit(self) -> bool:
        """Whether it acts only on requests that are carried out."""
        return self.at == "after_commit"

    async def entrance(self, context: FaultContext) -> Ended | None:
        """Raise a problem that the service decides before it reads the request."""
        own_check = CATALOGUE[self.code].check
        if own_check not in ENTRANCE_CHECKS:
            return None
        if self.code == "rate_limited":
            context.forget_rate()
        self._raise(context)

    def after_check(self, context: FaultContext, check: Check) -> None:
        """Raise the problem at its check."""
        own_check = CATALOGUE[self.code].check
        if own_check is check and not self.needs_commit:
            self._raise(context)

    def before_operation(self, context: FaultContext) -> None:
        """Raise a problem that belongs to no later check: those of reads, which commit
        nothing, and internal_error.
        """
        if self.needs_commit:
            return
        if context.is_read or self.code == "internal_error":
            self._raise(context)

    def before_commit(self, context: FaultContext) -> None:
        """Raise a problem of an operation's own check, after the other checks passed."""
        if not self.needs_commit:
            self._raise(context)

    def headers(self, context: FaultContext, is_refusal: bool) -> tuple[Header, ...]:
        """Return none: the answer that is replaced is the service's own, as its
        repetition will show it.
        """
        return ()

    def answer(self, context: FaultContext, response: Answer) -> Answer:
        """Hide what was done behind the problem."""
        if not self.needs_commit:
            return response
        return context.refuse(self._problem(context))

    def _raise(self, context: FaultContext) -> NoReturn:
        raise self._problem(context)

    def _problem(self, context: FaultContext) -> Problem:
        return context.problem(self.code, self.detail, self.retry_after)


class HoldFault(Fault, frozen=True):
    """The request stays in admission, so that a second one with its key is 409 (D13)."""

    duration_ms: int
    """A span of emulator time."""

    async def admission(self, context: FaultContext) -> None:
        """Keep the request in admission."""
        if self.duration_ms:
            await context.hold(self.duration_ms)


class DeprecatedFault(Fault, frozen=True):
    """Every answer, a refusal too, says that the operation is deprecated (section 9,
    rule 4; D43).
    """

    sunset: int | None = None
    """An instant."""
    link: str | None = None

    async def entrance(self, context: FaultContext) -> Ended | None:
        """Count that the rule fired."""
        context.fire()
        return None

    def headers(self, context: FaultContext, is_refusal: bool) -> tuple[Header, ...]:
        """Add Deprecation, Link and Sunset."""
        began_at_seconds = context.began_at // SECOND_MS
        headers = list(context.rule_header)
        headers.append((b"deprecation", b"@%d" % began_at_seconds))
        if self.link is not None:
            link = f'<{self.link}>; rel="deprecation"'
            headers.append((b"link", link.encode()))
        if self.sunset is not None:
            from email.utils import formatdate  # which takes time to import

            sunset = formatdate(self.sunset / SECOND_MS, usegmt=True)
            headers.append((b"sunset", sunset.encode()))
        return tuple(headers)
