"""The ranges of numbers in saved states: msgspec checks them when a state file is read, and nothing else does.

What is made inside the emulator is within them already.
"""

from typing import Annotated, TypeAlias

from msgspec import Meta

_MAX_IN_JSON = 2**53 - 1

Instant: TypeAlias = Annotated[int, Meta(ge=0, le=_MAX_IN_JSON)]
"""Milliseconds since the epoch. A window that begins in the year 9999 may end after it."""
Span: TypeAlias = Annotated[int, Meta(ge=0, le=_MAX_IN_JSON // 100)]
"""Milliseconds; several of them and an instant together are still an instant."""
Amount: TypeAlias = Annotated[int, Meta(ge=0, le=_MAX_IN_JSON)]
"""What somebody has set: Credits, limits, seconds."""
Count: TypeAlias = Annotated[int, Meta(ge=0, le=10**12)]
"""What the emulator has counted. The lower limit leaves room to count on."""
