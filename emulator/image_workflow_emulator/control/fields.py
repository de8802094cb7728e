"""The fields of the control plane's JSON, read and shown, and the parameters of its queries.

Bodies and queries are read by `contract/control-plane.yaml`; what does not fit is refused with 400. Knows which schemas there
are, and the refusal; not what a field means.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct, to_builtins

from image_workflow_emulator.documents import shipped_document
from image_workflow_emulator.documents.complaints import clause
from image_workflow_emulator.documents.schemas import LARGE_BODY_BYTES, Schemas, listed
from image_workflow_emulator.documents.values import FORMATS, MAX_INTEGER, RATE_WORDS, clock_setting
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.http.requests import read_query
from image_workflow_emulator.kernel.clock import ClockSetting
from image_workflow_emulator.kernel.timestamps import timestamp_or_none
from image_workflow_emulator.kernel.wording import excerpt


@cache
def schemas() -> Schemas:
    """Return the schemas of bodies and parameters."""
    return Schemas({"components": shipped_document("contract/control-plane.yaml")["components"]}, FORMATS)


def check_fields(reference: str, value: Any, size_bytes: int) -> None:
    """Check that a body fits a schema of the contract. Raises Problem invalid_request with all that is wrong."""
    violations = schemas().violations(reference, value, first_only=size_bytes > LARGE_BODY_BYTES)
    if violations:
        raise Problem("invalid_request", listed(violations))


def read_parameters(query_string: bytes, parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of a query, with defaults; `parameters` are the components of the contract by their names.

    Raises:
        Problem: invalid_request.
    """
    known = shipped_document("contract/control-plane.yaml")["components"]["parameters"]
    values = {name: known[component]["schema"].get("default") for name, component in parameters.items()}
    for name, text in read_query(query_string, parameters).items():
        component = parameters[name]
        is_number = known[component]["schema"].get("type") == "integer"
        number = number_in(text, MAX_INTEGER) if is_number else None
        values[name] = text if number is None else number
        for violation in schemas().violations(f"#/components/parameters/{component}/schema", values[name]):
            raise unfit(name, text, violation.expected)
    return values


def unfit(where: str, found: Any, expected: str, suggestions: Sequence[str] = ()) -> Problem:
    """Build the refusal of a field or a query parameter: where it stands, what is there, what should be, what was meant."""
    return Problem("invalid_request", f"{where or '(body)'}: {clause(excerpt(found), expected, suggestions)}")


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


def shown(data: Struct, *names: str) -> dict[str, Any]:
    """Return some fields of a value by their names; an instant is known by its name, which ends in `_at`."""
    return {
        name: timestamp_or_none(getattr(data, name)) if name.endswith("_at") else to_builtins(getattr(data, name))
        for name in names
    }
