"""`upload-after-window`: bytes or their completion come after the window of the Upload Session.

Theory of operation. The service says so, 410 upload_expired; the rule is broken if the request itself came after
upload.expires_at. A request that came in time and was delayed, its repetition, and one that a scenario answered do not
count. Such a session is not reported as abandoned as well.
"""

from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from emulator.examiner.history import History
from emulator.examiner.reading import upload_id_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict
from emulator.service.record import RequestRecord


def _is_late(record: RequestRecord, window_end: int) -> bool:
    """Whether a request came after the window of its Upload Session, and was refused for it."""
    return record.code == "upload_expired" and not record.is_injected and record.at >= window_end


def _examine(history: History) -> Iterator[Verdict]:
    bytes_sent = [record for record in history.by_operation.get(None, ()) if record.byte_surface == "upload"]
    completions = history.by_operation.get("completeUpload", ())
    in_time: set[tuple[str, str | None]] = set()
    for record in sorted([*bytes_sent, *completions], key=attrgetter("sequence")):
        session = history.works.find_upload(upload_id_of(record) or "")
        if session is None:
            continue
        attempts = (session.id, record.operation)
        if not _is_late(record, session.expires_at):
            in_time.add(attempts)
        late = "bytes" if record.byte_surface else "completion"
        message = f"the window of {session.id} had passed when its {late} came"
        yield Breach((record.sequence,), message) if attempts not in in_time else KEPT


RULE: Final = ConductRule(
    name="upload-after-window",
    severity="warning",
    source="Section 4: A session past its window yields 410 upload_expired.",
    remedy="send the bytes and complete before upload.expires_at; when it has passed, create a new session",
    examine=_examine,
)
