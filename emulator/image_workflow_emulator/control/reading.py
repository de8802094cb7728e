"""What a request of the control plane says, read by the contract: its query and body.

Must not know what an operation does with it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from image_workflow_emulator.control.operations import (
    STATE_FILE,
    YAML,
    Operation,
    control_schemas,
)
from image_workflow_emulator.documents.complaints import clause
from image_workflow_emulator.documents.files import STATE_ROWS_BYTES
from image_workflow_emulator.documents.limits import MAX_BYTES
from image_workflow_emulator.documents.schemas import LARGE_BODY_BYTES
from image_workflow_emulator.documents.values import MAX_INTEGER
from image_workflow_emulator.documents.violations import listed
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.http.bodies import Body
from image_workflow_emulator.http.heads import Head
from image_workflow_emulator.http.json_bodies import check_no_body, parse_json
from image_workflow_emulator.http.queries import read_query
from image_workflow_emulator.kernel.wording import excerpt

MAX_IMAGE_BYTES: Final = 70 * 1024 * 1024
"""The limit of an upload."""


async def read_body(
    operation: Operation,
    head: Head,
    body: Body,
    max_memory: int,
) -> bytes:
    """Read the body of a request; `max_memory` bounds that of a state file.

    Raises:
        Problem: invalid_request for a body where there must be none, and with status
            413 for one that is too large.
        ClientDisconnectedError: the client left before its body was whole.
    """
    if not body.has_more:
        return b""
    limit_bytes = _body_limit(operation, max_memory)
    content = None
    if head.announced_bytes() <= limit_bytes:
        content = await body.read(limit_bytes)
    if not operation.body_types:
        check_no_body(content)
    if content is None:
        expected = "fewer"
        if STATE_FILE in operation.body_types:
            expected = f"at most {limit_bytes}, as --max-memory is {max_memory}"
        detail = f"(body): found more than {limit_bytes} bytes; expected {expected}"
        raise Problem("invalid_request", detail, status=413)
    return content


def _body_limit(operation: Operation, max_memory: int) -> int:
    if STATE_FILE in operation.body_types:
        return max_memory + STATE_ROWS_BYTES
    if "image/png" in operation.body_types:
        return MAX_IMAGE_BYTES
    return MAX_BYTES


def read_fields(
    operation: Operation,
    content: bytes,
    content_type: bytes | None,
) -> Any:
    """Return the values of a body that is JSON and nothing else; else an empty object.

    Raises:
        Problem: invalid_request, with all that is wrong.
    """
    if YAML in operation.body_types and content_type is not None:
        _check_document_type(content_type.decode("latin-1"), operation.body_types)
    if operation.body_schema is None:
        return {}
    value = {}
    if content or operation.needs_body:
        value = parse_json(content, content_type)
    schemas = control_schemas()
    is_large = len(content) > LARGE_BODY_BYTES
    violations = schemas.violations(operation.body_schema, value, first_only=is_large)
    if violations:
        raise Problem("invalid_request", listed(violations))
    return schemas.value(operation.body_schema, value)


def _check_document_type(content_type: str, media_types: Sequence[str]) -> None:
    """Refuse a document of a media type that the contract does not name.

    Raises:
        Problem: invalid_request.
    """
    media_type, _, _ = content_type.partition(";")
    media_type = media_type.strip().lower()
    if media_type not in media_types:
        detail = (
            f"Content-Type: found {excerpt(content_type)}; "
            f"expected {' or '.join(media_types)}"
        )
        raise Problem("invalid_request", detail)


def read_parameters(operation: Operation, query_string: bytes) -> Mapping[str, Any]:
    """Return the values of a query by name, with the defaults of the contract.

    Raises:
        Problem: invalid_request.
    """
    values = {name: parameter.default for name, parameter in operation.query.items()}
    for name, text in read_query(query_string, operation.query).items():
        parameter = operation.query[name]
        value: str | int = text
        number = number_in(text)
        if parameter.is_integer and number is not None:
            value = number
        for violation in control_schemas().violations(parameter.schema, value):
            raise invalid_value(name, text, violation.expected)
        values[name] = value
    return values


def invalid_value(
    where: str,
    value: Any,
    expected: str,
    suggestions: Sequence[str] = (),
) -> Problem:
    """Return the refusal of the value of a field or a query parameter.

    `where` is its place, empty for the whole body; `suggestions` are what may be meant.
    """
    complaint = clause(excerpt(value), expected, suggestions)
    return Problem("invalid_request", f"{where or '(body)'}: {complaint}")


def number_in(text: str) -> int | None:
    """Return the whole number from 0 to `MAX_INTEGER` that a text writes; None for any
    other text.
    """
    is_decimal = text.isascii() and text.isdecimal()
    if not is_decimal or len(text) > len(str(MAX_INTEGER)):
        return None
    number = int(text)
    if number > MAX_INTEGER:
        return None
    return number
