"""Which readings the answers of a sandbox show: its records as exchanges, asked when somebody wants to know.

No request pays for this. Only what is observed counts: an answer that is the same under every reading names none.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from emulator.contract import Contract
from emulator.domain.readings import READINGS, Readings, chosen
from emulator.service.record import RequestRecord
from emulator.traffic.calls import Traffic
from emulator.traffic.decisions import OBSERVATIONS
from emulator.traffic.exchanges import RecordedExchange

ORIGIN: Final = "http://emulator"
"""Stands for the address of the emulator, which a record does not hold."""


def readings_shown(
    records: Iterable[RequestRecord], readings: Readings, contract: Contract
) -> Mapping[int, Sequence[str]]:
    """Return by sequence number the names of the readings that an answer shows, such as `D66=silent`.

    `records` are some of a sandbox in order, `readings` those that the sandbox has.
    """
    names = chosen(readings)
    shown: defaultdict[int, list[str]] = defaultdict(list)
    if names:
        traffic = Traffic([exchange_of(record) for record in records], contract)
        for name in names:
            reading = READINGS[name]
            for seen in OBSERVATIONS[reading.decision](traffic):
                sequence = int(seen.call.where)
                if seen.reading == reading.id and name not in shown[sequence]:
                    shown[sequence].append(name)
    return shown


def exchange_of(record: RequestRecord) -> RecordedExchange:
    """Return a record as an exchange. It was recorded at its sequence number."""
    query = record.query.decode("latin-1")
    headers = {
        "authorization": record.credential.id if record.credential else None,
        "idempotency-key": record.idempotency_key,
        "content-type": record.content_type,
    }
    answer = record.response_headers or ()
    return RecordedExchange(
        where=str(record.sequence),
        at=record.at,
        took_ms=record.duration_ms,
        method=record.method,
        url=f"{ORIGIN}{record.path}" + (f"?{query}" if query else ""),
        request_headers={name: value for name, value in headers.items() if value},
        request_body=record.request_body,
        status=None if record.loss else record.status,
        response_headers={name.decode("latin-1").lower(): value.decode("latin-1") for name, value in answer},
        response_body=record.response_body,
        is_partial=bool(record.response_body_bytes or record.request_body_bytes),
        surface=record.byte_surface,
    )
