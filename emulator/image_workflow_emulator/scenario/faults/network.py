"""What can happen between a client and the service: `network` and `client`.

`network`: the answer comes late or slowly, or is lost on the connection. `client`: the request is changed on its way
in, as if its client were broken; do its tests notice?

A loss before the commit leaves nothing done; after it the request was carried out, and only its answer is lost: what an
Idempotency-Key is for.
"""

from typing import Any, Final, Literal

from msgspec import structs

from image_workflow_emulator.http.responses import JSON_TYPE, Header, Response
from image_workflow_emulator.scenario.faults.fault import Fault, FaultConnection, FaultContext, Moment

ClientDefect = Literal["drop-key", "new-key", "one-key", "drop-query", "ignore-hint", "drop-authorization"]
_ONE_KEY: Final = "one-key"
LOSSES: Final = ("reset", "truncate", "stall", "garbage", "corrupt")
_INVERTED: Final = bytes(range(255, -1, -1))
_GARBAGE: Final = b"\x00\xff<<<not the answer that you expected>>>\xfe{"


class NetworkFault(Fault, frozen=True):
    """The answer is lost, comes later, or at a limited rate, as does the body of the request.

    A latency before the commit delays the processing of the request, and after it the answer. `latency_ms` is a range.
    """

    lost_by: str | None = None
    at: Moment = "before_commit"
    latency_ms: tuple[int, int] = (0, 0)
    bytes_per_second: int | None = None

    @property
    def loss(self) -> str | None:
        """How the answer is lost."""
        return self.lost_by

    async def entrance(self, context: FaultContext) -> Response | None:
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
        is_lost_on_its_way = context.is_download or (context.is_read and self.lost_by == "corrupt")
        return None if self.lost_by is None or is_lost_on_its_way else context.unanswered()

    def headers(self, context: FaultContext, is_refusal: bool) -> tuple[Header, ...]:
        """The answer gets its header on the wire: its repetition must not have it."""
        return ()

    async def wire(self, context: FaultContext, response: Response, connection: FaultConnection) -> None:
        """Send the answer late or slowly, or lose it."""
        response = structs.replace(response, headers=(*response.headers, *context.rule_header))
        if self.at == "after_commit" and (latency_ms := self._drawn_latency(context)):
            await connection.pause(latency_ms)
        match self.lost_by:
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

    def _damaged(self, response: Response) -> Response:
        if self.lost_by == "corrupt":
            return structs.replace(response, body=response.body.translate(_INVERTED))
        if self.lost_by != "garbage":
            return response
        kept = [header for header in response.headers if header[0] not in (b"content-type", b"content-length")]
        headers = (JSON_TYPE, (b"content-length", b"%d" % len(_GARBAGE)), *kept)
        return Response(response.status if response.body else 200, headers, _GARBAGE)  # 204 may have no body


def network_fault(lost_by: str | None = None, at: Moment = "before_commit", **options: Any) -> NetworkFault:
    """Make the fault of the options of `network`: a loss, or options, of which one can be a loss."""
    lost_by = lost_by or next((loss for loss in LOSSES if loss in options), None)
    return NetworkFault(lost_by, at, options.get("latency", (0, 0)), options.get("rate"))


class ClientFault(Fault, frozen=True):
    """The request loses a part, or gets another, where it has one; `ignore-hint` drops Retry-After from its answer."""

    defect: ClientDefect

    async def entrance(self, context: FaultContext) -> Response | None:
        """Change the request before it is checked. Raises Problem where its credential is missing."""
        match self.defect:
            case "drop-authorization":
                raise context.problem("authentication_required", None, None)
            case "drop-query":
                is_changed = context.drop_query()
            case "ignore-hint":
                is_changed = False
            case _:
                keys = {"new-key": context.request_id, "one-key": _ONE_KEY}
                is_changed = context.replace_key(keys.get(self.defect))
        if is_changed:
            context.fire()
        return None

    async def wire(self, context: FaultContext, response: Response, connection: FaultConnection) -> None:
        """Send the answer, without a hint that is to be ignored."""
        kept = tuple(header for header in response.headers if header[0] != b"retry-after")
        if self.defect == "ignore-hint" and kept != response.headers:
            context.fire()
            response = structs.replace(response, headers=kept)
        await connection.send(response)
