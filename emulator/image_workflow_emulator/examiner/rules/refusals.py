"""What a client does after refusals that will not change by themselves, and which of them it could have avoided."""

from email.utils import parsedate_to_datetime
from itertools import pairwise
from operator import attrgetter
from typing import Final
from urllib.parse import parse_qsl

from image_workflow_emulator.examiner import facts
from image_workflow_emulator.examiner.facts import MAX_PROGRAMS, Records
from image_workflow_emulator.examiner.history import History
from image_workflow_emulator.examiner.rules.rule import (
    KEPT,
    Verdicts,
    breach,
    is_refused_alike,
    rows_of,
)
from image_workflow_emulator.kernel.timestamps import SECOND_MS, format_timestamp
from image_workflow_emulator.service.records.record import RequestRecord

_HARMLESS: Final = 1
_MAX_BETWEEN: Final = 50
"""Limit of the requests between two that are looked at."""
_HOPELESS: Final = (400, 401, 402, 403, 404, 410, 422)
_OF_ALL_WRITES: Final = (401, 402, 403)
_PAGING: Final = ("limit", "after")


def retry_of_the_hopeless(history: History) -> Verdicts:
    """A request is repeated after an answer that cannot change.

    400, 401, 403, 404, 410, 422 and upload_bytes_conflict say that the request will be refused until something else is
    done first; so does 402, as long as the Team's Credits are what they were. One repetition may be a mistake; the
    second is a loop. A repetition counts only where it is sure to be one: it has the key of a refused request, or the
    address of its upload; or nothing but such refusals (and reads, between writes) comes in between on its connection.
    Where each request opened a connection of its own, as many programs may have asked once each as `MAX_PROGRAMS`. A
    pause of ten minutes of emulator time is a new attempt.
    """
    for records in history.by_intent.values():
        rows = rows_of(
            records,
            _is_hopeless,
            lambda last, one: not (_is_hopeless(one) and is_refused_alike(last, one)),
        )
        for row, _ in rows:
            found = _repetitions(history, row)
            yield from [KEPT] * (len(row) - len(found))
            if found:
                message = f"{facts.title(row[0])} was repeated though {row[0].status} {row[0].code} cannot change by itself"
                yield breach(message, row[0], *found, times=len(found))


def _is_hopeless(record: RequestRecord) -> bool:
    return facts.is_answered(record, *_HOPELESS) or (
        record.code == "upload_bytes_conflict" and facts.is_answered(record, 409)
    )


def _repetitions(history: History, row: Records) -> Records:
    """Return the repetitions in a row that are too many."""
    workers, is_sure = facts.workers_of(row)
    harmless = _HARMLESS if is_sure else MAX_PROGRAMS - 1
    followers = [
        record
        for worker in workers
        for last, record in pairwise(worker)
        if _follows_directly(history, last, record)
    ]
    named = [
        record
        for record in row
        if record.idempotency_key is not None or record.byte_surface == "upload"
    ]
    by_name = facts.grouped(
        named, lambda record: (record.idempotency_key, record.path)
    ).values()
    namesakes = [
        record
        for same in by_name
        for last, record in pairwise(same)
        if history.knows(record, last)
    ]
    if is_sure:
        followers = sorted(
            {one.sequence: one for one in (*followers, *namesakes)}.values(),
            key=attrgetter("sequence"),
        )
    attempts: list[
        RequestRecord
    ] = []  # what was sent at once, on two connections, is one
    for record in followers:
        if not attempts or history.knows(record, attempts[-1]):
            attempts.append(record)
    return attempts[harmless:] or namesakes[_HARMLESS:]


def _follows_directly(
    history: History, last: RequestRecord, record: RequestRecord
) -> bool:
    return history.knows(record, last) and all(
        _is_hopeless(one)
        or (last.method != "GET" and one.method == "GET" and facts.is_success(one))
        for one in history.between(last, record)[:_MAX_BETWEEN]
    )


