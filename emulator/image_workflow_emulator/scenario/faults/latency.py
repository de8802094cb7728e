"""`network: {latency: SPAN}`: the true answer comes late, in real time."""

from msgspec import structs

from image_workflow_emulator.http.responses import Header, Response
from image_workflow_emulator.scenario.faults.fault import Fault, FaultConnection, FaultContext, Moment


class LatencyFault(Fault, frozen=True):
    """The request is processed `latency_ms` later, or carried out at once and answered that much later."""

    latency_ms: int
    at: Moment = "before_commit"

    async def entrance(self, context: FaultContext) -> Response | None:
        """Wait before the request is processed."""
        context.fire()
        if self.at == "before_commit":
            await context.pause(self.latency_ms)
        return None

    def headers(self, context: FaultContext, is_refusal: bool) -> tuple[Header, ...]:
        """An answer that is delayed on the wire gets its header there: its repetition must not have it."""
        return () if is_refusal or self.at == "after_commit" else context.rule_header

    async def wire(self, context: FaultContext, response: Response, connection: FaultConnection) -> None:
        """Wait before the answer is sent."""
        if self.at == "after_commit":
            response = structs.replace(response, headers=(*response.headers, *context.rule_header))
            await connection.pause(self.latency_ms)
        await connection.send(response)
