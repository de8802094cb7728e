"""A request of the journal as a command for a shell, `curl`, that sends it again.

The command leaves out what the journal does not keep or must not show, and a comment
above it says what and why. Whatever a client sent is written as text that a shell and a
terminal do not obey.
"""

import shlex
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.control.masks import Masks
from image_workflow_emulator.http.heads import encoded_path
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.service.records.record import RequestRecord

_AUTHORIZATION: Final = '--header "Authorization: Bearer $IMAGE_WORKFLOW_API_KEY"'
_KEPT_IN_QUERIES: Final = "".join(map(chr, range(0x21, 0x7F)))
_WITHOUT_KEY: Final = (
    "without a key: none came, or one that belongs to no Team, which the journal does "
    "not keep"
)
_MASKED: Final = (
    "where the request held a key, only its beginning is shown: the journal shows no "
    "keys"
)


def as_curl(
    record: RequestRecord,
    masks: Masks,
    origin: str,
) -> str:
    """Return the command, after comments on what it cannot repeat; `origin` is the
    address of the emulator.
    """
    parts = [
        _command_with_method(record),
        *_header_options(record),
        *_body_options(record),
        _url_word(record, origin),
    ]
    command = " \\\n  ".join(parts)
    masked_command = masks.of_text(command)
    comments = []
    if record.credential is None and _is_of_operation(record):
        comments.append(_WITHOUT_KEY)
    if masked_command != command:
        comments.append(_MASKED)
    if _is_body_missing(record):
        comments.append(_missing_body_comment(record))
    return "".join(f"# {comment}\n" for comment in comments) + masked_command


def _is_of_operation(record: RequestRecord) -> bool:
    return record.path.startswith(BASE_PATH)


def _has_body(record: RequestRecord) -> bool:
    return record.content_type_header is not None and record.request_body != b""


def _is_body_missing(record: RequestRecord) -> bool:
    """Return whether the body was not kept, or has a byte that ends an argument."""
    body = record.request_body or b""
    return _has_body(record) and (body == b"" or b"\0" in body)


def _missing_body_comment(record: RequestRecord) -> str:
    size = ""
    size_bytes = len(record.request_body or b"") or record.request_body_bytes
    if size_bytes:
        size = f" of {count_of(size_bytes, 'byte')}"
    reason = "which the journal does not keep or no argument can hold"
    return f"FILE stands for the body{size}, {reason}"


def _command_with_method(record: RequestRecord) -> str:
    command = "curl --include --path-as-is --globoff"
    if record.method == "HEAD":
        return f"{command} --head"
    if record.method != "GET" or _has_body(record):
        return f"{command} --request {_word(record.method.encode())}"
    return command


def _header_options(record: RequestRecord) -> Iterator[str]:
    if record.credential is not None and _is_of_operation(record):
        yield _AUTHORIZATION
    if record.key_header:
        yield f"--header {_word(b'Idempotency-Key: ' + record.key_header)}"
    if record.fault_header:
        yield f"--header {_word(b'Emulator-Fault: ' + record.fault_header)}"
    if record.content_type_header:
        yield f"--header {_word(b'Content-Type: ' + record.content_type_header)}"


def _body_options(record: RequestRecord) -> Iterator[str]:
    if not _has_body(record):
        return
    if not record.content_type_header:
        yield "--header Content-Type:"  # without which curl would send one
    if _is_body_missing(record):
        yield "--data-binary @FILE"
    else:
        yield f"--data-raw {_word(record.request_body or b'')}"


def _url_word(record: RequestRecord, origin: str) -> str:
    url = origin + encoded_path(record.path)
    if record.query:
        url += "?" + quote(record.query, safe=_KEPT_IN_QUERIES)
    return _word(url.encode())


def _word(data: bytes) -> str:
    """Write bytes as one word of a shell; those that a terminal might obey as
    escapes.
    """
    text = data.decode(errors="replace")
    if text.isprintable() and text.encode() == data:
        return shlex.quote(text)
    escaped = data.decode("latin-1").encode("unicode_escape").decode()
    return "$'" + escaped.replace("'", "\\'") + "'"
