"""The command `conduct FILE`: recordings become records of requests and of their work,
which the examiner judges.

Owns which rules a recording cannot show, and why. Has no rule of its own.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct

from image_workflow_emulator.contract import BASE_PATH, load_contract
from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.domain.problems import CATALOGUE, Problem
from image_workflow_emulator.domain.resources import (
    operation_admitting,
)
from image_workflow_emulator.drift.json_values import instant_of
from image_workflow_emulator.drift.recognition import recognize
from image_workflow_emulator.drift.recordings import check_calls, read_recordings
from image_workflow_emulator.drift.traffic import RecordedCall, RecordedWork, Traffic
from image_workflow_emulator.examiner.conduct import judge
from image_workflow_emulator.examiner.findings import SEVERITIES
from image_workflow_emulator.kernel.timestamps import MINUTE_MS
from image_workflow_emulator.kernel.wording import count_of, first_of
from image_workflow_emulator.report import Report, ReportFinding, ReportTable
from image_workflow_emulator.service.records.record import RequestRecord, digest


def judge_conduct(files: Sequence[str]) -> Report:
    """Judge what the clients that were recorded in some files do wrong.

    Raises:
        UsageError: a file holds no recording, or no call of the service.
        UnusableFileError: a file cannot be read.
    """
    recognized = recognize(read_recordings(files), load_contract())
    report = judge_client(recognized.traffics)
    check_calls(report.counts["requests"], files)
    return report


def judge_client(traffics: Sequence[Traffic]) -> Report:
    """Judge the clients that were recorded, each recording by itself."""
    judgement = _ClientJudgement()
    for traffic in traffics:
        judgement.judge(traffic)
    return judgement.report()


class _ClientJudgement:
    """What the clients of some recordings did wrong."""

    def __init__(self) -> None:
        self._findings: list[ReportFinding] = []
        self._checked = Counter[str]()
        """By rule: how often it could have been broken."""
        self._reasons: dict[str, str] = {}
        """By rule: why a recording could not show whether it was broken."""
        self._places: dict[int, str] = {}
        """The places of all requests, by their numbers."""

    def judge(self, traffic: Traffic) -> None:
        """Judge the client of one recording."""
        requests = _RecordedRequests(traffic, last=max(self._places, default=0))
        conduct = judge(
            requests.records,
            _Outcomes(traffic, {record.work_id for record in requests.records}),
            max(record.left_at for record in requests.records),
            has_ended=True,
        )
        for record, call in zip(requests.records, traffic.calls, strict=True):
            self._places[record.sequence] = call.where
        for finding in conduct.findings:
            places = [self._places[number] for number in finding.requests]
            where = first_of(places, separator="; ")
            self._findings.append(finding.reported(where))
        self._checked.update(conduct.checked)
        self._reasons |= _reasons(traffic, conduct.not_checked)

    def report(self) -> Report:
        """Return the report."""
        findings = sorted(self._findings, key=_rank)
        has_errors = any(finding.severity == "error" for finding in findings)
        calls = count_of(len(self._places), "call")
        tables = []
        if self._reasons:
            columns = ["rule", "reason"]
            rows = list(self._reasons.items())
            tables = [ReportTable(title="Not checked", columns=columns, rows=rows)]
        return Report(
            kind="conduct",
            ok=not has_errors,
            summary=f"{calls}, {count_of(len(findings), 'finding')}",
            findings=findings,
            counts={"requests": len(self._places)},
            checked={
                rule: occasions
                for rule, occasions in self._checked.items()
                if rule not in self._reasons
            },
            tables=tables,
            details={"not_checked": self._reasons},
            status=int(has_errors),
        )


def _rank(finding: ReportFinding) -> int:
    """Return the place of a finding by its severity, the worst first."""
    return SEVERITIES.index(finding.severity)


def _reasons(traffic: Traffic, not_timed: Sequence[str]) -> dict[str, str]:
    """Return the rules that a recording cannot show, and why.

    `not_timed`: the rules that need times, if there are none.
    """
    is_journal = any(call.entry for call in traffic.calls)
    subject = "an auto clock" if is_journal else "the recording"
    reasons = dict.fromkeys(not_timed, f"{subject} has no times")
    has_authorization = any(
        call.operation and "authorization" in call.request_headers
        for call in traffic.calls
    )
    # A journal shows it of operations alone.
    if is_journal or not has_authorization:
        reason = "the recording has no Authorization headers"
        reasons["credential-sent-to-bytes"] = reason
    return reasons


# Requests -----------------------------------------------------------------------------


class _Record(RequestRecord, eq=False):
    """A record whose answer is known from the recording alone."""

    @property
    def loss(self) -> str | None:
        """How the answer was lost, which a recording does not tell."""
        return "lost" if self.status is None else None


class _RecordedRequests:
    """The calls of a recording as records of requests.

    `last` is the last number that the records of other recordings have.
    """

    def __init__(self, traffic: Traffic, last: int) -> None:
        self._traffic = traffic
        self._last = last
        self._admitted = _admitted_unseen(traffic)
        self._arrivals = [_arrival_of(call) for call in traffic.calls]
        self.records = [self._record(call) for call in traffic.calls]

    def _record(self, call: RecordedCall) -> RequestRecord:
        entry = call.entry or self._entry(call)
        record = _Record(
            sequence=self._last + entry.sequence,
            at=call.at,
            arrived_ms=float(self._arrivals[call.number]),
            request_id="",
            method=call.method,
            path=entry.path,
        )
        _add_what_was_sent(record, call, entry)
        _add_what_was_answered(record, call, entry)
        record.is_committed = entry.committed
        record.work_id = entry.work
        record.last_arrival = self._last + entry.last_arrival
        record.left_at = call.at
        if self._arrivals[call.number] == call.at:  # else an emulator's clock counts
            record.left_at += round(call.took_ms or 0)
        return record

    def _entry(self, call: RecordedCall) -> RecordedRequest:
        """Return what a journal would have of a call that it did not record."""
        is_write = call.operation is not None and call.operation.is_write
        work = self._admitted.get(call.number)
        answered_at = self._arrivals[call.number] + (call.took_ms or 0)
        return RecordedRequest(
            sequence=call.number + 1,
            at="",
            method=call.method,
            path=_path_of(call, self._traffic),
            committed=(is_write and call.is_success) or work is not None,
            work=work,
            last_arrival=bisect_left(self._arrivals, answered_at, call.number + 1),
            timed=call.is_timed and not call.is_coarse,
        )


def _arrival_of(call: RecordedCall) -> int:
    """Return the host's time of a call's arrival, or the service's."""
    return call.at if call.arrived_at is None else call.arrived_at


