"""`deprecated: {sunset, link}`: the true answer, with the headers of deprecated behaviour (section 9, rule 4; D43)."""

import re
from dataclasses import dataclass
from email.utils import formatdate
from typing import Final, Self

from emulator.http.responses import Header, Response
from emulator.kernel.timestamps import SECOND_MS
from emulator.scenario.faults.base import Exchange, Fault, Record
from emulator.scenario.faults.spelling import DETAILS, Then
from emulator.scenario.reading import Cursor

_LINK: Final = re.compile(r"https?://[!#-;=?-~]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class DeprecatedFault(Fault):
    """Every answer, a refusal too, says that the operation is deprecated. `sunset` is an instant, `link` a URL."""

    sunset: int | None = None
    link: str | None = None

    async def entrance(self, exchange: Exchange) -> Response | None:
        """Count it."""
        exchange.fire()
        return None

    def headers(self, exchange: Exchange, is_refusal: bool) -> tuple[Header, ...]:
        """Add Deprecation, Link and Sunset."""
        headers = [*exchange.rule_header, (b"deprecation", b"@%d" % (exchange.began_at // SECOND_MS))]
        if self.link is not None:
            headers.append((b"link", f'<{self.link}>; rel="deprecation"'.encode()))
        if self.sunset is not None:
            headers.append((b"sunset", formatdate(self.sunset / SECOND_MS, usegmt=True).encode()))
        return tuple(headers)

    def did(self, record: Record) -> str:
        """Say what was added."""
        return "added the headers of deprecated behaviour"

    @classmethod
    def read(cls, then: Then) -> Self:
        """Read `deprecated` with `sunset` and `link`."""
        then.fields.refuse(DETAILS, 'nothing beside "deprecated"')
        fields = then.fields.cursors["deprecated"].fields(("sunset", "link"))
        return cls(fields.get("sunset", Cursor.instant, None), fields.get("link", _read_link, None))


def _read_link(cursor: Cursor) -> str | None:
    expected = "an address such as https://docs.example/migration"
    text = cursor.text(expected)
    if text is None or _LINK.fullmatch(text):
        return text
    cursor.complain(expected)
    return None
