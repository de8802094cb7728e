"""A fault: a frozen value with hooks that do nothing by default, and the interface it may use.

Theory of operation. A request passes its checks, commits, is rendered and sent (web/exchange.py); a scenario
may attach one fault to it. The exchange calls the fault's hooks at fixed moments, in this order:

    entrance           once the fault is known: the credential is accepted, nothing else was checked
    after_check        after each check that the request passed
    admission          before the last checks of a write, while its Idempotency-Key is taken
    before_operation   before the operation's own checks
    before_commit      when nothing but the commit is left; what is raised here leaves no trace
    headers            when the answer is rendered
    answer             when the answer is rendered and bound to its key
    wire               in place of sending the answer

The exchange knows these hooks and no fault; a fault knows the protocols below and nothing else of the exchange. A new
fault is a class in this folder, its word in `FAULTS` (scenario/format.py), and its options in
contract/scenario.schema.json.
"""

from collections.abc import Awaitable
from typing import Final, Literal, Protocol

from msgspec import Struct

from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.http.responses import Header, Response

Moment = Literal["before_commit", "after_commit"]
"""`before_commit`: nothing happened. `after_commit`: everything happened, only the answer is lost or replaced."""


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
        """The header that names the scenario's rule; empty if the header Emulator-Fault asked for the fault."""

    def fire(self) -> None:
        """Count that the rule fired."""

    def draw(self) -> float:
        """Return the number from 0 to 1 (not included) that the seed gives to this match of the rule."""

    def forget_rate(self) -> None:
        """Take back the count of this request against its rate (D41)."""

    def problem(self, code: str, detail: str | None, retry_after: int | None) -> Problem:
        """Return the problem that the service itself would answer with; given arguments override its own."""

    def refuse(self, problem: Problem) -> Response:
        """Render a problem as the answer to this request."""

    def replace_key(self, key: str | None) -> bool:
        """Give the request another Idempotency-Key, or none, if it has one; return whether it had."""

    def drop_query(self) -> bool:
        """Take the query away; return whether there was one."""

    def slow_down(self, bytes_per_second: int) -> None:
        """Receive the rest of the request's body at this speed in real time."""

    def unanswered(self) -> Response:
        """End the request before anything is done; return the beginning of the answer that is lost."""

    async def pause(self, span_ms: int) -> None:
        """Wait for a span of real time, then look at the clock and the sandbox again."""

    async def hold(self, span_ms: int) -> None:
        """Keep the request in admission for a span of emulator time, then look at the clock and the sandbox again."""


class FaultConnection(Protocol):
    """The connection under a request."""

    async def send(self, response: Response, bytes_per_second: int | None = None) -> None:
        """Send an answer whole, at a speed of real time if one is given."""

    async def send_half(self, response: Response, bytes_per_second: int | None = None) -> None:
        """Send the head and the first half of the body; nothing of an answer that is whole without a body."""

    async def pause(self, span_ms: int) -> bool:
        """Wait for a span of real time; return whether the client has gone, which ends the wait."""

    async def stall(self) -> None:
        """Send nothing until the client has gone or the emulator stops."""

    async def close(self) -> None:
        """Close the connection after the bytes sent so far, and wait until it is closed."""

    async def reset(self) -> None:
        """Break the connection off, and wait until it is closed."""


class Fault(Struct, frozen=True):
    """Nothing goes wrong: the base of all faults, and itself an ordinary one."""

    @property
    def loss(self) -> str | None:
        """How the client loses the answer that the journal shows; None if it gets it."""
        return None

    async def entrance(self, context: FaultContext) -> Response | None:
        """Called once the fault is known. A response ends the request here, with nothing done."""
        return None

    def after_check(self, context: FaultContext, check: Check) -> None:
        """Called after each check that the request passed. May raise a Problem."""

    async def admission(self, context: FaultContext) -> None:
        """Called while the request is being admitted, before admission is checked (D13)."""

    def before_operation(self, context: FaultContext) -> None:
        """Called before the operation's own checks. May raise a Problem."""

    def before_commit(self, context: FaultContext) -> None:
        """Called when every check was passed and nothing was changed. May raise a Problem."""

    def headers(self, context: FaultContext, is_refusal: bool) -> tuple[Header, ...]:
        """Return the headers that the service's own answer gets."""
        return () if is_refusal else context.rule_header

    def answer(self, context: FaultContext, response: Response) -> Response:
        """Return the answer to send instead of the one bound to the key."""
        return response

    def wire(self, context: FaultContext, response: Response, connection: FaultConnection) -> Awaitable[None]:
        """Send the answer."""
        return connection.send(response)


NO_FAULT: Final = Fault()
