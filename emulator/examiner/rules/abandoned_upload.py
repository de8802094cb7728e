"""`abandoned-upload`: an Upload Session is opened and never completed.

Theory of operation. Whether it will be completed is known ten minutes of emulator time after its window, or at the end
of the run. Sessions whose address never reached the client, whose bytes or completion were refused or lost, and those
of clients whose last request failed, are not abandoned. One that came too late is reported as `upload-after-window`.
"""

from collections.abc import Iterator
from typing import Final

from emulator.examiner.history import History, is_answered, is_success
from emulator.examiner.rules.base import COMPLETE_UPLOAD, KEPT, OPEN_UPLOAD, SEND_BYTES, Breach, Example, Rule, Verdict


def _examine(history: History) -> Iterator[Verdict]:
    sessions = [note for note in history.by_operation.get("createUpload", ()) if is_answered(note, 201)]
    for opened, notes in history.about(sessions):
        tried = [note for note in notes if note.operation == "completeUpload" or note.surface == "upload"]
        if any(note.operation == "completeUpload" or not is_success(note) for note in tried):
            yield KEPT
        elif history.is_over(opened.due or opened.at) and not history.ended_in_failure(opened):
            done = "its bytes were sent, but it was not completed" if tried else "nothing was sent to it"
            subject = str(opened.subject)
            yield Breach(subject, (opened.sequence,), f"{subject} was opened and left: {done}")


RULE: Final = Rule(
    name="abandoned-upload",
    severity="note",
    source="Section 1: a client creates an Upload Session, sends raw bytes directly to a short-lived signed URL, and "
    "exchanges the returned upload token for an Asset.",
    remedy="complete each Upload Session with the token that its upload returned",
    examine=_examine,
    breaks=Example((OPEN_UPLOAD, SEND_BYTES)),
    keeps=Example((OPEN_UPLOAD, SEND_BYTES, COMPLETE_UPLOAD)),
)
