"""What a fault is: hooks at fixed moments of a request's way, and what it may use
there.

A fault is a class with some of the hooks of `Fault`; the exchange calls each at its
moment, and a fault knows nothing else of the exchange. The faults themselves are in
`service_faults`, `network_faults` and `client_faults`, and `fault_words` has the words
for them.

A problem before the commit is raised at the very check that would raise it (D54), so
that it binds or frees the Idempotency-Key as the real one does. A loss before the
commit leaves nothing done. After the commit everything has happened, and only the
answer is lost or replaced: what an Idempotency-Key is for.
"""

from collections.abc import Awaitable
from typing import Final, Literal, Protocol

from msgspec import Struct

from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.http.answers import Answer, Header

Moment = Literal["before_commit", "after_commit"]
"""`before_commit`: nothing happened. `after_commit`: everything happened, only the
answer is lost or replaced."""


class FaultContext(Protocol):
    """What a fault may know of a request on its way, and do to it."""

    @property
    def is_read(self) -> bool:
        """Whether the request changes nothing."""

    @property
    def is_download(self) -> bool:
        """Whether a file is asked for."""

    @property
    def began_at(self) -> int:
        """The instant at which the sandbox began, in milliseconds."""

    @property
    def request_id(self) -> str:
        """The id of the request."""

    @property
    def rule_header(self) -> tuple[Header, ...]:
        """The header that names the scenario's rule; empty if the header Emulator-Fault
        asked for the fault.
        """

    def fire(self) -> None:
        """Count that the rule fired."""

    def draw(self) -> float:
        """Return the number from 0 to 1 (not included) that the seed gives to this
        match of the rule.
        """

    def forget_rate(self) -> None:
        """Take back the count of this request against its rate (D41)."""

    def problem(
        self,
        code: str,
        detail: str | None,
        retry_after: int | None,
    ) -> Problem:
        """Return the problem that the service itself would answer with; given arguments
        override its own.
        """

    def refuse(self, problem: Problem) -> Answer:
        """Render a problem as the answer to this request."""

    def replace_key(self, key: str | None) -> bool:
        """Give the request another Idempotency-Key, or none, if it has one; return
        whether it had.
        """

    def drop_query(self) -> bool:
        """Take the query away; return whether there was one."""

    def slow_down(self, bytes_per_second: int) -> None:
        """Receive the rest of the request's body at this speed in real time."""

    def unfinished_answer(self) -> Answer:
        """Return the beginning of an answer to a request that nothing was done for."""

    async def pause(self, span_ms: int) -> None:
        """Wait for a span of real time, then read the clock and the sandbox again."""

    async def hold(self, span_ms: int) -> None:
        """Keep the request in admission for a span of emulator time, then read the
        clock and the sandbox again.
        """


class FaultConnection(Protocol):
    """The connection under a request."""

    async def send(self, response: Answer, bytes_per_second: int | None = None) -> None:
        """Send an answer whole, at a speed of real time if one is given."""

    async def send_half(
        self,
        response: Answer,
        bytes_per_second: int | None = None,
    ) -> None:
        """Send the head and the first half of the body; nothing of an answer that is
        whole without a body.
        """

    async def pause(self, span_ms: int) -> bool:
        """Wait for a span of real time; return whether the client has gone, which ends
        the wait.
        """

    async def stall(self) -> None:
        """Send nothing until the client has gone or the emulator stops."""

    async def close(self) -> None:
        """Close the connection after the bytes sent so far, and wait until it is
        closed.
        """

    async def reset(self) -> None:
        """Break the connection off, and wait until it is closed."""


class Ended(Struct, frozen=True):
    """How a fault ends a request before anything is done."""

    answer: Answer
    outcome: Literal["answered", "lost"]
    """`lost`: its client gets no more than a part of the answer."""


class Fault(Struct, frozen=True, kw_only=True):
    """Nothing goes wrong: the base of all faults, and itself an ordinary one."""

    loss: str | None = None
    """How the client loses the answer that the journal shows; None if it gets it."""

    @property
    def needs_commit(self) -> bool:
        """Whether it acts only on requests that are carried out."""
        return False

    async def entrance(self, context: FaultContext) -> Ended | None:
        """Called once the fault is known.

        What is returned ends the request here, with nothing done.
        """
        return None

    def after_check(self, context: FaultContext, check: Check) -> None:
        """Called after each check that the request passed. May raise a Problem."""

    async def admission(self, context: FaultContext) -> None:
        """Called while the request is being admitted, before admission is checked
        (D13).
        """

    def before_operation(self, context: FaultContext) -> None:
        """Called before the operation's own checks. May raise a Problem."""

    def before_commit(self, context: FaultContext) -> None:
        """Called when every check was passed and nothing was changed. May raise a
        Problem.
        """

    def headers(self, context: FaultContext, is_refusal: bool) -> tuple[Header, ...]:
        """Return the headers that the service's own answer gets."""
        if is_refusal:
            return ()
        return context.rule_header

    def answer(self, context: FaultContext, response: Answer) -> Answer:
        """Return the answer to send instead of the one bound to the key.

        Called when the request was carried out, or is a replay of one that was.
        """
        return response

    def wire(
        self,
        context: FaultContext,
        response: Answer,
        connection: FaultConnection,
    ) -> Awaitable[None]:
        """Send the answer."""
        return connection.send(response)


NO_FAULT: Final = Fault()
