"""One answer to a request, of the service or of the emulator that stands in for it."""

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Answer(Struct, frozen=True):
    """A whole answer. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        """The JSON object of the answer; empty if it is none."""
        try:
            value = json.loads(self.body or b"null")
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}
