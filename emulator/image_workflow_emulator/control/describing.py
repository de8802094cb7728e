"""A request of the journal for people: as JSON, explained, and as a command for a shell, `curl`, that sends it again.

An explanation says why a request ended as it did: its checks in order, what decided, and the remedy. It words what the
exchange noted in the record, and decides nothing. A command leaves out what the journal does not keep or must not show,
and a comment above it says what and why. No key of a sandbox is ever shown whole. Whatever a client sent is written as
text that a shell and a terminal do not obey. The command line describes requests with it too.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

import orjson
from msgspec import Struct, structs, to_builtins

from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.documents.complaints import sentence
from image_workflow_emulator.domain.problems import (
    KEY_BINDING_CODES,
    MENDED_BY_TIME,
    Cause,
    Check,
    Problem,
    source_of,
)
from image_workflow_emulator.http.heads import encoded_path
from image_workflow_emulator.kernel.timestamps import (
    format_timestamp,
    timestamp_or_none,
)
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.scenario.scenario import Rule
from image_workflow_emulator.service.records.journal import Journal
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
        name: timestamp_or_none(getattr(data, name))
        if name.endswith("_at")
        else to_builtins(getattr(data, name))
        for name in names
    }


# As JSON --------------------------------------------------------------------------------------------------------------


_NOTES: Final = {"upload": "direct upload", "download": "file of a picture"}


def describe_request(record: RequestRecord, masks: Masks) -> dict[str, Any]:
    """Return a request as JSON."""
    rule, credential, team = (
        record.rule if record.has_rule_acted else record.work_rule,
        record.credential,
        record.team,
    )
    notes = [] if record.byte_surface is None else [_NOTES[record.byte_surface]]
    if record.outcome == "abandoned":
        notes.append("the client went away before its request was whole")
    elif record.is_unheard:
        notes.append("the client went away before its answer was sent")
    headers = {
        _text(name): masks.of_text(_text(value))
        for name, value in record.response_headers or ()
    }
    fields = {
        name: getattr(record, name, None) for name in RecordedRequest.__struct_fields__
    } | {
        "at": format_timestamp(record.at),
        "arrived_at": format_timestamp(record.arrived_at),
        "query": _text(record.query),
        "bytes": record.byte_surface,
        "credential": credential
        and team
        and {
            **shown(credential, "id", "name"),
            "key": mask_key(credential.key),
            "team": shown(team, "id", "name"),
        },
        "request_id": record.answered_id,
        "replayed": record.replay_of is not None,
        "lost": record.loss is not None,
        "abandoned": record.outcome == "abandoned" or record.is_unheard,
        "committed": record.is_committed,
        "work": record.work_id,
        "timed": record.is_timed,
        "rule": describe_rule(rule) if rule else None,
        "duration_ms": None
        if record.duration_ms is None
        else round(record.duration_ms, 3),
        "request_body": _describe_body(record, "request", masks, notes),
        "response_headers": headers or None,
        "response_body": _describe_body(record, "response", masks, notes),
    }
    fields["note"] = "; ".join(notes) or None
    # A client may have put a key anywhere.
    return {
        name: masks.of_text(value) if isinstance(value, str) else value
        for name, value in fields.items()
    }


def _text(header: bytes) -> str:
    return header.decode("latin-1")


def _describe_body(
    record: RequestRecord, whose: str, masks: Masks, notes: list[str]
) -> Any:
    """Return a body's JSON as it was sent, or its text if it is not JSON; else note the number of its bytes."""
    body, size_bytes = (
        getattr(record, f"{whose}_body"),
        getattr(record, f"{whose}_body_bytes"),
    )
    if not body:
        if size_bytes:
            notes.append(
                f"the {whose}'s body of {count_of(size_bytes, 'byte')} is not shown"
            )
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


# Explained ------------------------------------------------------------------------------------------------------------


_HEADER: Final = "the header Emulator-Fault"


def explain(journal: Journal, record: RequestRecord) -> dict[str, Any]:
    """Return the explanation of a record, as JSON."""
    original, decided = journal.original_of(record), _decided_by(record)
    # Also one that decided only because a scenario asked for its problem.
    checks = [
        check
        for check in Check
        if check in record.checks or (decided and check is decided["check"])
    ]
    rules = ((record.rule, record.has_rule_acted), (record.work_rule, True))
    related = {
        "sequence": original.sequence if original else None,
        "request_id": record.replay_of,
    }
    return {
        "outcome": record.outcome,
        "summary": _summary(record, original),
        "checks": [_describe_check(check, record, decided) for check in checks],
        "decided_by": decided,
        "remedy": remedy_of(record),
        "effects": list(_effects(record)),
        "rules": [
            describe_rule(rule) | {"did": rule.then if acted else "nothing"}
            for rule, acted in rules
            if rule
        ],
        "related": related if record.replay_of is not None else None,
    }


