"""The query of an operation, checked against its parameters in the contract (D02). Must not know what an operation does."""

from collections.abc import Mapping

from emulator.contract import QueryParameter
from emulator.domain.problems import Problem
from emulator.http.requests import read_query
from emulator.kernel.wording import excerpt


def parse_query(query_string: bytes, parameters: Mapping[str, QueryParameter]) -> dict[str, str]:
    """Read the query of an operation, checked against its parameters (D02).

    Raises:
        Problem: invalid_request.
    """
    given = read_query(query_string, parameters)
    for name, value in given.items():
        _check_parameter(parameters[name], value)
    return given


def _check_parameter(parameter: QueryParameter, value: str) -> None:
    if parameter.is_integer:
        digits = value.isascii() and value.isdecimal() and len(value) <= 9 and value == str(int(value))
        if not digits or not parameter.minimum <= int(value) <= parameter.maximum:
            expected = f"a whole number from {parameter.minimum} to {parameter.maximum}"
            raise Problem(
                "invalid_request",
                f"{parameter.name}: found {excerpt(value)}; expected {expected}",
                remedy=f"set the parameter {parameter.name} to {expected}, or remove it",
            )
    elif parameter.words and value not in parameter.words:
        expected = ", ".join(parameter.words)
        raise Problem(
            "invalid_request",
            f"{parameter.name}: found {excerpt(value)}; expected one of {expected}",
            remedy=f"set the parameter {parameter.name} to one of {expected}, or remove it",
        )
