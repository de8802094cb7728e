"""A request of the journal as JSON, and as a command for a shell, `curl`, that sends it again.

The command line writes requests with it too. A command leaves out what the journal does not keep or must not show, and
a comment above it says what and why. No key of a sandbox is ever shown whole. Whatever a client sent is written as text
that a shell and a terminal do not obey.
"""

import re
import shlex
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote

import orjson
from msgspec import Struct, to_builtins

from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.control.explanations import describe_rule
from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.http.requests import encoded_path
from image_workflow_emulator.kernel.timestamps import format_timestamp, timestamp_or_none
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.service.records.record import RequestRecord

_SHORTEST_SECRET: Final = 8
"""A shorter key may be part of any word; it is masked only where it is shown as a key."""
_MAX_SHOWN: Final = 8
"""Limit of the characters of a key that are shown."""


class Masks:
    """Hides the keys of a sandbox, wherever a client may have put one."""

    def __init__(self, keys: Iterable[str]) -> None:
        secrets = [re.escape(key) for key in keys if len(key) >= _SHORTEST_SECRET]
        # The longest first: a key may begin with another one. Where there is none, nothing is found.
        found = "|".join(sorted(secrets, key=len, reverse=True)) or "(?!)"
        self._in_text, self._in_bytes = re.compile(found), re.compile(found.encode())

    def of_text(self, text: str) -> str:
        """Return a text without whole keys."""
        return self._in_text.sub(lambda key: mask_key(key[0]), text)

    def of_bytes(self, data: bytes) -> bytes:
        """Return JSON without whole keys."""
        return self._in_bytes.sub(lambda key: mask_key(key[0].decode()).encode(), data)


def mask_key(key: str) -> str:
    """Show the beginning of a key: what GET /team shows as its prefix, and never more than half of it."""
    return key[: min(len(key) // 2, _MAX_SHOWN)] + "…"


def shown(data: Struct, *names: str) -> dict[str, Any]:
    """Return some fields of a value by their names; an instant is known by its name, which ends in `_at`."""
    return {
        name: timestamp_or_none(getattr(data, name)) if name.endswith("_at") else to_builtins(getattr(data, name))
        for name in names
    }


# As JSON --------------------------------------------------------------------------------------------------------------


_NOTES: Final = {"upload": "direct upload", "download": "file of a picture"}


def describe_request(record: RequestRecord, masks: Masks) -> dict[str, Any]:
    """Return a request as JSON."""
    rule, credential, team = record.rule if record.has_rule_acted else record.work_rule, record.credential, record.team
    notes = [] if record.byte_surface is None else [_NOTES[record.byte_surface]]
    if record.outcome == "abandoned":
        notes.append("the client went away before its request was whole")
    elif record.is_unheard:
        notes.append("the client went away before its answer was sent")
    headers = {_text(name): masks.of_text(_text(value)) for name, value in record.response_headers or ()}
    fields = {name: getattr(record, name, None) for name in RecordedRequest.__struct_fields__} | {
        "at": format_timestamp(record.at),
        "arrived_at": format_timestamp(record.arrived_at),
        "query": _text(record.query),
        "bytes": record.byte_surface,
        "credential": credential
        and team
        and {**shown(credential, "id", "name"), "key": mask_key(credential.key), "team": shown(team, "id", "name")},
        "request_id": record.answered_id,
        "replayed": record.replay_of is not None,
        "lost": record.loss is not None,
        "abandoned": record.outcome == "abandoned" or record.is_unheard,
        "committed": record.is_committed,
        "work": record.work_id,
        "timed": record.is_timed,
        "rule": describe_rule(rule) if rule else None,
        "duration_ms": None if record.duration_ms is None else round(record.duration_ms, 3),
        "request_body": _describe_body("request", record.request_body, record.request_body_bytes, masks, notes),
        "response_headers": headers or None,
        "response_body": _describe_body("answer", record.response_body, record.response_body_bytes, masks, notes),
    }
    fields["note"] = "; ".join(notes) or None
    # A client may have put a key anywhere.
    return {name: masks.of_text(value) if isinstance(value, str) else value for name, value in fields.items()}


def _text(header: bytes) -> str:
    return header.decode("latin-1")


def _describe_body(
    whose: str, body: bytes | None, size_bytes: int, masks: Masks, notes: list[str]
) -> orjson.Fragment | str | None:
    """Return a body's JSON as it was sent, or its text if it is not JSON; else note the number of its bytes."""
    if not body:
        if size_bytes:
            notes.append(f"the {whose}'s body of {count_of(size_bytes, 'byte')} is not shown")
        return None
    try:
        orjson.loads(body)
        return orjson.Fragment(masks.of_bytes(body))
    except orjson.JSONDecodeError:
        notes.append(f"the {whose}'s body of {count_of(len(body), 'byte')} is not JSON")
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


# As a command ---------------------------------------------------------------------------------------------------------


_AUTHORIZATION: Final = '--header "Authorization: Bearer $IMAGE_WORKFLOW_API_KEY"'
_KEPT_IN_QUERIES: Final = "".join(map(chr, range(0x21, 0x7F)))
_WITHOUT_KEY: Final = "without a key: none came, or one that belongs to no Team, which the journal does not keep"
_MASKED: Final = "where the request held a key, only its beginning is shown: the journal shows no keys"


def as_curl(record: RequestRecord, masks: Masks, origin: str) -> str:
    """Return the command, after comments on what it cannot repeat; `origin` is the address of the emulator."""
    body, is_of_operation = record.request_body or b"", record.path.startswith(BASE_PATH)
    has_body = record.content_type_header is not None and record.request_body != b""
    is_cut = has_body and (body == b"" or b"\0" in body)  # at which an argument of a command ends
    parts = ["curl --include --path-as-is --globoff"]
    if record.method == "HEAD":
        parts[0] += " --head"
    elif record.method != "GET" or has_body:
        parts[0] += f" --request {_word(record.method.encode())}"
    if record.credential is not None and is_of_operation:
        parts.append(_AUTHORIZATION)
    headers = {
        b"Idempotency-Key: ": record.key_header,
        b"Emulator-Fault: ": record.fault_header,
        b"Content-Type: ": record.content_type_header,
    }
    parts += [f"--header {_word(name + value)}" for name, value in headers.items() if value]
    if has_body and not record.content_type_header:
        parts.append("--header Content-Type:")  # without which curl would send one
    if has_body:
        parts.append("--data-binary @FILE" if is_cut else f"--data-raw {_word(body)}")
    query = "?" + quote(record.query, safe=_KEPT_IN_QUERIES) if record.query else ""
    parts.append(_word((origin + encoded_path(record.path) + query).encode()))
    command = " \\\n  ".join(parts)
    shown = masks.of_text(command)
    size_bytes = len(body) or record.request_body_bytes
    size = f" of {count_of(size_bytes, 'byte')}" if size_bytes else ""
    comments = {
        _WITHOUT_KEY: record.credential is None and is_of_operation,
        _MASKED: shown != command,
        f"FILE stands for the body{size}, which the journal does not keep or no argument can hold": is_cut,
    }
    return "".join(f"# {comment}\n" for comment, applies in comments.items() if applies) + shown


def _word(data: bytes) -> str:
    """Write bytes as one word of a shell; those that a terminal might obey as escapes."""
    text = data.decode(errors="replace")
    if text.isprintable() and text.encode() == data:
        return shlex.quote(text)
    escaped = data.decode("latin-1").encode("unicode_escape").decode()
    return "$'" + escaped.replace("'", "\\'") + "'"
