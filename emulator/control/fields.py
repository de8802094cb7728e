"""The fields of the control plane's JSON bodies, read by `contract/control-plane.yaml`, and the numbers of its queries.

What does not fit is refused with 400. Knows which schemas there are, and the refusal; not what a field means.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from emulator.documents import shipped_document
from emulator.documents.complaints import clause
from emulator.documents.schemas import LARGE_BODY_BYTES, Schemas, listed
from emulator.documents.values import FORMATS, RATE_WORDS, clock_setting
from emulator.domain.problems import Problem
from emulator.kernel.clock import ClockSetting
from emulator.kernel.wording import excerpt


@cache
def _schemas() -> Schemas:
    schemas = shipped_document("contract/control-plane.yaml")["components"]["schemas"]
    return Schemas({"components": {"schemas": schemas}}, FORMATS)


def read_fields(schema: str, value: Any, size_bytes: int) -> dict[str, Any]:
    """Return the fields of a body that fits the schema of this name. Raises Problem invalid_request with all that is wrong."""
    violations = _schemas().violations(
        f"#/components/schemas/{schema}", value, first_only=size_bytes > LARGE_BODY_BYTES
    )
    if violations:
        raise Problem("invalid_request", listed(violations))
    fields: dict[str, Any] = value
    return fields


def unfit(where: str, found: Any, expected: str, suggestions: Sequence[str] = ()) -> Problem:
    """Build the refusal of a field or a query parameter: where it stands, what is there, what should be, what was meant."""
    return Problem("invalid_request", f"{where or '(body)'}: {clause(excerpt(found), expected, suggestions)}")


def whole_number(query: Mapping[str, str], name: str, minimum: int, maximum: int, default: int) -> int:
    """Read a whole number within bounds, both of them allowed. Raises Problem invalid_request."""
    value = query.get(name)
    if value is None:
        return default
    number = number_in(value, maximum)
    if number is None or number < minimum:
        raise unfit(name, value, f"a whole number from {minimum} to {maximum}")
    return number


def number_in(text: str, maximum: int) -> int | None:
    """Return the whole number from 0 to a maximum that a text writes; None for any other text."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(maximum))
    return int(text) if is_number and int(text) <= maximum else None


def clock_of(given: str | Mapping[str, Any], where: str = "") -> ClockSetting:
    """Return how a clock is to run: a text such as `manual` or `x60`, or an object of mode and rate.

    Raises:
        Problem: invalid_request, a mode other than real has no rate.
    """
    fields: Mapping[str, Any] = {"mode": given} if isinstance(given, str) else given
    try:
        return clock_setting(fields["mode"], fields.get("rate"))
    except ValueError:
        raise unfit(f"{where}/rate", fields["rate"], RATE_WORDS) from None