def _path_of(call: RecordedCall, traffic: Traffic) -> str:
    """Return the path that the emulator would use: below its own base path, and with the
    session's id for an upload.
    """
    address = call.url.partition("?")[0]
    if call.operation is not None:
        return BASE_PATH + address.partition(BASE_PATH)[2]
    session = traffic.uploads.get(call.url)
    if session is None:
        return address
    return f"{BASE_PATH}/uploads/{session.answer.get('id')}/bytes"


def _add_what_was_sent(
    record: RequestRecord, call: RecordedCall, entry: RecordedRequest
) -> None:
    headers = call.request_headers
    authorization = headers.get("authorization")  # in a journal a credential's id
    if authorization is not None:
        record.has_authorization = True
        record.unknown_credential = digest(authorization.encode())
    # A journal masks a key where none belongs.
    places = (entry.query, entry.idempotency_key, entry.user_agent)
    record.shows_key = any("…" in (place or "") for place in places)
    record.key_header = _encoded(call.key)
    record.user_agent_header = _encoded(headers.get("user-agent"))
    record.connection = entry.connection
    record.byte_surface = call.surface
    if call.operation is not None:
        record.operation = call.operation.id
        record.query = call.url.partition("?")[2].encode()
    if call.body:
        record.request_body = call.request_body
    elif call.is_partial:
        record.request_digest = f"unknown body {call.number}"
    else:
        record.request_digest = digest(call.request_body or b"")


def _add_what_was_answered(
    record: RequestRecord, call: RecordedCall, entry: RecordedRequest
) -> None:
    record.status = call.status
    record.duration_ms = call.took_ms or 0.0
    record.is_timed = entry.timed
    record.is_unheard = entry.abandoned
    record.response_headers = tuple(
        (name.encode(), value.encode()) for name, value in call.response_headers.items()
    )
    if call.operation is not None:
        is_resource = "object" in call.answer
        is_anonymous = is_resource and "id" not in call.answer
        record.response_body = msgspec.json.encode({} if is_anonymous else call.answer)
    code = call.code
    if code is not None and code in CATALOGUE:
        is_injected = entry.rule is not None or entry.emulator_fault is not None
        record.problem = Problem(code, "", is_injected=is_injected)


def _encoded(header: str | None) -> bytes | None:
    return None if header is None else header.encode()


# Work ---------------------------------------------------------------------------------


def _admitted_unseen(traffic: Traffic) -> dict[int, str]:
    """Return the work that a call admitted although its answer does not say so, as the
    recording shows it later.

    It is work that no answer admitted, was not there before the call, and echoes the
    call's body.
    """
    admitted: dict[int, str] = {}
    unclaimed = [work for work in traffic.works.values() if work.admission is None]
    for call in traffic.calls:
        may_have_admitted = call.status in (None, 500) and call.key is not None
        if not call.body or not may_have_admitted:
            continue
        for work in unclaimed:
            if _is_admitted_by(work, call):
                unclaimed.remove(work)
                admitted[call.number] = work.id
                break
    return admitted


def _is_admitted_by(work: RecordedWork, call: RecordedCall) -> bool:
    resource = work.last.resource
    echo = resource.get("request")
    created_at = instant_of(resource.get("created_at"))
    if operation_admitting(work.kind) != call.name or created_at is None:
        return False
    # The client's clock is not the service's.
    is_old = call.is_timed and created_at < call.at - MINUTE_MS
    return not is_old and isinstance(echo, dict) and call.body.items() <= echo.items()


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


class _Outcomes(NamedTuple):
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
        expires_at = instant_of(session.answer["upload"].get("expires_at"))
        if expires_at is None:
            return None
        return _SeenUpload(identifier, expires_at)
