"""`deprecated: {sunset, link}`: the true answer, with the headers of deprecated behaviour (section 9, rule 4; D43)."""

from email.utils import formatdate
from typing import Final, Self

from emulator.documents.values import optional
from emulator.http.responses import Header, Response
from emulator.kernel.timestamps import SECOND_MS, parse_timestamp
from emulator.scenario.faults.base import Fault, FaultContext, FaultProgress, FaultSpelling, Then


class DeprecatedFault(Fault, frozen=True):
    """Every answer, a refusal too, says that the operation is deprecated. `sunset` is an instant, `link` a URL."""

    sunset: int | None = None
    link: str | None = None

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

    def did(self, progress: FaultProgress) -> str:
        """Say what was added."""
        return "added the headers of deprecated behaviour"

    @classmethod
    def read(cls, then: Then) -> Self:
        """Read `deprecated` with `sunset` and `link`."""
        given = then["deprecated"]
        return cls(optional(given, "sunset", parse_timestamp), given.get("link"))


SPELLING: Final = FaultSpelling(
    "deprecated",
    DeprecatedFault.read,
    {
        "type": "object",
        "additionalProperties": False,
        "description": "The true answer, with the headers of deprecated behaviour.",
        "properties": {
            "sunset": {"description": "When the behaviour will be removed.", "$ref": "#/$defs/timestamp"},
            "link": {
                "description": "The address of the migration guide.",
                "type": "string",
                "pattern": "^https?://[!#-;=?-~]+$",
                "x-expected": "an address such as https://docs.example/migration",
            },
        },
    },
)
