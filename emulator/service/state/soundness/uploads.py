"""Upload Sessions."""

import hashlib

from emulator.domain.lifecycles import TERMINAL
from emulator.domain.resources import UploadSession
from emulator.service.sandbox import Sandbox
from emulator.service.state.soundness.rows import Row, check_pictures, owned


def check_uploads(sandbox: Sandbox) -> None:
    """Check Upload Sessions, and enter those that are finished. Raises StateError."""
    for row in owned(sandbox, "uploads", "upl", sandbox.store.uploads):
        _check_session(sandbox, row)
        if is_finished(sandbox, row.item):
            sandbox.store.finished_uploads.append(row.item.id)  # in ascending order, which is a heap


def _check_session(sandbox: Sandbox, row: Row[UploadSession]) -> None:
    session = row.item
    row.expect_only(session.status != "awaiting_upload", "digest", "one of what it received")
    if has_bytes(sandbox, session):
        check_pictures(sandbox, row.where, [session.id])
        data = sandbox.images.pictures[session.id].data or b""
        is_whole = hashlib.sha256(data).hexdigest() == session.digest and len(data) == session.size_bytes
        row.expect(is_whole, "digest", "the SHA-256 of its bytes")


def is_finished(sandbox: Sandbox, session: UploadSession) -> bool:
    """Tell whether nothing more can happen to a session."""
    return session.status in TERMINAL or sandbox.clock.now() >= session.expires_at


def has_bytes(sandbox: Sandbox, session: UploadSession) -> bool:
    """Tell whether a session still keeps its bytes: after its window they are gone."""
    return session.status == "received" and sandbox.clock.now() < session.expires_at
