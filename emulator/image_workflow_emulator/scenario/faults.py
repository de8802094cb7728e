"""Faults: what can go wrong with a request, each a frozen value with hooks at fixed moments of the request's way.

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
fault is a class here, its word in `FAULTS`, and its options in contract/scenario.schema.json.

A problem before the commit is raised at the very check that would raise it (D54), so that it binds or frees the
Idempotency-Key as the real one does. A loss before the commit leaves nothing done. After the commit everything has
happened, and only the answer is lost or replaced: what an Idempotency-Key is for.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Literal, NoReturn, Protocol

from msgspec import Struct, structs

from image_workflow_emulator.domain.problems import (
    CATALOGUE,
    ENTRANCE_CHECKS,
    Check,
    Problem,
)
from image_workflow_emulator.http.answers import JSON_TYPE, Answer, Header
from image_workflow_emulator.kernel.timestamps import SECOND_MS

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

    def problem(
        self, code: str, detail: str | None, retry_after: int | None
    ) -> Problem:
        """Return the problem that the service itself would answer with; given arguments override its own."""

    def refuse(self, problem: Problem) -> Answer:
        """Render a problem as the answer to this request."""

    def replace_key(self, key: str | None) -> bool:
        """Give the request another Idempotency-Key, or none, if it has one; return whether it had."""

    def drop_query(self) -> bool:
        """Take the query away; return whether there was one."""

    def slow_down(self, bytes_per_second: int) -> None:
        """Receive the rest of the request's body at this speed in real time."""

    def unfinished_answer(self) -> Answer:
        """Return the beginning of an answer to a request that nothing was done for."""

    async def pause(self, span_ms: int) -> None:
        """Wait for a span of real time, then read the clock and the sandbox again."""

    async def hold(self, span_ms: int) -> None:
        """Keep the request in admission for a span of emulator time, then read the clock and the sandbox again."""


class FaultConnection(Protocol):
    """The connection under a request."""

    async def send(self, response: Answer, bytes_per_second: int | None = None) -> None:
        """Send an answer whole, at a speed of real time if one is given."""

    async def send_half(
        self, response: Answer, bytes_per_second: int | None = None
    ) -> None:
        """Send the head and the first half of the body; nothing of an answer that is whole without a body."""

    async def pause(self, span_ms: int) -> bool:
        """Wait for a span of real time; return whether the client has gone, which ends the wait."""

    async def stall(self) -> None:
        """Send nothing until the client has gone or the emulator stops."""

    async def close(self) -> None:
        """Close the connection after the bytes sent so far, and wait until it is closed."""

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

    async def entrance(self, context: FaultContext) -> Ended | None:
        """Called once the fault is known. What is returned ends the request here, with nothing done."""
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

    def answer(self, context: FaultContext, response: Answer) -> Answer:
        """Return the answer to send instead of the one bound to the key."""
        return response

    def wire(
        self, context: FaultContext, response: Answer, connection: FaultConnection
    ) -> Awaitable[None]:
        """Send the answer."""
        return connection.send(response)


NO_FAULT: Final = Fault()


# What the service can do: problem, hold and deprecated ---------------------------------------------------------------


class ProblemFault(Fault, frozen=True):
    """The answer is a problem. `retry_after` (seconds) and `detail` None: what the service itself would say."""

    code: str
    retry_after: int | None = None
    detail: str | None = None
    at: Moment = "before_commit"

    async def entrance(self, context: FaultContext) -> Ended | None:
        """Raise a problem that the service decides before it reads the request."""
        if CATALOGUE[self.code].check in ENTRANCE_CHECKS:
            if self.code == "rate_limited":
                context.forget_rate()
            self._raise(context)
        return None

    def after_check(self, context: FaultContext, check: Check) -> None:
        """Raise the problem at its check."""
        if self.at == "before_commit" and CATALOGUE[self.code].check is check:
            self._raise(context)

    def before_operation(self, context: FaultContext) -> None:
        """Raise a problem that belongs to no later check: those of reads, which commit nothing, and internal_error."""
        if self.at == "before_commit" and (
            context.is_read or self.code == "internal_error"
        ):
            self._raise(context)

    def before_commit(self, context: FaultContext) -> None:
        """Raise a problem of an operation's own check, after the other checks passed."""
        if self.at == "before_commit":
            self._raise(context)

    def headers(self, context: FaultContext, is_refusal: bool) -> tuple[Header, ...]:
        """Return none: the answer that is replaced is the service's own, as its repetition will show it."""
        return ()

    def answer(self, context: FaultContext, response: Answer) -> Answer:
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
        """Keep the request in admission."""
        if self.duration_ms:
            await context.hold(self.duration_ms)


