"""Faults of the network: an answer is lost, damaged, late or slow."""

from typing import Any, Final

from msgspec import structs

from image_workflow_emulator.http.answers import JSON_TYPE, Answer, Header
from image_workflow_emulator.scenario.faults import (
    Ended,
    Fault,
    FaultConnection,
    FaultContext,
    Moment,
)

LOSSES: Final = ("reset", "truncate", "stall", "garbage", "corrupt")
_INVERTED: Final = bytes(range(255, -1, -1))
"""The table that inverts the bits of each byte."""
_GARBAGE: Final = b"\x00\xff<<<not the answer that you expected>>>\xfe{"
_HEADERS_OF_BODY: Final = (b"content-type", b"content-length")


class NetworkFault(Fault, frozen=True):
    """The answer is lost, comes later, or at a limited rate, as does the body of the
    request.

    A latency before the commit delays the processing of the request, and after it the
    answer.
    """

    at: Moment = "before_commit"
    latency_ms: tuple[int, int] = (0, 0)
    """The least and the greatest, between which the seed draws."""
    bytes_per_second: int | None = None

    @property
    def needs_commit(self) -> bool:
        """Whether it acts only on requests that are carried out."""
        return self.at == "after_commit"

    async def entrance(self, context: FaultContext) -> Ended | None:
        """Slow the request down, and before the commit delay it, or end it here.

        A file has nothing to commit, and is lost on its way; so is a read that is
        corrupted, since its true answer has the length.
        """
        if self.bytes_per_second is not None:
            context.slow_down(self.bytes_per_second)
        if self.needs_commit:
            return None
        context.fire()
        latency_ms = self._drawn_latency(context)
        if latency_ms:
            await context.pause(latency_ms)
        if self.loss is None or self._is_lost_on_its_way(context):
            return None
        return Ended(context.unfinished_answer(), "lost")

    def headers(self, context: FaultContext, is_refusal: bool) -> tuple[Header, ...]:
        """Return none: the answer gets its header on the wire, and its repetition must
        not have it.
        """
        return ()

    def answer(self, context: FaultContext, response: Answer) -> Answer:
        """Count that the rule fired, where it acts after the commit."""
        if self.needs_commit:
            context.fire()
        return response

    async def wire(
        self,
        context: FaultContext,
        response: Answer,
        connection: FaultConnection,
    ) -> None:
        """Send the answer late or slowly, or lose it."""
        headers = (*response.headers, *context.rule_header)
        response = structs.replace(response, headers=headers)
        if self.needs_commit:
            await self._delay(context, connection)
        match self.loss:
            case "reset":
                await connection.reset()
            case "truncate":
                await connection.send_half(response, self.bytes_per_second)
                await connection.close()
            case "stall":
                await connection.stall()
            case "garbage":
                await connection.send(_garbage(response), self.bytes_per_second)
            case "corrupt":
                await connection.send(_corrupted(response), self.bytes_per_second)
            case _:
                await connection.send(response, self.bytes_per_second)

    def _is_lost_on_its_way(self, context: FaultContext) -> bool:
        if context.is_download:
            return True
        return context.is_read and self.loss == "corrupt"

    async def _delay(self, context: FaultContext, connection: FaultConnection) -> None:
        latency_ms = self._drawn_latency(context)
        if latency_ms:
            await connection.pause(latency_ms)

    def _drawn_latency(self, context: FaultContext) -> int:
        least, greatest = self.latency_ms
        choices = greatest - least + 1
        return least + int(context.draw() * choices)


def _corrupted(response: Answer) -> Answer:
    """Return an answer whose body has its length, but does not decode."""
    inverted_body = response.body.translate(_INVERTED)
    return structs.replace(response, body=inverted_body)


def _garbage(response: Answer) -> Answer:
    """Return an answer whose body is not JSON; 200 for a 204, which may have no body."""
    status = response.status
    if not response.body:
        status = 200
    other_headers = [
        (name, value)
        for name, value in response.headers
        if name not in _HEADERS_OF_BODY
    ]
    length = (b"content-length", b"%d" % len(_GARBAGE))
    return Answer(status, (JSON_TYPE, length, *other_headers), _GARBAGE)


def network_fault(
    loss: str | None = None,
    at: Moment = "before_commit",
    **options: Any,
) -> NetworkFault:
    """Make the fault that `network` asks for: a loss alone, or options, of which one
    can be a loss.
    """
    if loss is None:
        loss = next((word for word in LOSSES if word in options), None)
    return NetworkFault(
        at=at,
        latency_ms=options.get("latency", (0, 0)),
        bytes_per_second=options.get("rate"),
        loss=loss,
    )
