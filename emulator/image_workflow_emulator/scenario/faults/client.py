"""`client: drop-key` and others: the request is changed on its way in, as if its client were broken. Do its tests notice?"""

from typing import Final, Literal, Self

from msgspec import structs

from image_workflow_emulator.http.responses import Response
from image_workflow_emulator.scenario.faults.fault import Fault, FaultConnection, FaultContext, Then

ClientDefect = Literal["drop-key", "new-key", "one-key", "drop-query", "ignore-hint", "drop-authorization"]
_ONE_KEY: Final = "one-key"


class ClientFault(Fault, frozen=True):
    """The request loses a part, or gets another; `ignore-hint` takes Retry-After out of its answer. It acts where there is one."""

    defect: ClientDefect

    @classmethod
    def read(cls, then: Then) -> Self:
        """Read the mapping under `then`."""
        return cls(then["client"])

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
