"""Who asked for what: the client of a request, and what makes another one the same.

A client is a credential with a User-Agent. A request with the same intent has the same
client, method, address and body; the Idempotency-Key is no part of it.
"""

import hashlib
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlencode

import msgspec
import orjson

from image_workflow_emulator.examiner.request import Request
from image_workflow_emulator.http.json_bodies import is_nested_too_deeply
from image_workflow_emulator.kernel.wording import excerpt

_MAX_CHARACTERS: Final = 300
"""Limit of the characters of a query or User-Agent that are compared."""
_DIGEST_BYTES: Final = 9


class Client(NamedTuple):
    """A credential with a User-Agent."""

    credential: str | None
    user_agent: str | None


class Intent(NamedTuple):
    """What identifies a request apart from its Idempotency-Key."""

    client: Client
    method: str
    path: str
    query: str
    body: str
    """A digest, or the size if no more is known."""


def client_of(request: Request) -> Client:
    """Return who sent a request."""
    user_agent = request.user_agent
    if user_agent is not None:
        user_agent = user_agent[:_MAX_CHARACTERS]
    return Client(_credential_of(request), user_agent)


def _credential_of(request: Request) -> str | None:
    """Return the id of a credential, or the digest of an unknown Authorization."""
    if request.credential is None:
        return request.unknown_credential
    return request.credential.id


def intent_of(request: Request) -> Intent:
    """Return what identifies a request apart from its Idempotency-Key."""
    return Intent(
        client=client_of(request),
        method=request.method,
        path=request.path,
        query=query_of(request),
        body=_body_of(request),
    )


def query_of(request: Request) -> str:
    """Return the query with its parameters sorted; a long one as a digest."""
    parameters = query_parameters(request)
    query = urlencode(sorted(parameters))
    if len(query) > _MAX_CHARACTERS:
        return _digest(query.encode())
    return query


def query_parameters(request: Request) -> list[tuple[str, str]]:
    """Return the parameters of the query, in their order."""
    return parse_qsl(request.query.decode("latin-1"), keep_blank_values=True)


def _body_of(request: Request) -> str:
    """Return the digest of a body, whatever the order of its members."""
    body = request.request_body
    if body:
        return _digest(_sorted_json(body))
    if request.request_digest:
        return request.request_digest
    if request.request_body_bytes:
        return str(request.request_body_bytes)
    return ""


def _sorted_json(body: bytes) -> bytes:
    if is_nested_too_deeply(body.decode(errors="replace")):
        return body
    try:
        return msgspec.json.encode(orjson.loads(body), order="sorted")
    except orjson.JSONDecodeError:
        return body


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()


def title_of(request: Request) -> str:
    """Return the name of a request in a message."""
    if request.operation is not None:
        return request.operation
    if request.byte_surface is not None:
        return f"the {request.byte_surface}"
    return f"{excerpt(request.method)} {excerpt(request.path)}"
