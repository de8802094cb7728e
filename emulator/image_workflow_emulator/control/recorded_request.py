"""A recorded request as JSON: the one shape in which the control plane, `testing` and
reports show requests.

Must not know the objects of an emulator: most of its readers run in another process.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from image_workflow_emulator.kernel.seed import without_signature
from image_workflow_emulator.kernel.wording import printable


class RecordedRequest(Struct, frozen=True, kw_only=True):
    """One request of the journal. A field is None while it is unknown, and where it does
    not apply.

    `Sandbox.requests` returns them; as a text, one is a line with time, status,
    operation and duration.
    """

    sequence: int
    at: str
    """The emulator's time when it arrived."""
    arrived_at: str | None = None
    """The host's time when it arrived."""
    method: str
    path: str
    query: str = ""
    """As it was sent, without the `?`."""
    operation: str | None = None
    """The operation id; None for uploads and files, and for paths without an operation."""
    bytes: str | None = None
    """`upload` or `download` for a request that carries an image."""
    content_type: str | None = None
    """The header Content-Type of a request with a body."""
    emulator_fault: str | None = None
    """The header Emulator-Fault."""
    user_agent: str | None = None
    credential: Mapping[str, Any] | None = None
    """`id`, `name`, `key` (masked) and `team` (with `id` and `name`)."""
    idempotency_key: str | None = None
    status: int | None = None
    """None where there was no answer, or is none yet."""
    code: str | None = None
    """The problem's code, if it was refused."""
    request_id: str | None = None
    replayed: bool = False
    """Whether a stored answer was sent again."""
    lost: bool = False
    """Whether a scenario lost its answer on the wire."""
    abandoned: bool = False
    """Whether its client had gone before its answer was sent."""
    committed: bool = False
    """Whether it was carried out."""
    work: str | None = None
    """The id of the Operation or Generation that it admitted."""
    connection: str | None = None
    """The client's end of its connection; None where the server does not know it."""
    last_arrival: int = 0
    """The number of the last request that had come when it was answered."""
    timed: bool = True
    """Whether its time tells how long its client waited: an auto clock skips the waits that it asks for."""
    rule: Mapping[str, Any] | None = None
    """The rule of a scenario that acted: `name`, `file` and `line`."""
    duration_ms: float | None = None
    """Real time until the answer; None while there is none."""
    request_body: Any = None
    response_headers: Any = None
    response_body: Any = None
    note: str | None = None

    @property
    def team(self) -> str | None:
        """The name of the Team whose key it brought."""
        if self.credential is None:
            return None
        return str(self.credential["team"]["name"])

    def __str__(self) -> str:
        """Describe it in one line: time, status, operation (or method and path), code,
        fate, duration, Team.
        """
        time_of_day = self.at[11:23]
        operation = self.operation
        if operation is None:
            operation = f"{self.method} {without_signature(self.path)}"
        parts = [time_of_day, self._status_word(), operation, self.code]
        if self.replayed:
            parts.append("replayed")
        if self.lost:
            parts.append("answer lost")
        if self.duration_ms is not None:
            parts.append(f"{self.duration_ms:.1f} ms")
        parts.append(self.team)
        return printable("  ".join(part for part in parts if part))

    def _status_word(self) -> str:
        if self.status is not None:
            return str(self.status)
        if self.duration_ms is None:
            return "…"
        return "---"
