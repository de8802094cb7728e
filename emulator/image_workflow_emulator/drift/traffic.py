"""The calls of one recording, in order, and the resources that their answers show.

Owns what a recorded call is. Only values of the type that the contract gives them are in
it, so that nobody has to check again. Knows no reading.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl

from msgspec import Struct

from image_workflow_emulator.contract import OperationContract
from image_workflow_emulator.documents.violations import Violation
from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.drift.exchanges import RecordedExchange
from image_workflow_emulator.scenario.matching import ByteSurface

REDIRECTS: Final = (301, 302, 303, 307, 308)
_WORK: Final = ("operation", "generation")


class RecordedCall(RecordedExchange, frozen=True, kw_only=True):
    """A recorded exchange with the service: a call of an operation or a byte surface."""

    number: int
    """Its place among the calls of its recording, from 0."""
    at: int
    """The instant of the request by the service's clock, which never goes back. If the
    recording has none, that of the call before.
    """
    is_timed: bool
    """Whether the recording tells when it was."""
    operation: OperationContract | None
    surface: ByteSurface | None
    parameters: Mapping[str, str]
    """The parameters of its path."""
    body: Mapping[str, Any]
    """The JSON object of the request; empty if it breaks the contract."""
    answer: Mapping[str, Any]
    """The JSON object of the answer, without members of another type than the contract's."""
    violations: Sequence[Violation]
    """Where the answer breaks the contract."""
    is_partial: bool
    """Whether the recording lacks a body, so that only the status is evidence."""

    @property
    def name(self) -> str:
        """The operation's id, or the surface."""
        if self.operation is None:
            return str(self.surface)
        return self.operation.id

    @property
    def key(self) -> str | None:
        """The Idempotency-Key."""
        return self.request_headers.get("idempotency-key")

    @property
    def query(self) -> Mapping[str, str]:
        """The parameters of the query."""
        _, _, query = self.url.partition("?")
        return dict(parse_qsl(query, keep_blank_values=True))

    @property
    def resources(self) -> Sequence[Mapping[str, Any]]:
        """The resources of a successful answer: itself, or the members of a list."""
        if not self.is_success or self.operation is None:
            return ()
        if self.operation.kind == "list":
            items: Sequence[Mapping[str, Any]] = self.answer.get("data", ())
            return items
        return (self.answer,)

    @property
    def page(self) -> Mapping[str, Any]:
        """The page of a list; empty for any other answer."""
        page: Mapping[str, Any] = self.answer.get("page", {})
        return page

    @property
    def is_success(self) -> bool:
        """Whether the answer was 2xx."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def code(self) -> str | None:
        """The code of the problem that was answered; None for a success."""
        if self.is_success:
            return None
        return self.answer.get("code")


class Snapshot(NamedTuple):
    """A resource as one answer shows it."""

    call: RecordedCall
    resource: Mapping[str, Any]

    @property
    def status(self) -> object:
        """The status of work."""
        return self.resource.get("status")

    @property
    def is_terminal(self) -> bool:
        """Whether work had ended."""
        return self.status in TERMINAL

    @property
    def outputs(self) -> Sequence[Mapping[str, Any]]:
        """The outputs of a Generation. An Operation has none, whatever the answer has."""
        if self.resource["object"] != "generation":
            return ()
        outputs: Sequence[Mapping[str, Any]] = self.resource.get("outputs", ())
        return outputs

    @property
    def output_statuses(self) -> Sequence[object]:
        """The statuses of the outputs of a Generation."""
        return [output.get("status") for output in self.outputs]

    def credits(self, name: str) -> int | None:
        """Return the Credits of work, `reserved` or `charged`.

        None if they are not shown: the contract promises no shape of a Generation's.
        """
        amounts = self.resource.get("credits")
        if not isinstance(amounts, dict):
            return None
        amount = amounts.get(name)
        if not isinstance(amount, int):
            return None
        return amount


class RecordedWork(Struct):
    """An Operation or Generation, and every answer that shows it, in order."""

    id: str
    snapshots: Sequence[Snapshot]

    @property
    def admission(self) -> RecordedCall | None:
        """The call that admitted it; None if it was there before the recording."""
        call = self.first.call
        if call.operation is None or not call.operation.is_write:
            return None
        return call

    @property
    def kind(self) -> str:
        """The workflow of a Generation, or the type of an Operation."""
        resource = self.first.resource
        return str(resource.get("workflow") or resource.get("type"))

    @property
    def first(self) -> Snapshot:
        """As the first answer shows it."""
        return self.snapshots[0]

    @property
    def last(self) -> Snapshot:
        """As the last answer shows it."""
        return self.snapshots[-1]

    @property
    def finished_by(self) -> RecordedCall | None:
        """The first call whose answer showed that it had ended."""
        for snapshot in self.snapshots:
            if snapshot.is_terminal:
                return snapshot.call
        return None

    def credits(self, name: str) -> int | None:
        """Return its Credits as last seen; see `Snapshot.credits`."""
        return self.last.credits(name)


class Traffic:
    """The calls of a recording, in order, and the resources that their answers show."""

    def __init__(self, calls: Sequence[RecordedCall]) -> None:
        self.calls = calls

    def of(self, *names: str) -> Iterator[RecordedCall]:
        """Iterate over the calls of some operations or surfaces, or over all calls."""
        return (call for call in self.calls if not names or call.name in names)

    def whole(self, *names: str) -> Iterator[RecordedCall]:
        """Iterate over the same calls, except those that lack the answer or a body."""
        for call in self.of(*names):
            if call.status is not None and not call.is_partial:
                yield call

    @cached_property
    def works(self) -> Mapping[str, RecordedWork]:
        """Every Operation and Generation that an answer shows, by id.

        The replay of an admission is one more snapshot of its work.
        """
        works = {}
        for (kind, identifier), snapshots in self.snapshots.items():
            if kind in _WORK:
                works[identifier] = RecordedWork(identifier, snapshots)
        return works

    @cached_property
    def snapshots(self) -> Mapping[tuple[str, str], Sequence[Snapshot]]:
        """Every resource that an answer shows, by kind and id."""
        snapshots: dict[tuple[str, str], list[Snapshot]] = {}
        for call in self.calls:
            for resource in call.resources:
                if "id" not in resource or "object" not in resource:
                    continue
                key = resource["object"], resource["id"]
                of_resource = snapshots.setdefault(key, [])
                of_resource.append(Snapshot(call, resource))
        return snapshots

    def snapshots_of(self, kind: str, identifier: str) -> Sequence[Snapshot]:
        """Return the answers that show a resource, the first one first."""
        return self.snapshots.get((kind, identifier), ())

    @cached_property
    def uploads(self) -> Mapping[str, RecordedCall]:
        """The first call that shows each Upload Session, by its id and by its address."""
        uploads: dict[str, RecordedCall] = {}
        for call in self.of("createUpload"):
            upload = call.answer.get("upload", {})
            address = upload.get("url")
            if address is not None:
                identifier = str(call.answer.get("id"))
                uploads.setdefault(identifier, call)
                uploads.setdefault(address, call)
        return uploads

    def admissions(self) -> Iterator[tuple[RecordedCall, RecordedWork]]:
        """Iterate over the calls that admitted work."""
        for work in self.works.values():
            if work.admission is not None:
                yield work.admission, work
