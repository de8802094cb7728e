"""`network: reset`, `truncate`, `stall` or `garbage`: the answer is lost on the connection.

Before the commit nothing happens but that; after it the request was carried out, and only its answer is lost: what an
Idempotency-Key is for.
"""

from typing import Final, Literal

from msgspec import structs

from image_workflow_emulator.http.responses import JSON_TYPE, Header, Response
from image_workflow_emulator.scenario.faults.fault import Fault, FaultConnection, FaultContext, Moment

LossKind = Literal["reset", "truncate", "stall", "garbage"]

_GARBAGE: Final = b"\x00\xff<<<not the answer that you expected>>>\xfe{"


class LossFault(Fault, frozen=True):
    """The answer is lost: the connection is reset, closed before the end of the answer, silent, or carries no JSON."""

    kind: LossKind
    at: Moment = "before_commit"

    @property
    def loss(self) -> str:
        """How it is lost: always."""
        return self.kind

    async def entrance(self, context: FaultContext) -> Response | None:
        """End the request before the commit, if so configured; a file has nothing to commit and is lost on its way."""
        context.fire()
        return context.unanswered() if self.at == "before_commit" and not context.is_download else None

    def headers(self, context: FaultContext, is_refusal: bool) -> tuple[Header, ...]:
        """The answer that is lost is the service's own, as its repetition will show it."""
        return ()

    async def wire(self, context: FaultContext, response: Response, connection: FaultConnection) -> None:
        """Lose the answer."""
        response = structs.replace(response, headers=(*response.headers, *context.rule_header))
        match self.kind:
            case "reset":
                await connection.reset()
            case "truncate":
                await connection.send_half(response)
                await connection.close()
            case "stall":
                await connection.stall()
            case "garbage":
                await connection.send(_garbled(response))


def _garbled(response: Response) -> Response:
    kept = [header for header in response.headers if header[0] not in (b"content-type", b"content-length")]
    headers = (JSON_TYPE, (b"content-length", b"%d" % len(_GARBAGE)), *kept)
    status = response.status if response.body else 200  # no other status without a body may have one
    return Response(status, headers, _GARBAGE)
