"""What a client does after refusals that will not change by themselves, and which of them it could have avoided."""

from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import parse_qsl

from image_workflow_emulator.examiner.history import History
from image_workflow_emulator.examiner.rules.rule import KEPT, Verdicts, breach, is_refused_alike, rows_of
from image_workflow_emulator.kernel.timestamps import SECOND_MS, format_timestamp
from image_workflow_emulator.service.records.record import Records, RequestRecord

_HARMLESS: Final = 1
_HOPELESS: Final = (400, 401, 402, 403, 404, 410, 422)
_OF_ALL_WRITES: Final = (401, 402, 403)
_MAX_PROGRAMS: Final = 5
_PAGING: Final = ("limit", "after")


def retry_of_the_hopeless(history: History) -> Verdicts:
    """A request is repeated after an answer that cannot change.

    400, 401, 403, 404, 410, 422 and upload_bytes_conflict say that the request will be refused until something else is
    done first; so does 402, as long as the Team's Credits are what they were. One repetition may be a mistake; the second is
    a loop. The workers of a client are judged together, but a repetition counts only where it is sure to be one: it has the
    key of a refused request, or the address of its upload, or its connection. So several jobs that each ask once for what is
    missing are no loop; nor is a test that asks for it now and again: on a connection, nothing but such refusals comes in
    between (and reads, between writes). A pause of ten minutes of emulator time is a new attempt.
    """
    for records in history.by_intent.values():
        rows = rows_of(records, _is_hopeless, lambda last, one: not (_is_hopeless(one) and is_refused_alike(last, one)))
        for row, _ in rows:
            repetitions = _repetitions(history, row)
            yield from [KEPT] * min(len(repetitions), _HARMLESS)
            found = repetitions[_HARMLESS:]
            if found:
                message = f"{row[0].title} was repeated though {row[0].status} {row[0].code} cannot change by itself"
                yield breach(message, row[0], *found, times=len(found))


def _is_hopeless(record: RequestRecord) -> bool:
    return record.is_answered(*_HOPELESS) or (record.code == "upload_bytes_conflict" and record.is_answered(409))


def _repetitions(history: History, row: Records) -> Records:
    """Return those of a row that surely repeat one before them."""
    last_with: dict[str | None, RequestRecord] = {}
    last_on: dict[str | None, RequestRecord] = {}
    found = []
    for record in row:
        has_name = record.idempotency_key is not None or record.byte_surface == "upload"
        namesake = last_with.get(record.idempotency_key) if has_name else None
        last = last_on.get(record.connection)
        if (namesake is not None and history.knows(record, namesake)) or (
            last is not None and history.knows(record, last) and _follows_directly(history, last, record)
        ):
            found.append(record)
        last_with[record.idempotency_key] = last_on[record.connection] = record
    return found


def _follows_directly(history: History, last: RequestRecord, record: RequestRecord) -> bool:
    between = history.between_on_connection(last, record)
    return all(
        _is_hopeless(one) or (last.method != "GET" and one.method == "GET" and one.is_success) for one in between
    )


def goes_on_after_refusal(history: History) -> Verdicts:
    """A batch goes on with other writes after a refusal that will meet all of them.

    401, 402 and 403 say something of the credential or its Team, not of the one write. A second write that is refused in
    the same way may have been under way; from the third on, nobody reads the answers. It counts if it came on a connection
    that had brought such a refusal: other programs did not see it. Where each request opened a connection of its own, more
    than a few are needed. A write that succeeds, other Credits, and ten minutes of emulator time end the row.
    """

    def is_refused(record: RequestRecord) -> bool:
        return record.is_answered(*_OF_ALL_WRITES)

    def ends(last: RequestRecord, record: RequestRecord) -> bool:
        return record.is_success or (is_refused(record) and not is_refused_alike(last, record))

    for records in history.by_client.values() if any(map(is_refused, history.failures)) else ():
        writes = [record for record in records if record.operation and record.method != "GET"]
        for row, _ in rows_of(writes, is_refused, ends):
            yield KEPT
            first, going_on = row[0], _going_on(history, row)
            if len(going_on) > _HARMLESS:
                refused = f"{first.title} was refused with {first.status} {first.code}"
                yield breach(f"{refused}, and {len(going_on)} other writes were sent on", first, *going_on)


def _going_on(history: History, row: Records) -> Records:
    """Return the writes of a row that are no repetitions, and whose program had seen such a refusal."""
    different = list({history.intent(record): record for record in reversed(row)}.values())[::-1]
    if len({record.connection for record in row}) == len(row):
        return different[1:] if len(different) > _MAX_PROGRAMS else ()
    numbers = {record.sequence for record in different}
    seen: dict[str | None, RequestRecord] = {}
    found = []
    for record in row:
        last = seen.setdefault(record.connection, record)
        if record.sequence in numbers and last is not record and history.knows(record, last):
            found.append(record)
    return found


def upload_after_window(history: History) -> Verdicts:
    """Bytes or their completion come after the window of the Upload Session.

    The service says so, 410 upload_expired; the rule is broken if the request itself came after upload.expires_at. A
    request that came in time and was delayed, its repetition, and one that a scenario answered do not count. Such a session
    is not reported as abandoned as well.
    """
    in_time: set[tuple[str, str | None]] = set()
    for record in history.records:
        identifier = None if record.operation == "createUpload" else record.named_upload_id
        session = history.works.find_upload(identifier or "")
        if session is None:
            continue
        attempts = (session.id, record.operation)
        if record.code != "upload_expired" or record.is_injected or record.at < session.expires_at:
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
        cursor = record.next_cursor
        if cursor is not None:
            given[operation, cursor] = record
        after = dict(parse_qsl(record.sorted_query)).get("after", "") if b"after=" in record.query else ""
        if (operation, after) in given:
            is_earned = record.code == "invalid_cursor" and not record.is_injected
            message = f"{record.title} was sent with a cursor that it gave for other filters"
            is_other = is_earned and _filters(record) != _filters(given[operation, after])
            yield breach(message, record) if is_other else KEPT


def _filters(record: RequestRecord) -> list[tuple[str, str]]:
    return [pair for pair in parse_qsl(record.sorted_query, keep_blank_values=True) if pair[0] not in _PAGING]


def use_after_sunset(history: History) -> Verdicts:
    """Something deprecated is called after its Sunset.

    The answer carries the date; the call is judged by the emulator's clock. The first call after it breaks the rule, since
    the date was announced before.
    """
    for record in history.records:
        is_plain = record.rule is None and record.outcome == "answered"
        date = None if is_plain else record.sunset
        if date is not None:
            sunset = int(parsedate_to_datetime(date.decode("latin-1")).timestamp()) * SECOND_MS
            message = f"{record.title} was called after its Sunset, {format_timestamp(sunset)}"
            yield breach(message, record) if record.at > sunset else KEPT
