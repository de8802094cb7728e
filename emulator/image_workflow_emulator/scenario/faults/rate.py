"""`network: {rate: SIZE}`: bytes come at so many a second of real time, those of an upload and those of the answer."""

from msgspec import structs

from image_workflow_emulator.http.responses import Header, Response
from image_workflow_emulator.scenario.faults.fault import Fault, FaultConnection, FaultContext


class RateFault(Fault, frozen=True):
    """The connection carries `bytes_per_second`, which is at least 1."""

    bytes_per_second: int

    async def entrance(self, context: FaultContext) -> Response | None:
        """Receive the rest of the request's body at this speed."""
        context.fire()
        context.slow_down(self.bytes_per_second)
        return None

    def headers(self, context: FaultContext, is_refusal: bool) -> tuple[Header, ...]:
        """The answer gets its header on the wire: its repetition must not have it."""
        return ()

    async def wire(self, context: FaultContext, response: Response, connection: FaultConnection) -> None:
        """Send the answer at this speed."""
        response = structs.replace(response, headers=(*response.headers, *context.rule_header))
        await connection.send(response, self.bytes_per_second)
