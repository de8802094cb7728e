"""An entry of the journal as JSON, for people and programs.

Owns that no key is ever shown whole. Knows nothing of requests to the control plane: the command line writes entries too.
"""

from collections.abc import Callable
from os.path import commonprefix
from typing import Any, Final

import orjson

from emulator.control.explanations import describe_rule, rules_that_acted
from emulator.kernel.timestamps import format_timestamp
from emulator.kernel.wording import count_of
from emulator.service.journal import Entry, Identity
from emulator.service.sandbox import Sandbox

_SHORTEST_SECRET: Final = 8
"""A shorter key is a word that may stand anywhere; it is masked only where it stands as a key."""
_LONGEST_SHOWN: Final = 8
"""Limit of the characters of a key that are shown."""
_LONGEST_QUERY: Final = 8 * 1024
"""Limit of the characters of a query that are shown."""
_NOTES: Final = {"upload": "direct upload", "download": "file of a picture"}


class Masks:
    """Hides the keys of a sandbox, wherever a client may have put one."""

    def __init__(self, sandbox: Sandbox) -> None:
        keys = [key for key in sandbox.credentials if len(key) >= _SHORTEST_SECRET]
        # The longest first: a key may begin with another one.
        self._texts = [(key, _mask_key(key)) for key in sorted(keys, key=len, reverse=True)]
        self._bytes = [(key.encode(), mask.encode()) for key, mask in self._texts]
        # How all of them begin: most texts hold nothing like it, and need no look for each key.
        self._beginning = commonprefix(keys)  # noqa: RUF071  texts, not paths
        self._beginning_bytes = self._beginning.encode()

    def of_text(self, text: str) -> str:
        """Return a text without whole keys."""
        if self._beginning not in text:
            return text
        for key, mask in self._texts:
            text = text.replace(key, mask)
        return text

    def of_bytes(self, data: bytes) -> bytes:
        """Return JSON without whole keys."""
        if self._beginning_bytes not in data:
            return data
        for key, mask in self._bytes:
            data = data.replace(key, mask)
        return data


def _mask_key(key: str) -> str:
    """Show the beginning of a key: what GET /team shows as its prefix, and never more than half of it."""
    return key[: min(len(key) // 2, _LONGEST_SHOWN)] + "…"


def describe_entry(entry: Entry, masks: Masks) -> dict[str, Any]:
    """Return an entry as JSON."""
    acted = rules_that_acted(entry)
    notes = _notes(entry)
    return {
        "sequence": entry.sequence,
        "at": format_timestamp(entry.at),
        "arrived_at": format_timestamp(entry.arrived_at),
        "method": entry.method,
        "path": masks.of_text(entry.path),
        "query": _describe_query(entry.query, masks, notes.append),
        "operation": entry.operation,
        "bytes": entry.byte_surface,
        "content_type": masks.of_text(entry.content_type.decode("latin-1")) if entry.content_type else None,
        "emulator_fault": None if entry.fault_header is None else masks.of_text(entry.fault_header.decode("latin-1")),
        "user_agent": None if entry.user_agent is None else masks.of_text(entry.user_agent),
        "credential": None if entry.caller is None else _describe_credential(entry.caller),
        "idempotency_key": None if entry.idempotency_key is None else masks.of_text(entry.idempotency_key),
        "status": entry.status,
        "code": entry.code,
        "request_id": entry.answered_id,
        "replayed": entry.replay_of is not None,
        "lost": entry.loss is not None,
        "rule": describe_rule(acted[0]) if acted else None,
        "duration_ms": None if entry.duration_ms is None else round(entry.duration_ms, 3),
        "request_body": _describe_body("request", entry.request_body, entry.request_body_bytes, masks, notes.append),
        "response_headers": _describe_headers(entry, masks),
        "response_body": _describe_body("answer", entry.response_body, entry.response_body_bytes, masks, notes.append),
        "note": "; ".join(notes) or None,
    }


def describe_arrival(entry: Entry, masks: Masks) -> dict[str, Any]:
    """Return an entry as it was when its request arrived, whatever has become of it since."""
    arrived = Entry(entry.sequence, entry.at, entry.request_id, entry.method, entry.path, entry.caller)
    arrived.operation, arrived.byte_surface = entry.operation, entry.byte_surface
    arrived.query, arrived.content_type = entry.query, entry.content_type
    arrived.idempotency_key, arrived.user_agent = entry.idempotency_key, entry.user_agent
    arrived.arrived_at = entry.arrived_at
    return describe_entry(arrived, masks)


def _describe_headers(entry: Entry, masks: Masks) -> dict[str, str] | None:
    """Return the headers of the answer by name; null until there is one."""
    if entry.response_headers is None:
        return None
    return {name.decode("latin-1"): masks.of_text(value.decode("latin-1")) for name, value in entry.response_headers}


def _notes(entry: Entry) -> list[str]:
    notes = [] if entry.byte_surface is None else [_NOTES[entry.byte_surface]]
    return [*notes, "the client went away before its request was whole"] if entry.outcome == "abandoned" else notes


def _describe_credential(caller: Identity) -> dict[str, Any]:
    credential, team = caller.credential, caller.account.team
    return {
        "id": credential.id,
        "name": credential.name,
        "key": _mask_key(credential.key),
        "team": {"id": team.id, "name": team.name},
    }


def _describe_query(query: bytes, masks: Masks, add_note: Callable[[str], None]) -> str:
    """Return a query as it was sent, without the `?`; of a long one the beginning, with a note."""
    text = masks.of_text(query.decode("latin-1"))
    if len(text) > _LONGEST_QUERY:
        add_note(f"the query of {count_of(len(text), 'character')} is shown up to {_LONGEST_QUERY}")
    return text[:_LONGEST_QUERY]


def _describe_body(
    whose: str, body: bytes | None, size_bytes: int, masks: Masks, add_note: Callable[[str], None]
) -> orjson.Fragment | str | None:
    """Return a body's JSON as it was sent, or its text if it is no JSON; else note the number of its bytes."""
    if not body:
        if size_bytes:
            add_note(f"the {whose}'s body of {count_of(size_bytes, 'byte')} is not shown")
        return None
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError:
        add_note(f"the {whose}'s body of {count_of(len(body), 'byte')} is not JSON")
        return _text(masks.of_bytes(body))
    return orjson.Fragment(masks.of_bytes(body))


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
