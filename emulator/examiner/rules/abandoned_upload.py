"""`abandoned-upload`: an Upload Session is opened and never completed.

Theory of operation. Whether it will be completed is known ten minutes of emulator time after its window, or at the end
of the run. Sessions whose address never reached the client, whose bytes or completion were refused or lost, and those
of clients whose last request failed, are not abandoned. One that came too late is reported as `upload-after-window`.
"""

from collections.abc import Iterator
from typing import Final

from emulator.examiner.history import History
from emulator.examiner.reading import is_answered, is_success
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict


def _examine(history: History) -> Iterator[Verdict]:
    sessions = [record for record in history.by_operation.get("createUpload", ()) if is_answered(record, 201)]
    for session_id, opened, records in history.about(sessions):
        tried = [
            record for record in records if record.operation == "completeUpload" or record.byte_surface == "upload"
        ]
        if any(record.operation == "completeUpload" or not is_success(record) for record in tried):
            yield KEPT
        elif history.is_over(_window_end(history, session_id, opened.at)) and not history.ended_in_failure(opened):
            done = "its bytes were sent, but it was not completed" if tried else "nothing was sent to it"
            yield Breach((opened.sequence,), f"{session_id} was opened and left: {done}")


def _window_end(history: History, session_id: str, opened_at: int) -> int:
    session = history.works.find_upload(session_id)
    return opened_at if session is None else session.expires_at


RULE: Final = ConductRule(
    name="abandoned-upload",
    severity="note",
    source="Section 1: a client creates an Upload Session, sends raw bytes directly to a short-lived signed URL, and "
    "exchanges the returned upload token for an Asset.",
    remedy="complete each Upload Session with the token that its upload returned",
    examine=_examine,
)
