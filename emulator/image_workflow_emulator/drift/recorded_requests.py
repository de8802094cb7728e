"""The calls of a recording as records of requests, as the examiner judges them.

What a journal recorded of a call is taken from it. Of any other call it is concluded, as far
as the recording tells.
"""

from bisect import bisect_left

import msgspec

from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.domain.problems import CATALOGUE, Problem
from image_workflow_emulator.drift.recorded_outcomes import work_admitted_unseen
from image_workflow_emulator.drift.traffic import RecordedCall, Traffic
from image_workflow_emulator.service.records.record import RequestRecord, digest


class _Record(RequestRecord, eq=False):
    """A record whose answer is known from the recording alone."""

    @property
    def loss(self) -> str | None:
        """How the answer was lost, which a recording does not tell."""
        if self.status is None:
            return "lost"
        return None


class RecordedRequests:
    """The calls of a recording as records of requests.

    `last` is the last number that the records of other recordings have.
    """

    def __init__(self, traffic: Traffic, last: int) -> None:
        self._traffic = traffic
        self._last = last
        self._admitted = work_admitted_unseen(traffic)
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
        _add_request(record, call, entry)
        _add_answer(record, call, entry)
        record.is_committed = entry.committed
        record.work_id = entry.work
        record.last_arrival = self._last + entry.last_arrival
        record.left_at = self._departure_of(call)
        return record

    def _departure_of(self, call: RecordedCall) -> int:
        """Return the instant at which the answer left."""
        arrived_at = self._arrivals[call.number]
        if arrived_at != call.at:  # an emulator's clock counts
            return call.at
        return call.at + round(call.took_ms or 0)

    def _entry(self, call: RecordedCall) -> RecordedRequest:
        """Return what a journal would have of a call that it did not record."""
        is_write = call.operation is not None and call.operation.is_write
        is_successful_write = is_write and call.is_success
        work = self._admitted.get(call.number)
        answered_at = self._arrivals[call.number] + (call.took_ms or 0)
        next_number = call.number + 1
        arrived_before_answer = bisect_left(self._arrivals, answered_at, next_number)
        return RecordedRequest(
            sequence=next_number,
            at="",
            method=call.method,
            path=_path_of(call, self._traffic),
            committed=is_successful_write or work is not None,
            work=work,
            last_arrival=arrived_before_answer,
            timed=call.is_timed and not call.is_coarse,
        )


def _arrival_of(call: RecordedCall) -> int:
    """Return the host's time of a call's arrival, or the service's."""
    if call.arrived_at is None:
        return call.at
    return call.arrived_at


def _path_of(call: RecordedCall, traffic: Traffic) -> str:
    """Return the path that the emulator would use: below its own base path, and with the
    session's id for an upload.
    """
    address, _, _ = call.url.partition("?")
    if call.operation is not None:
        _, _, below_base = address.partition(BASE_PATH)
        return BASE_PATH + below_base
    session = traffic.uploads.get(call.url)
    if session is None:
        return address
    return f"{BASE_PATH}/uploads/{session.answer.get('id')}/bytes"


def _add_request(
    record: RequestRecord,
    call: RecordedCall,
    entry: RecordedRequest,
) -> None:
    record.connection = entry.connection
    record.byte_surface = call.surface
    if call.operation is not None:
        _, _, query = call.url.partition("?")
        record.operation = call.operation.id
        record.query = query.encode()
    _add_request_headers(record, call)
    _add_request_body(record, call)
    # A journal masks a key where none belongs.
    texts = (entry.query, entry.idempotency_key, entry.user_agent)
    record.shows_key = any("…" in (text or "") for text in texts)


def _add_request_headers(record: RequestRecord, call: RecordedCall) -> None:
    authorization = call.request_headers.get("authorization")
    if authorization is not None:  # in a journal a credential's id
        record.has_authorization = True
        record.unknown_credential = digest(authorization.encode())
    record.key_header = _encoded(call.key)
    record.user_agent_header = _encoded(call.request_headers.get("user-agent"))


def _add_request_body(record: RequestRecord, call: RecordedCall) -> None:
    if call.body:
        record.request_body = call.request_body
    elif call.is_partial:
        record.request_digest = f"unknown body {call.number}"
    else:
        record.request_digest = digest(call.request_body or b"")


def _add_answer(
    record: RequestRecord,
    call: RecordedCall,
    entry: RecordedRequest,
) -> None:
    record.status = call.status
    record.duration_ms = call.took_ms or 0.0
    record.is_timed = entry.timed
    record.is_unheard = entry.abandoned
    response_headers = []
    for name, value in call.response_headers.items():
        response_headers.append((name.encode(), value.encode()))
    record.response_headers = tuple(response_headers)
    if call.operation is not None:
        record.response_body = _answer_body(call)
    code = call.code
    if code is not None and code in CATALOGUE:
        is_injected = entry.rule is not None or entry.emulator_fault is not None
        record.problem = Problem(code, "", is_injected=is_injected)


def _answer_body(call: RecordedCall) -> bytes:
    """Return the body of an answer; an empty object for a resource without an id."""
    if "object" in call.answer and "id" not in call.answer:
        return b"{}"
    return msgspec.json.encode(call.answer)


def _encoded(header: str | None) -> bytes | None:
    if header is None:
        return None
    return header.encode()
