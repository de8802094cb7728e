"""The query of an operation, checked against its parameters in the contract (D02). Must not know what an operation does."""

from collections.abc import Mapping

from emulator.contract import QueryParameter
from emulator.domain.problems import invalid_request
from emulator.http.requests import read_query
from emulator.kernel.wording import excerpt


def parse_query(
    query_string: bytes, parameters: Mapping[str, QueryParameter], *, clamps: bool = False
) -> dict[str, str]:
    """Read the query of an operation, checked against its parameters (D02). `clamps`: a number above its range is cut.

    Raises:
        Problem: invalid_request.
    """
    given = read_query(query_string, parameters)
    for name, value in given.items():
        if clamps and parameters[name].is_integer and value.isdecimal() and int(value[:9]) > parameters[name].maximum:
            given[name] = str(parameters[name].maximum)
            continue
        expected = parameters[name].unmet(value)
        if expected is not None:
            remedy = f"set the parameter {name} to {expected}, or remove it"
            raise invalid_request(name, excerpt(value), expected, remedy)
    return given
