"""Where a client shows its credential to others than the service."""

from emulator.examiner.history import History
from emulator.examiner.rules.base import KEPT, Verdicts, breach


def credential_sent_to_bytes(history: History) -> Verdicts:
    """The credential goes to an upload or file address.

    These addresses are signed or public by themselves, and may belong to another company's storage service: a credential
    that is sent there is leaked, whatever the answer, and whether it stands in the header Authorization, in another one,
    such as Cookie or Referer, or in the query.
    """
    for record in history.by_operation.get(None, ()):
        if record.byte_surface is not None:
            how = "in the header Authorization" if record.has_authorization else "in another header or the query"
            where = "upload.url" if record.byte_surface == "upload" else "the url of a file"
            is_sent = record.has_authorization or record.shows_key
            yield breach(f"the credential was sent to {where}, {how}", record) if is_sent else KEPT


def credential_in_request(history: History) -> Verdicts:
    """The key of a credential stands in the query of an operation, or in an Idempotency-Key.

    The credential belongs to the header Authorization. Addresses and Idempotency-Keys are written to logs, shown to support
    and kept by the service: whoever reads them there has the key.
    """
    for record in history.records:
        if record.byte_surface is None and (record.query or record.key_header):
            message = f"{record.title} had the credential in its query or its Idempotency-Key"
            yield breach(message, record) if record.shows_key else KEPT
