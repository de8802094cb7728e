"""The work and the uploads of a recording, as its last answers show them."""

from collections.abc import Collection
from typing import NamedTuple

from msgspec import Struct

from image_workflow_emulator.domain.resources import operation_admitting
from image_workflow_emulator.drift.json_values import instant_of
from image_workflow_emulator.drift.traffic import RecordedCall, RecordedWork, Traffic
from image_workflow_emulator.kernel.timestamps import MINUTE_MS


class _SeenWork(Struct, frozen=True):
    """A piece of work as a recording shows it (`examiner.request.Work`)."""

    id: str
    reserved_credits: int | None
    """None where no request showed it."""
    charged_credits: int | None = None
    finished_at: int | None = None


class _SeenUpload(Struct, frozen=True):
    """An Upload Session as a recording shows it (`examiner.request.Upload`)."""

    id: str
    expires_at: int


class RecordedOutcomes(NamedTuple):
    """The work and the uploads as the recording last shows them."""

    traffic: Traffic
    admitted: Collection[str | None]
    """The ids of the work that requests admitted, shown or not."""

    def find_work(self, identifier: str) -> _SeenWork | None:
        """Return a piece of work as it was seen last."""
        work = self.traffic.works.get(identifier)
        if work is not None:
            return _SeenWork(
                id=work.id,
                reserved_credits=work.credits("reserved") or 0,
                charged_credits=work.credits("charged"),
                finished_at=instant_of(work.last.resource.get("finished_at")),
            )
        if identifier in self.admitted:
            return _SeenWork(identifier, reserved_credits=None)
        return None

    def find_upload(self, identifier: str) -> _SeenUpload | None:
        """Return an Upload Session as it was seen last."""
        session = self.traffic.uploads.get(identifier)
        if session is None:
            return None
        upload = session.answer["upload"]
        expires_at = instant_of(upload.get("expires_at"))
        if expires_at is None:
            return None
        return _SeenUpload(identifier, expires_at)


def work_admitted_unseen(traffic: Traffic) -> dict[int, str]:
    """Return the work that a call admitted although its answer does not say so, as the
    recording shows it later.

    It is work that no answer admitted, was not there before the call, and echoes the
    call's body.
    """
    admitted: dict[int, str] = {}
    works = traffic.works.values()
    unclaimed = [work for work in works if work.admission is None]
    for call in traffic.calls:
        if not _may_have_admitted(call):
            continue
        for work in unclaimed:
            if _is_admitted_by(work, call):
                unclaimed.remove(work)
                admitted[call.number] = work.id
                break
    return admitted


def _may_have_admitted(call: RecordedCall) -> bool:
    """Whether a call may have admitted work that its answer does not show."""
    if not call.body or call.key is None:
        return False
    return call.status in (None, 500)


def _is_admitted_by(work: RecordedWork, call: RecordedCall) -> bool:
    resource = work.last.resource
    echo = resource.get("request")
    created_at = instant_of(resource.get("created_at"))
    if operation_admitting(work.kind) != call.name or created_at is None:
        return False
    # The client's clock is not the service's.
    is_old = call.is_timed and created_at < call.at - MINUTE_MS
    if is_old or not isinstance(echo, dict):
        return False
    return call.body.items() <= echo.items()
