"""`credential-sent-to-bytes`: the credential goes to an upload or file address.

Theory of operation. These addresses are signed or public by themselves, and may belong to another company's storage
service: a credential that is sent there is leaked, whatever the answer, and whether it stands in the header Authorization,
in another one, such as Cookie or Referer, or in the query.
"""

from collections.abc import Iterator
from typing import Final

from emulator.examiner.history import History
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict


def _examine(history: History) -> Iterator[Verdict]:
    for record in history.by_operation.get(None, ()):
        if record.byte_surface is None:
            continue
        if record.has_authorization or record.shows_key:
            how = "in the header Authorization" if record.has_authorization else "in another header or the query"
            where = "upload.url" if record.byte_surface == "upload" else "the url of a file"
            yield Breach((record.sequence,), f"the credential was sent to {where}, {how}")
        else:
            yield KEPT


RULE: Final = ConductRule(
    name="credential-sent-to-bytes",
    severity="error",
    source="Section 5, rule 7: The direct-upload URL is not authenticated with the credential; the credential must never "
    "be sent to it. Asset URLs are downloadable without the credential.",
    remedy="use a client without default headers, cookies and parameters for upload.url and for the urls of Assets",
    examine=_examine,
)
