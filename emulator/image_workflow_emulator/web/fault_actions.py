"""What a fault may know of a request on its way, and do to it (`FaultContext`)."""

from typing import Final

from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.http.answers import JSON_TYPE, Answer, Header
from image_workflow_emulator.service.sandbox import admission
from image_workflow_emulator.service.sandbox.injected_problems import injected_problem
from image_workflow_emulator.web.exchange import Exchange
from image_workflow_emulator.web.holds import hold

_KEY_HEADER: Final = b"idempotency-key"


class FaultActions:
    """The actions of a fault on one request."""

    __slots__ = ("_exchange",)

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    @property
    def is_read(self) -> bool:
        """Whether the request changes nothing."""
        return self._exchange.route.is_read

    @property
    def is_download(self) -> bool:
        """Whether a file is asked for."""
        return self._exchange.route.byte_surface == "download"

    @property
    def began_at(self) -> int:
        """The instant at which the sandbox began, in milliseconds."""
        return self._exchange.sandbox.began_at

    @property
    def request_id(self) -> str:
        """The id of the request."""
        return self._exchange.request_id

    @property
    def rule_header(self) -> tuple[Header, ...]:
        """The header that names the scenario's rule; empty without a rule."""
        return self._exchange.rule_header

    def fire(self) -> None:
        """Count that the rule fired."""
        decision = self._exchange.decision
        decision.mark_fired()
        self._exchange.record.has_rule_acted = decision.rule is not None

    def draw(self) -> float:
        """Return the number from 0 to 1 (not included) that the seed gives to this match
        of the rule.
        """
        return self._exchange.decision.draw

    def forget_rate(self) -> None:
        """Take back the count of this request against its rate (D41)."""
        admission.forget_request(self._exchange.call)

    def problem(
        self,
        code: str,
        detail: str | None,
        retry_after: int | None,
    ) -> Problem:
        """Return the problem that the service itself would answer with."""
        self.fire()
        exchange = self._exchange
        return injected_problem(
            sandbox=exchange.sandbox,
            caller=exchange.caller,
            now=exchange.now,
            code=code,
            detail=detail,
            retry_after=retry_after,
            is_read=self.is_read,
        )

    def refuse(self, problem: Problem) -> Answer:
        """Render a problem as the answer to this request."""
        return self._exchange.refuse(problem, ())

    def unfinished_answer(self) -> Answer:
        """Return the beginning of an answer to a request that nothing was done for."""
        request_id = (b"request-id", self.request_id.encode())
        status = self._exchange.route.success
        if status == 204:
            return Answer(status, (request_id,), b"")
        body = b'{"object":'.ljust(100)
        length = (b"content-length", b"%d" % len(body))
        return Answer(status, (JSON_TYPE, length, request_id), body)

    def replace_key(self, key: str | None) -> bool:
        """Give the request another Idempotency-Key, or none, if it has one; return
        whether it had.
        """
        headers = self._exchange.head.headers
        if headers.pop(_KEY_HEADER, None) is None:
            return False
        self._exchange.record.key_header = None
        if key is not None:
            headers[_KEY_HEADER] = key.encode()
            self._exchange.record.key_header = key.encode()
        return True

    def drop_query(self) -> bool:
        """Take the query away; return whether there was one."""
        head = self._exchange.head
        had_query = bool(head.query_string)
        head.query_string = b""
        return had_query

    def slow_down(self, bytes_per_second: int) -> None:
        """Receive the rest of the body at this speed in real time."""
        exchange = self._exchange
        exchange.body.slow_down(bytes_per_second, exchange.stop.pause)

    async def pause(self, span_ms: int) -> None:
        """Wait for a span of real time, then refresh."""
        await self._exchange.stop.pause(span_ms)
        self._exchange.refresh()

    async def hold(self, span_ms: int) -> None:
        """Keep the request in admission for a span of emulator time, then refresh."""
        exchange = self._exchange
        if exchange.stop.has_begun:
            return
        self.fire()
        await hold(exchange.sandbox, exchange.key_scope, exchange.now, span_ms)
        exchange.refresh()


def fault_headers(exchange: Exchange, *, is_refusal: bool) -> tuple[Header, ...]:
    """Return the headers that the request's fault adds to the service's own answer."""
    return exchange.fault.headers(FaultActions(exchange), is_refusal)
