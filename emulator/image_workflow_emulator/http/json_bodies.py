"""Bodies of JSON: read exactly, or refused with what is wrong and where (D03, D56). Also that there is no body (D44).

Must not know how a body came, nor what it is about.
"""

import json
import math
import re
import sys
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context
from typing import Any, Final, NoReturn

import orjson

from image_workflow_emulator.domain.problems import invalid_request
from image_workflow_emulator.http.bodies import MAX_BODY_BYTES
from image_workflow_emulator.http.heads import invalid_media_type
from image_workflow_emulator.kernel.wording import excerpt

MAX_DEPTH: Final = 254
"""Levels of arrays and objects in JSON: as many as orjson writes (D56)."""
MAX_VALUES: Final = 10_000
"""Values in the body of an operation, counted by commas and brackets: each takes time in which nobody else is
served. Those that the contract declares have less than a hundred (D56)."""
_UNCOUNTED_BYTES: Final = 64 * 1024
"""A body of no more bytes is read whatever is in it."""
_NEXT_VALUE: Final = re.compile(
    rb'(?:[^",\[{]++|"(?:[^"\\]++|\\.)*+"?)*+[,\[{]', re.DOTALL
)
"""The bytes up to the next comma or opening bracket outside of texts. No byte is read twice."""
_MAX_INTEGER_CHARACTERS: Final = 18
"""Characters of an integer that surely has 64 bits; a longer one is read as a float."""
_NOTHING: Final = object()
_EXACT_BELOW: Final = 2**53
"""Below this, a float exists between any whole number and the next."""


def check_no_body(body: bytes | None) -> None:
    """Refuse a body where the operation takes none (D44). Raises Problem invalid_request."""
    if body != b"":
        raise invalid_request(
            "(body)", "a body", "none, this operation takes none", "send no body"
        )


def parse_json(
    body: bytes | None, content_type: bytes | None, max_values: int = MAX_VALUES
) -> Any:
    """Read a JSON body (D03, D56); one of more than 64 KiB has no more values than `max_values`.

    Raises:
        Problem: invalid_request, with status 413 for a body over 1 MiB.
    """
    if body is None:
        found, remedy = (
            f"more than {MAX_BODY_BYTES} bytes",
            f"send {MAX_BODY_BYTES} bytes at most",
        )
        raise invalid_request("(body)", found, "fewer", remedy, status=413)
    if content_type != b"application/json":
        _check_media_type(content_type)
    if not body:
        raise invalid_request(
            "(body)", "nothing", "a JSON object", "send a JSON object"
        )
    if len(body) > _UNCOUNTED_BYTES:
        _check_values(body, max_values)
    return _parse_strictly(body)


def _check_values(body: bytes, max_values: int) -> None:
    """Count values without reading them, up to the limit. Raises Problem invalid_request."""
    end = 0
    for _ in range(max_values):
        found = _NEXT_VALUE.match(body, end)
        if found is None:
            return
        end = found.end()
    remedy = f"send {max_values} values at most"
    raise invalid_request("(body)", f"more than {max_values} values", "fewer", remedy)


def _parse_strictly(body: bytes) -> Any:
    """Read JSON with every name and number as it is written. Raises Problem invalid_request."""
    try:
        value = _DECODER.decode(body.decode())
        orjson.dumps(value)  # which refuses half of a surrogate pair, and deep nesting
        return value
    except UnicodeDecodeError as error:
        place = f"byte {error.start + 1}"
        found = f"0x{body[error.start]:02x}, which is not UTF-8, at {place}"
        remedy = f"write the JSON in UTF-8, which it is not at {place}"
    except json.JSONDecodeError as error:
        place = (
            f"line {error.lineno} column {error.colno}" if error.pos else "the start"
        )
        found, remedy = (
            f"text that is not JSON at {place}",
            f"correct the JSON at {place}",
        )
    except (RecursionError, orjson.JSONEncodeError) as error:
        if str(error).startswith("str "):
            found, remedy = (
                "half of a surrogate pair, which is no text",
                "write both halves, or the character itself",
            )
        else:
            found, expected = (
                "arrays and objects nested too deeply",
                f"at most {MAX_DEPTH} levels",
            )
            raise invalid_request(
                "(body)", found, expected, f"nest them in {expected}"
            ) from None
    except ValueError as error:
        found, remedy = f"{error}, which is not JSON", f"remove {error}"
    raise invalid_request("(body)", found, "JSON in UTF-8", remedy)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its members. Raises Problem invalid_request for two of one name."""
    members = dict(pairs)
    if len(members) < len(pairs):
        left = dict(pairs)
        name = next(name for name, _ in pairs if left.pop(name, _NOTHING) is _NOTHING)
        remedy = f"remove all but one of the keys {excerpt(name)}"
        raise invalid_request(
            "(body)", f"the key {excerpt(name)} twice", "each key once", remedy
        )
    return members


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_INTEGER_CHARACTERS else _number(digits)


def _number(digits: str) -> float:
    """Read a number: one that is not whole as written is not rounded to a whole one (D52), and none is infinite."""
    value = max(min(float(digits), sys.float_info.max), -sys.float_info.max)
    if not value.is_integer() or abs(value) > _EXACT_BELOW:
        return value
    return (
        value
        if _AS_WRITTEN.create_decimal(digits) == value
        else math.nextafter(value, math.inf)
    )


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)  # NaN and Infinity are not JSON


_AS_WRITTEN: Final = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_constant=_refuse,
    parse_int=_integer,
    parse_float=_number,
)


def _check_media_type(content_type: bytes | None) -> None:
    if content_type is None:
        raise invalid_media_type("none")
    media_type, _, parameters = content_type.decode("latin-1").lower().partition(";")
    media_type = media_type.strip()
    is_json = media_type == "application/json" or (
        media_type.startswith("application/") and media_type.endswith("+json")
    )
    charset = (
        parameters.replace(" ", "")
        .replace('"', "")
        .partition("charset=")[2]
        .partition(";")[0]
    )
    if not is_json or charset not in ("", "utf-8", "utf8"):
        raise invalid_media_type(excerpt(content_type.decode("latin-1")))