class DeprecatedFault(Fault, frozen=True):
    """Every answer, a refusal too, says that the operation is deprecated (section 9, rule 4; D43)."""

    sunset: int | None = None
    link: str | None = None

    async def entrance(self, context: FaultContext) -> Ended | None:
        """Count that the rule fired."""
        context.fire()
        return None

    def headers(self, context: FaultContext, is_refusal: bool) -> tuple[Header, ...]:
        """Add Deprecation, Link and Sunset."""
        headers = [
            *context.rule_header,
            (b"deprecation", b"@%d" % (context.began_at // SECOND_MS)),
        ]
        if self.link is not None:
            headers.append((b"link", f'<{self.link}>; rel="deprecation"'.encode()))
        if self.sunset is not None:
            from email.utils import formatdate  # which takes time to import

            headers.append(
                (b"sunset", formatdate(self.sunset / SECOND_MS, usegmt=True).encode())
            )
        return tuple(headers)


# What happens between a client and the service: network and client --------------------------------------------------


ClientDefect = Literal[
    "drop-key", "new-key", "one-key", "drop-query", "ignore-hint", "drop-authorization"
]
LOSSES: Final = ("reset", "truncate", "stall", "garbage", "corrupt")
_INVERTED: Final = bytes(range(255, -1, -1))
_GARBAGE: Final = b"\x00\xff<<<not the answer that you expected>>>\xfe{"


class NetworkFault(Fault, frozen=True):
    """The answer is lost, comes later, or at a limited rate, as does the body of the request.

    A latency before the commit delays the processing of the request, and after it the answer. `latency_ms` is a range.
    """

    at: Moment = "before_commit"
    latency_ms: tuple[int, int] = (0, 0)
    bytes_per_second: int | None = None

    async def entrance(self, context: FaultContext) -> Ended | None:
        """End the request before the commit, if so configured; a file has nothing to commit and is lost on its way.

        A read is corrupted on its way too: its true answer has the length.
        """
        context.fire()
        if self.bytes_per_second is not None:
            context.slow_down(self.bytes_per_second)
        if self.at == "after_commit":
            return None
        if latency_ms := self._drawn_latency(context):
            await context.pause(latency_ms)
        is_lost_on_its_way = context.is_download or (
            context.is_read and self.loss == "corrupt"
        )
        if self.loss is None or is_lost_on_its_way:
            return None
        return Ended(context.unfinished_answer(), "lost")

    def headers(self, context: FaultContext, is_refusal: bool) -> tuple[Header, ...]:
        """Return none: the answer gets its header on the wire, and its repetition must not have it."""
        return ()

    async def wire(
        self, context: FaultContext, response: Answer, connection: FaultConnection
    ) -> None:
        """Send the answer late or slowly, or lose it."""
        response = structs.replace(
            response, headers=(*response.headers, *context.rule_header)
        )
        if self.at == "after_commit" and (latency_ms := self._drawn_latency(context)):
            await connection.pause(latency_ms)
        match self.loss:
            case "reset":
                await connection.reset()
            case "truncate":
                await connection.send_half(response, self.bytes_per_second)
                await connection.close()
            case "stall":
                await connection.stall()
            case _:
                await connection.send(self._damaged(response), self.bytes_per_second)

    def _drawn_latency(self, context: FaultContext) -> int:
        least, greatest = self.latency_ms
        return least + int(context.draw() * (greatest - least + 1))

    def _damaged(self, response: Answer) -> Answer:
        if self.loss == "corrupt":
            return structs.replace(response, body=response.body.translate(_INVERTED))
        if self.loss != "garbage":
            return response
        kept = [
            header
            for header in response.headers
            if header[0] not in (b"content-type", b"content-length")
        ]
        headers = (JSON_TYPE, (b"content-length", b"%d" % len(_GARBAGE)), *kept)
        return Answer(
            response.status if response.body else 200, headers, _GARBAGE
        )  # 204 may have no body


def network_fault(
    loss: str | None = None, at: Moment = "before_commit", **options: Any
) -> NetworkFault:
    """Make the fault from the options of `network`: a loss, or options, of which one can be a loss."""
    loss = loss or next((word for word in LOSSES if word in options), None)
    return NetworkFault(
        at, options.get("latency", (0, 0)), options.get("rate"), loss=loss
    )


class ClientFault(Fault, frozen=True):
    """The request loses a part, or gets another, where it has one; `ignore-hint` drops Retry-After from its answer."""

    defect: ClientDefect

    async def entrance(self, context: FaultContext) -> Ended | None:
        """Change the request before it is checked. Raises Problem where its credential is missing."""
        if self.defect == "drop-authorization":
            raise context.problem("authentication_required", None, None)
        keys = {"drop-key": None, "new-key": context.request_id, "one-key": "one-key"}
        is_changed = self.defect in keys and context.replace_key(keys[self.defect])
        if is_changed or (self.defect == "drop-query" and context.drop_query()):
            context.fire()
        return None

    async def wire(
        self, context: FaultContext, response: Answer, connection: FaultConnection
    ) -> None:
        """Send the answer, without a hint that is to be ignored."""
        kept = tuple(
            header for header in response.headers if header[0] != b"retry-after"
        )
        if self.defect == "ignore-hint" and kept != response.headers:
            context.fire()
            response = structs.replace(response, headers=kept)
        await connection.send(response)


FAULTS: Final[Mapping[str, Callable[..., Fault]]] = {
    "problem": ProblemFault,
    "hold": HoldFault,
    "network": network_fault,
    "deprecated": DeprecatedFault,
    "client": ClientFault,
}
"""The makers of the faults of rules about requests, from a value and options, by the word under `then`."""
