"""The records of idempotency: whose they are, and the answers that they keep."""

import re

import orjson

from emulator.domain.idempotency import StoredAnswer
from emulator.service.sandbox import Sandbox
from emulator.service.state.soundness.rows import check_instants, expect, numbered

_HEADER_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9a-z-]+")
_HEADER_VALUE = re.compile(rb"[\t\x20-\x7e\x80-\xff]*")


def check_records(sandbox: Sandbox) -> None:
    """Check idempotency records. Raises StateError."""
    ids = {held.credential.id for held in sandbox.credentials.values()}
    admitted = []
    for row in numbered("/records", sandbox.idempotency.records()):
        scope, record = row.item
        expect(scope.credential_id in ids, f"{row.where}/0/0", scope.credential_id, "the id of a credential")
        _check_answer(f"{row.where}/1", record)
        admitted.append(record.admitted_at)
    check_instants(sandbox, "/records", admitted)


def _check_answer(where: str, record: StoredAnswer) -> None:
    expect(200 <= record.status <= 599, f"{where}/2", record.status, "a status from 200 to 599")
    headers = dict(record.headers)
    for name, value in record.headers:
        is_header = _HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value)
        expect(is_header, f"{where}/3", name.decode("latin-1"), "headers of HTTP")
    try:
        is_object = not record.body or isinstance(orjson.loads(record.body), dict)
    except orjson.JSONDecodeError:
        is_object = False
    expect(is_object, f"{where}/4", len(record.body), "nothing, or an object in JSON")
    expect(b"request-id" in headers, f"{where}/3", list(headers), "a Request-Id")
    length = headers.get(b"content-length", b"0")
    is_length = length == b"%d" % len(record.body) and len(headers) == len(record.headers)
    expect(is_length, f"{where}/3", length.decode("latin-1"), "the length of the body, once")
