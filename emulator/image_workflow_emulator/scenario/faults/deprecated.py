"""`deprecated: {sunset, link}`: the true answer, with the headers of deprecated behaviour (section 9, rule 4; D43)."""

from email.utils import formatdate
from typing import Self

from image_workflow_emulator.documents.values import optional
from image_workflow_emulator.http.responses import Header, Response
from image_workflow_emulator.kernel.timestamps import SECOND_MS, parse_timestamp
from image_workflow_emulator.scenario.faults.fault import Fault, FaultContext, Then


class DeprecatedFault(Fault, frozen=True):
    """Every answer, a refusal too, says that the operation is deprecated. `sunset` is an instant, `link` a URL."""

    sunset: int | None = None
    link: str | None = None

    @classmethod
    def read(cls, then: Then) -> Self:
        """Read the mapping under `then`."""
        given = then["deprecated"]
        return cls(optional(given, "sunset", parse_timestamp), given.get("link"))

    async def entrance(self, context: FaultContext) -> Response | None:
        """Count it."""
        context.fire()
        return None

    def headers(self, context: FaultContext, is_refusal: bool) -> tuple[Header, ...]:
        """Add Deprecation, Link and Sunset."""
        headers = [*context.rule_header, (b"deprecation", b"@%d" % (context.began_at // SECOND_MS))]
        if self.link is not None:
            headers.append((b"link", f'<{self.link}>; rel="deprecation"'.encode()))
        if self.sunset is not None:
            headers.append((b"sunset", formatdate(self.sunset / SECOND_MS, usegmt=True).encode()))
        return tuple(headers)
