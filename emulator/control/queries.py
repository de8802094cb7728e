"""Values of a query, each read strictly; what does not fit is refused with 400. Knows no endpoint."""

from collections.abc import Mapping

from emulator.domain.problems import Problem, excerpt


def whole_number(query: Mapping[str, str], name: str, minimum: int, maximum: int, default: int) -> int:
    """Read a whole number within bounds, both of them allowed. Raises Problem invalid_request."""
    value = query.get(name)
    if value is None:
        return default
    is_number = value.isascii() and value.isdecimal() and len(value) <= len(str(maximum))
    if not is_number or not minimum <= int(value) <= maximum:
        raise unfit_query(name, value, f"a whole number from {minimum} to {maximum}")
    return int(value)


def unfit_query(name: str, found: str, expected: str) -> Problem:
    """Build the refusal of a parameter: its name, what was found, what was expected."""
    return Problem("invalid_request", f"{name}: found {excerpt(found)}; expected {expected}")
