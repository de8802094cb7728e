"""The query of a request: its parameters by name, each at most once (D02)."""

from collections.abc import Collection
from urllib.parse import unquote_to_bytes

from image_workflow_emulator.domain.problems import Problem, invalid_request
from image_workflow_emulator.kernel.wording import excerpt


def read_query(query_string: bytes, parameters: Collection[str]) -> dict[str, str]:
    """Return the parameters of a query as text, by name.

    `parameters` are the names that the operation takes.

    Raises:
        Problem: invalid_request for an unknown or repeated parameter, and for a query
            that is not UTF-8.
    """
    values: dict[str, str] = {}
    for pair in query_string.split(b"&"):
        if not pair:
            continue
        raw_name, _, raw_value = pair.partition(b"=")
        name = _decode(raw_name)
        if name not in parameters:
            raise _unknown_parameter(name, parameters)
        if name in values:
            remedy = f"send the parameter {name} once"
            raise invalid_request(name, "more than once", "at most once", remedy)
        values[name] = _decode(raw_value)
    return values


def _unknown_parameter(name: str, parameters: Collection[str]) -> Problem:
    expected = "none"
    if parameters:
        expected = f"one of: {', '.join(parameters)}"
    return Problem(
        "invalid_request",
        f"{excerpt(name)}: an unknown query parameter; expected {expected}",
        remedy=f"remove the parameter {excerpt(name)}",
    )


def _decode(raw: bytes) -> str:
    try:
        return unquote_to_bytes(raw.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        found = excerpt(raw.decode("latin-1"))
        remedy = "write the query in UTF-8"
        raise invalid_request("the query", found, "UTF-8", remedy) from None
