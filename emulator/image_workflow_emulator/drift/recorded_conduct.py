"""The command `conduct FILE`: recordings become records of requests and their work, which the examiner judges.

Owns which rules a recording cannot show, and why. Has no rule of its own.
"""

from argparse import Namespace
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from image_workflow_emulator.contract import BASE_PATH, load_contract
from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.domain.problems import CATALOGUE, Problem
from image_workflow_emulator.domain.resources import (
    Generation,
    Operation,
    Output,
    UploadSession,
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


class _Record(RequestRecord, eq=False):
    """A record whose answer is known from the recording alone."""

    @property
    def loss(self) -> str | None:
        """How the answer was lost, which a recording does not tell."""
        return "lost" if self.status is None else None


def conduct(options: Namespace, _environment: Mapping[str, str]) -> Report:
    """Run the command. Raises UsageError and UnusableFileError as `judge_conduct`."""
    return judge_conduct(options.files)


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
    """Judge the client that was recorded, each recording by itself."""
    findings, checked = list[ReportFinding](), Counter[str]()
    reasons, places = dict[str, str](), dict[int, str]()
    for traffic in traffics:
        records = list(_records(traffic, max(places, default=0)))
        now = max(record.left_at for record in records)
        judged = judge(
            records,
            _RecordedWorks(traffic, {record.work_id for record in records}),
            now,
            has_ended=True,
        )
        places |= {
            record.sequence: call.where
            for record, call in zip(records, traffic.calls, strict=True)
        }
        for one in judged.findings:
            findings.append(
                one.reported(first_of(map(places.get, one.requests), separator="; "))
            )
        checked.update(judged.checked)
        reasons |= _not_checked(traffic, judged.not_checked)
    findings.sort(key=lambda one: SEVERITIES.index(one.severity))
    has_errors = any(finding.severity == "error" for finding in findings)
    table = ReportTable(
        title="Not checked", columns=["rule", "reason"], rows=list(reasons.items())
    )
    return Report(
        kind="conduct",
        ok=not has_errors,
        summary=f"{count_of(len(places), 'call')}, {count_of(len(findings), 'finding')}",
        findings=findings,
        counts={"requests": len(places)},
        checked={
            rule: number for rule, number in checked.items() if rule not in reasons
        },
        tables=[table] if reasons else [],
        details={"not_checked": reasons},
        status=int(has_errors),
    )


def _not_checked(traffic: Traffic, not_timed: Sequence[str]) -> dict[str, str]:
    is_journal = any(call.entry for call in traffic.calls)
    reasons = dict.fromkeys(
        not_timed, f"{'an auto clock' if is_journal else 'the recording'} has no times"
    )
    is_shown = any(
        call.operation and "authorization" in call.request_headers
        for call in traffic.calls
    )
    if not is_shown or is_journal:  # a journal shows it of operations alone
        reasons["credential-sent-to-bytes"] = (
            "the recording has no Authorization headers"
        )
    return reasons


# Records --------------------------------------------------------------------------------------------------------------


def _records(traffic: Traffic, last: int) -> Iterator[RequestRecord]:
    """Iterate over the requests of a run; `last` is the last number in other runs."""
    admitted = _admitted_unseen(traffic)
    arrivals = [
        call.at if call.arrived_at is None else call.arrived_at
        for call in traffic.calls
    ]
    for call, arrived in zip(traffic.calls, arrivals, strict=True):
        operation, took_ms, user_agent = (
            call.operation,
            call.took_ms or 0.0,
            call.request_headers.get("user-agent"),
        )
        authorization = call.request_headers.get(
            "authorization"
        )  # in a journal it names the credential
        body_digest = (
            f"unknown body {call.number}"
            if call.is_partial
            else digest(call.request_body or b"")
        )
        answer = (
            call.answer if "id" in call.answer or "object" not in call.answer else {}
        )
        entry = call.entry or RecordedRequest(
            sequence=call.number + 1,
            at="",
            method=call.method,
            path=_path(call, traffic),
            committed=(operation is not None and operation.is_write and call.is_success)
            or call.number in admitted,
            work=admitted.get(call.number),
            last_arrival=bisect_left(arrivals, arrived + took_ms, lo=call.number + 1),
            timed=call.is_timed and not call.is_coarse,
        )
        is_injected = entry.rule is not None or entry.emulator_fault is not None
        yield _Record(
            sequence=last + entry.sequence,
            at=call.at,
            arrived_ms=float(arrived),
            left_at=call.at
            + (
                round(took_ms) if arrived == call.at else 0
            ),  # an emulator's clock may stand still
            duration_ms=took_ms,
            is_timed=entry.timed,
            last_arrival=last + entry.last_arrival,
            request_id="",
            method=call.method,
            path=entry.path,
            query=call.url.partition("?")[2].encode() if operation else b"",
            unknown_credential=authorization and digest(authorization.encode()),
            has_authorization=authorization is not None,
            # Where a journal has masked the key.
            shows_key="…" in f"{entry.query}{entry.idempotency_key}{entry.user_agent}",
            key_header=None if call.key is None else call.key.encode(),
            user_agent_header=None if user_agent is None else user_agent.encode(),
            connection=entry.connection,
            operation=operation.id if operation else None,
            byte_surface=call.surface,
            is_committed=entry.committed,
            work_id=entry.work,
            request_body=call.request_body if call.body else None,
            request_digest="" if call.body else body_digest,
            status=call.status,
            response_headers=tuple(
                (name.encode(), value.encode())
                for name, value in call.response_headers.items()
            ),
            response_body=orjson.dumps(answer) if operation else None,
            is_unheard=entry.abandoned,
            problem=Problem(call.code, "", is_injected=is_injected)
            if call.code and call.code in CATALOGUE
            else None,
        )


def _path(call: RecordedCall, traffic: Traffic) -> str:
    """Return the path that the emulator would use: below its own base path, and with the session's id for an upload."""
    address = call.url.partition("?")[0]
    if call.operation is not None:
        return BASE_PATH + address.partition(BASE_PATH)[2]
    session = traffic.uploads.get(call.url)
    return (
        address
        if session is None
        else f"{BASE_PATH}/uploads/{session.answer.get('id')}/bytes"
    )


def _admitted_unseen(traffic: Traffic) -> dict[int, str]:
    """Return the work that a call admitted although its answer does not say so, as the recording shows it later.

    It is work that no answer admitted, was not there before the call, and echoes the call's body.
    """
    found: dict[int, str] = {}
    unclaimed = [work for work in traffic.works.values() if work.admission is None]
    for call in traffic.calls:
        if call.status in (None, 500) and call.body and call.key is not None:
            work = next((work for work in unclaimed if _is_admitted(work, call)), None)
            if work is not None:
                unclaimed.remove(work)
                found[call.number] = work.id
    return found


def _is_admitted(work: RecordedWork, call: RecordedCall) -> bool:
    echo, created_at = (
        work.last.resource.get("request"),
        instant_of(work.last.resource.get("created_at")),
    )
    is_new = created_at is not None and (
        not call.is_timed or created_at >= call.at - MINUTE_MS
    )  # of another clock
    is_same = isinstance(echo, dict) and {**echo, **call.body} == echo
    return is_new and is_same and operation_admitting(work.kind) == call.name


# What became of it ----------------------------------------------------------------------------------------------------


class _RecordedWorks(NamedTuple):
    """The work and the uploads as the recording last shows them."""

    traffic: Traffic
    admitted: Collection[str | None]

    def find_work(self, identifier: str) -> Operation | Generation | None:
        """Return a piece of work as it was seen last: the fields that rules ask for; all others are None."""
        work = self.traffic.works.get(identifier)
        if work is None and identifier not in self.admitted:
            return None
        kind: Any = Generation
        known: dict[str, Any] = {
            "id": identifier,
            "reserved_credits": None,
            "outputs": (),
        }  # unknown; it is never free
        if work is not None:
            shown, outputs = work.last.resource, work.last.outputs
            kind = Operation if shown["object"] == "operation" else Generation
            known |= {
                "reserved_credits": work.credits("reserved") or 0,
                "charged_credits": work.credits("charged"),
                "finished_at": instant_of(shown.get("finished_at")),
                "outputs": [
                    Output(asset_id=(one.get("asset") or {}).get("id"))
                    for one in outputs
                ],
            }
        found: Operation | Generation = kind(
            **{name: known.get(name) for name in kind.__struct_fields__}
        )
        return found

    def find_upload(self, identifier: str) -> UploadSession | None:
        """Return an Upload Session as it was seen last."""
        session = self.traffic.uploads.get(identifier)
        expires_at = (
            instant_of(session.answer["upload"].get("expires_at")) if session else None
        )
        return (
            None
            if expires_at is None
            else UploadSession(identifier, "", "image/png", 0, 0, expires_at)
        )
