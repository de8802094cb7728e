"""JSON bodies: read as doubles and text, or refused with what is wrong and where
(D03, D52, D56). Also the refusal of a body where an operation takes none (D44).

Must not know how a body arrived, nor what it is about.
"""

import json
import math
import re
from typing import Any, Final, NoReturn

from image_workflow_emulator.domain.problems import Problem, invalid_request
from image_workflow_emulator.http.bodies import MAX_BODY_BYTES
from image_workflow_emulator.http.heads import invalid_media_type
from image_workflow_emulator.kernel.wording import excerpt

MAX_DEPTH: Final = 254
"""Levels of arrays and objects in a body (D56)."""
_MAX_INTEGER_CHARACTERS: Final = 18
"""A longer integer is read as a double: one of 18 characters surely has 64 bits."""
_TEXT_OR_BRACKET: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)


def check_no_body(body: bytes | None) -> None:
    """Refuse a body where the operation takes none (D44).

    Raises:
        Problem: invalid_request.
    """
    if body != b"":
        expected = "none, this operation takes none"
        raise invalid_request("(body)", "a body", expected, "send no body")


def parse_json(body: bytes | None, content_type: bytes | None) -> Any:
    """Return the value of a JSON body (D03); `body` is None if it is over 1 MiB.

    Raises:
        Problem: invalid_request, with status 413 for a body over 1 MiB.
    """
    if body is None:
        raise invalid_request(
            "(body)",
            f"more than {MAX_BODY_BYTES} bytes",
            "fewer",
            f"send {MAX_BODY_BYTES} bytes at most",
            status=413,
        )
    if content_type != b"application/json":
        _check_media_type(content_type)
    if not body:
        raise invalid_request(
            "(body)",
            "nothing",
            "a JSON object",
            "send a JSON object",
        )
    text = _decode_utf8(body)
    if is_nested_too_deeply(text):
        found = "arrays and objects nested too deeply"
        expected = f"at most {MAX_DEPTH} levels"
        raise invalid_request("(body)", found, expected, f"nest {expected}")
    value = _decode_json(text)
    if "\\u" in text:
        _check_surrogates(value)
    return value


def _check_media_type(content_type: bytes | None) -> None:
    if content_type is None:
        raise invalid_media_type("none")
    media_type, _, parameters = content_type.decode("latin-1").lower().partition(";")
    media_type = media_type.strip()
    is_json = media_type == "application/json" or (
        media_type.startswith("application/") and media_type.endswith("+json")
    )
    plain_parameters = parameters.replace(" ", "").replace('"', "")
    charset = plain_parameters.partition("charset=")[2].partition(";")[0]
    if not is_json or charset not in ("", "utf-8", "utf8"):
        raise invalid_media_type(excerpt(content_type.decode("latin-1")))


def _decode_utf8(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        place = f"byte {error.start + 1}"
        found = f"0x{body[error.start]:02x}, which is not UTF-8, at {place}"
        remedy = f"write the JSON in UTF-8, which it is not at {place}"
        raise _not_json(found, remedy) from None


def is_nested_too_deeply(text: str) -> bool:
    """Tell whether JSON is nested too deeply for parsers, which recurse (D56)."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for match in _TEXT_OR_BRACKET.finditer(text):
        mark = match[0]
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
        if depth > MAX_DEPTH:
            return True
    return False


def _decode_json(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        place = "the start"
        if error.pos:
            place = f"line {error.lineno} column {error.colno}"
        found = f"text that is not JSON at {place}"
        raise _not_json(found, f"correct the JSON at {place}") from None


def _check_surrogates(value: Any) -> None:
    """Refuse a text that an escape leaves with half of a surrogate pair."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        found = "half of a surrogate pair, which is no text"
        remedy = "write both halves, or the character itself"
        raise _not_json(found, remedy) from None


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    seen = set[str]()
    for name, _ in pairs:
        if name in seen:
            break
        seen.add(name)
    raise invalid_request(
        "(body)",
        f"the key {excerpt(name)} twice",
        "each key once",
        f"remove all but one of the keys {excerpt(name)}",
    )


def _refuse_constant(constant: str) -> NoReturn:
    raise _not_json(f"{constant}, which is not JSON", f"remove {constant}")


def _read_integer(digits: str) -> int | float:
    if len(digits) <= _MAX_INTEGER_CHARACTERS:
        return int(digits)
    return _read_double(digits)


def _read_double(digits: str) -> float:
    """Read a number as a double (D52)."""
    value = float(digits)
    if math.isinf(value):
        found = f"{excerpt(digits)}, which is larger than any double"
        raise invalid_request(
            "(body)",
            found,
            "a number of at most 1.7e308",
            "send a smaller number",
        )
    return value


def _not_json(found: str, remedy: str) -> Problem:
    return invalid_request("(body)", found, "JSON in UTF-8", remedy)


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique_members,
    parse_constant=_refuse_constant,
    parse_int=_read_integer,
    parse_float=_read_double,
)