def goes_on_after_refusal(history: History) -> Verdicts:
    """A batch goes on with other writes after a refusal that will meet all of them.

    401, 402 and 403 say something of the credential or its Team, not of the one write. A second write that is refused
    in the same way may have been under way; from the third on, nobody reads the answers. It counts if it came on a
    connection that had brought such a refusal: other programs did not see it. Where each request opened a connection of
    its own, more than `MAX_PROGRAMS` are needed. A write that succeeds, other Credits, and ten minutes of emulator time
    end the row.
    """

    def is_refused(record: RequestRecord) -> bool:
        return facts.is_answered(record, *_OF_ALL_WRITES)

    def ends(last: RequestRecord, record: RequestRecord) -> bool:
        return facts.is_success(record) or (
            is_refused(record) and not is_refused_alike(last, record)
        )

    for records in (
        history.by_client.values() if any(map(is_refused, history.records)) else ()
    ):
        writes = [
            record for record in records if record.operation and record.method != "GET"
        ]
        for row, _ in rows_of(writes, is_refused, ends):
            yield KEPT
            first, going_on = row[0], _going_on(history, row)
            if going_on:
                refused = (
                    f"{facts.title(first)} was refused with {first.status} {first.code}"
                )
                yield breach(
                    f"{refused}, and {len(going_on)} other writes were sent on",
                    first,
                    *going_on,
                )


def _going_on(history: History, row: Records) -> Records:
    """Return the writes of a row that are no repetitions, and whose program had seen such a refusal; not the first of
    them.
    """
    workers, is_sure = facts.workers_of(row)
    first = {history.intent(record): record for record in reversed(row)}
    found = [
        record
        for worker in workers
        for record in worker[1:]
        if first[history.intent(record)] is record and history.knows(record, worker[0])
    ]
    return found if len(found) > (_HARMLESS if is_sure else MAX_PROGRAMS - 1) else ()


def upload_after_window(history: History) -> Verdicts:
    """Bytes or their completion come after the window of the Upload Session.

    The service says so, 410 upload_expired; the rule is broken if the request itself came after upload.expires_at. A
    request that came in time and was delayed, its repetition, and one that a scenario answered do not count. Such a
    session is not reported as abandoned as well.
    """
    in_time: set[tuple[str, str | None]] = set()
    for record in history.records:
        identifier = (
            None if record.operation == "createUpload" else facts.upload_id(record)
        )
        session = history.works.find_upload(identifier or "")
        if session is None:
            continue
        attempts = (session.id, record.operation)
        if (
            record.code != "upload_expired"
            or record.is_injected
            or record.at < session.expires_at
        ):
            in_time.add(attempts)
        late = "bytes" if record.byte_surface else "completion"
        message = f"the window of {session.id} had passed when its {late} came"
        yield breach(message, record) if attempts not in in_time else KEPT


def cursor_with_other_filters(history: History) -> Verdicts:
    """A cursor is sent with other filters than those of the list that gave it.

    The service says that the cursor is invalid; the rule is broken if the same collection gave the cursor before, with
    other filters. A cursor that was never given is a mistake of another kind.
    """
    given: dict[tuple[str, str], RequestRecord] = {}
    for record in history.records:
        operation = record.operation or ""
        if not operation.startswith("list"):
            continue
        cursor = facts.next_cursor(record)
        if cursor is not None:
            given[operation, cursor] = record
        after = (
            dict(parse_qsl(facts.query(record))).get("after", "")
            if b"after=" in record.query
            else ""
        )
        if (operation, after) in given:
            is_earned = record.code == "invalid_cursor" and not record.is_injected
            message = f"{facts.title(record)} was sent with a cursor that it gave for other filters"
            is_other = is_earned and _filters(record) != _filters(
                given[operation, after]
            )
            yield breach(message, record) if is_other else KEPT


def _filters(record: RequestRecord) -> list[tuple[str, str]]:
    return [
        pair
        for pair in parse_qsl(facts.query(record), keep_blank_values=True)
        if pair[0] not in _PAGING
    ]


def use_after_sunset(history: History) -> Verdicts:
    """Something deprecated is called after its Sunset.

    The answer carries the date; the call is judged by the emulator's clock. The first call after it breaks the rule,
    since the date was announced before.
    """
    for record in history.records:
        is_plain = record.rule is None and record.outcome == "answered"
        if not is_plain and (date := facts.header(record, b"sunset")):
            sunset = (
                int(parsedate_to_datetime(date.decode("latin-1")).timestamp())
                * SECOND_MS
            )
            message = f"{facts.title(record)} was called after its Sunset, {format_timestamp(sunset)}"
            yield breach(message, record) if record.at > sunset else KEPT