# The checks -----------------------------------------------------------------------------------------------------------


def _decided_by(record: RequestRecord) -> dict[str, Any] | None:
    """Return what decided, at which check if at one, and the change of a timeline that caused it.

    None where nothing decided: every check was passed, or the request has no answer.
    """
    problem, check = (
        record.problem,
        Check.IDEMPOTENCY if record.outcome == "replayed" else None,
    )
    if problem is None and check is None:
        return None
    if (
        problem is not None
        and record.outcome == "refused"
        and problem.code != "internal_error"
    ):
        check = problem.check
    cause = problem.cause if problem else None
    return {
        "check": check,
        "who": "the service"
        if not record.is_injected
        else "a scenario"
        if record.rule
        else _HEADER,
        "detail": problem.detail
        if problem
        else "Idempotency-Key: found the same intent that this key is bound to",
        "source": structs.asdict(
            source_of(check or Check.ROUTE, problem.code if problem else None)
        ),
        "timeline": _describe_place(cause) | {"at": format_timestamp(cause.at)}
        if cause
        else None,
    }


def _describe_check(
    check: Check, record: RequestRecord, decided: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the result of a check, why it is made, and what it found if it decided."""
    if decided and check is decided["check"]:
        return {
            "check": check,
            "result": "decided",
            "detail": decided["detail"],
            "source": decided["source"],
        }
    result = "passed" if check in record.passed else "not reached"
    return {
        "check": check,
        "result": result,
        "detail": None,
        "source": structs.asdict(source_of(check)),
    }


# What would have helped, and what happened ----------------------------------------------------------------------------


def remedy_of(record: RequestRecord) -> str | None:
    """Return the remedy; None for a request that was not refused."""
    problem = record.problem
    if problem is None:
        return (
            "remove the cause, and send it with a new Idempotency-Key"
            if record.code
            else None
        )
    if not record.is_injected:
        return problem.remedy or problem.kind.recovery
    return f"{_next_step(record, problem)}; {_who_asked(record)} asked for this answer"


def _who_asked(record: RequestRecord) -> str:
    return (
        _HEADER if record.rule is None else f"the scenario's rule {record.rule.name!r}"
    )


def _next_step(record: RequestRecord, problem: Problem) -> str:
    """Say what a client does after an injected refusal, as after a real one."""
    if problem.code not in MENDED_BY_TIME or problem.active_operation_id is not None:
        return problem.kind.recovery
    wait = "" if problem.retry_after is None else f"wait {problem.retry_after} s, then "
    key = "" if record.idempotency_key is None else " with the same Idempotency-Key"
    return f"{wait}send the same request again{key}"


def _summary(record: RequestRecord, original: RequestRecord | None) -> str:
    is_lost = (
        record.is_complete and record.outcome != "lost" and record.loss is not None
    )
    return _verdict(record, original) + (
        " A scenario lost the answer on the wire." if is_lost else ""
    )


_WITHOUT_PROBLEM: Final = {
    "in flight": "It has no answer yet.",
    "abandoned": "Its client went away before it was whole; nothing was done.",
    "lost": "A scenario lost it on the wire before anything was done; it has no answer.",
    "replayed": "{status}: the stored answer of {first} was sent again.",
    "answered": "{status}: it passed every check.",
}


def _verdict(record: RequestRecord, original: RequestRecord | None) -> str:
    if record.outcome in _WITHOUT_PROBLEM:
        first = (
            "an earlier request" if original is None else f"request {original.sequence}"
        )
        return _WITHOUT_PROBLEM[record.outcome].format(
            status=record.status, first=first
        )
    assert record.problem is not None, "a refusal has its problem"
    answer, detail = (
        f"{record.status} {record.problem.code}",
        sentence(record.problem.detail),
    )
    if record.outcome == "failed":
        return f"{answer}: {detail}"
    if not record.is_injected:
        return f"{answer}: refused by the {record.problem.check} check: {detail}{_caused_by(record.problem.cause)}"
    when = (
        "after the request had been carried out"
        if record.outcome == "replaced"
        else "before anything was done"
    )
    return f"{answer}: injected by {_who_asked(record)}, {when}."


def _caused_by(cause: Cause | None) -> str:
    if cause is None:
        return ""
    place = f" ({cause.file}, line {cause.line})" if cause.line else ""
    return (
        f" The scenario's timeline{place} caused this at {format_timestamp(cause.at)}."
    )


def _effects(record: RequestRecord) -> Iterator[str]:
    """Iterate over what the request did in the sandbox, in words."""
    problem = record.problem
    is_bound = record.is_committed or (
        problem is not None and problem.code in KEY_BINDING_CODES
    )
    is_bound = (
        is_bound and record.idempotency_key is not None and record.status is not None
    )
    if record.outcome == "answered":
        yield from _effects_of_answer(record)
    elif record.outcome == "replaced" and record.is_committed:
        yield "the request was carried out, though its answer says otherwise"
    elif (
        record.operation == "completeUpload"
        and problem is not None
        and problem.check is Check.RULES
    ):
        yield "the Upload Session has failed"
    elif record.outcome not in ("in flight", "failed"):
        yield (
            "nothing but the Idempotency-Key was changed"
            if is_bound
            else "nothing was changed"
        )
    if is_bound:
        yield "the Idempotency-Key is bound to this request for 24 hours"
    elif (
        record.idempotency_key
        and record.status
        and problem is not None
        and problem.check is not Check.IDEMPOTENCY
    ):
        yield "the Idempotency-Key is unchanged: the request may be sent again with it"


def _effects_of_answer(record: RequestRecord) -> Iterator[str]:
    if record.byte_surface == "upload":
        yield "the bytes were accepted"
    elif record.operation is None or record.method == "GET":
        yield "nothing was changed"
    else:
        body = record.answer
        is_deleted = record.status == 204 or body.get("object") == "asset_deletion"
        verb = (
            "deleted"
            if is_deleted
            else {201: "created", 202: "admitted"}.get(record.status or 0, "changed")
        )
        yield f"{body.get('id', record.path.rpartition('/')[2])} was {verb}"
        if reserved := body.get("credits", {}).get("reserved"):
            yield f"{count_of(reserved, 'Credit')} reserved; charged by what is completed"


# Scenarios ------------------------------------------------------------------------------------------------------------


def describe_rule(rule: Rule) -> dict[str, Any]:
    """Return the name of a rule, and where it is written."""
    return {"name": rule.name} | _describe_place(rule)


def _describe_place(part: Rule | Cause) -> dict[str, Any]:
    """Return where a part of a scenario is written: nowhere, if the scenario came as an object within a request."""
    return (
        {"file": part.file, "line": part.line}
        if part.line
        else {"file": None, "line": None}
    )


# As a command ---------------------------------------------------------------------------------------------------------


_AUTHORIZATION: Final = '--header "Authorization: Bearer $IMAGE_WORKFLOW_API_KEY"'
_KEPT_IN_QUERIES: Final = "".join(map(chr, range(0x21, 0x7F)))
_WITHOUT_KEY: Final = "without a key: none came, or one that belongs to no Team, which the journal does not keep"
_MASKED: Final = "where the request held a key, only its beginning is shown: the journal shows no keys"


def as_curl(record: RequestRecord, masks: Masks, origin: str) -> str:
    """Return the command, after comments on what it cannot repeat; `origin` is the address of the emulator."""
    body, is_of_operation = (
        record.request_body or b"",
        record.path.startswith(BASE_PATH),
    )
    has_body = record.content_type_header is not None and record.request_body != b""
    is_cut = has_body and (
        body == b"" or b"\0" in body
    )  # at which an argument of a command ends
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
    parts += [
        f"--header {_word(name + value)}" for name, value in headers.items() if value
    ]
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
    return (
        "".join(f"# {comment}\n" for comment, applies in comments.items() if applies)
        + shown
    )


def _word(data: bytes) -> str:
    """Write bytes as one word of a shell; those that a terminal might obey as escapes."""
    text = data.decode(errors="replace")
    if text.isprintable() and text.encode() == data:
        return shlex.quote(text)
    escaped = data.decode("latin-1").encode("unicode_escape").decode()
    return "$'" + escaped.replace("'", "\\'") + "'"
