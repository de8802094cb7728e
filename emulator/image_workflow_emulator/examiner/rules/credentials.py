"""Rules about the credential: who gets to see it, and where."""

from typing import Final

from image_workflow_emulator.examiner.history import History
from image_workflow_emulator.examiner.identity import title_of
from image_workflow_emulator.examiner.request import Request
from image_workflow_emulator.examiner.rules.rule import (
    KEPT,
    ConductRule,
    Verdicts,
    breach,
)


def credential_sent_to_bytes(history: History) -> Verdicts:
    """The credential goes to an upload or file address.

    These addresses are signed or public by themselves, and may belong to another
    company's storage service: a credential that is sent there is leaked, whatever the
    answer, and whether it stands in the header Authorization, in another one, such as
    Cookie or Referer, or in the query.
    """
    for request in history.to_bytes():
        if request.has_authorization:
            yield breach(
                f"{_sent_to(request)}, in the header Authorization",
                request,
            )
        elif request.shows_key:
            yield breach(
                f"{_sent_to(request)}, in another header or the query",
                request,
            )
        else:
            yield KEPT


def _sent_to(request: Request) -> str:
    if request.byte_surface == "upload":
        return "the credential was sent to upload.url"
    return "the credential was sent to the url of a file"


CREDENTIAL_SENT_TO_BYTES: Final = ConductRule(
    name="credential-sent-to-bytes",
    examine=credential_sent_to_bytes,
    severity="error",
    source=(
        "Section 5, rule 7: The direct-upload URL is not authenticated with the "
        "credential; the credential must never be sent to it. Asset URLs are "
        "downloadable without the credential."
    ),
    remedy=(
        "use a client without default headers, cookies and parameters "
        "for upload.url and for the urls of Assets"
    ),
)


def credential_in_request(history: History) -> Verdicts:
    """The key of a credential stands elsewhere than in the header Authorization.

    Queries, Idempotency-Keys and User-Agents are written to logs and shown to support,
    and bodies are kept with what they make: anyone who reads them there has the key.
    """
    for request in history.requests:
        if request.byte_surface is not None:
            continue
        if request.shows_key:
            yield breach(
                f"{title_of(request)} had the credential in its query, "
                "Idempotency-Key, User-Agent or body",
                request,
            )
        elif _has_room(request):
            yield KEPT


def _has_room(request: Request) -> bool:
    """Whether a request has text of its client's in which a key could stand."""
    return bool(
        request.query
        or request.idempotency_key
        or request.user_agent
        or request.request_body
    )


CREDENTIAL_IN_REQUEST: Final = ConductRule(
    name="credential-in-request",
    examine=credential_in_request,
    severity="error",
    source="Section 5, rule 1: Every request carries Authorization: Bearer <API_KEY>.",
    remedy=(
        "send the credential in the header Authorization alone, "
        "and make Idempotency-Keys of random UUIDs"
    ),
)
