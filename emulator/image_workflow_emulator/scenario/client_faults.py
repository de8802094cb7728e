"""Faults of the client: its request is changed on its way in, as if it were broken."""

from typing import Literal

from msgspec import structs

from image_workflow_emulator.http.answers import Answer
from image_workflow_emulator.scenario.faults import (
    Ended,
    Fault,
    FaultConnection,
    FaultContext,
)

ClientDefect = Literal[
    "drop-key", "new-key", "one-key", "drop-query", "ignore-hint", "drop-authorization"
]


class ClientFault(Fault, frozen=True):
    """The request loses a part, or gets another, where it has one.

    `ignore-hint` removes Retry-After from the answer.
    """

    defect: ClientDefect

    async def entrance(self, context: FaultContext) -> Ended | None:
        """Change the request before it is checked.

        Raises:
            Problem: its credential is missing.
        """
        if self.defect == "drop-authorization":
            raise context.problem("authentication_required", None, None)
        if self._change(context):
            context.fire()
        return None

    def _change(self, context: FaultContext) -> bool:
        """Change the request, and return whether it had what is changed."""
        match self.defect:
            case "drop-key":
                return context.replace_key(None)
            case "new-key":
                return context.replace_key(context.request_id)
            case "one-key":
                return context.replace_key("one-key")
            case "drop-query":
                return context.drop_query()
        return False

    async def wire(
        self,
        context: FaultContext,
        response: Answer,
        connection: FaultConnection,
    ) -> None:
        """Send the answer, without a hint that is to be ignored."""
        if self.defect == "ignore-hint":
            response = _without_hint(context, response)
        await connection.send(response)


def _without_hint(context: FaultContext, response: Answer) -> Answer:
    """Remove Retry-After, and count that the rule fired, if the answer has it."""
    headers = tuple(
        (name, value) for name, value in response.headers if name != b"retry-after"
    )
    if headers == response.headers:
        return response
    context.fire()
    return structs.replace(response, headers=headers)
