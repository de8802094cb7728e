"""Rules about Idempotency-Keys and the credential: which key a repeated write has, and who sees the credential."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain as joined
from itertools import pairwise, zip_longest
from operator import attrgetter
from typing import Final

from image_workflow_emulator.examiner import facts
from image_workflow_emulator.examiner.facts import HUNG_UP, Records
from image_workflow_emulator.examiner.history import AT_ONCE_MS, History
from image_workflow_emulator.examiner.rules.rule import KEPT, Verdicts, breach
from image_workflow_emulator.kernel.timestamps import HOUR_MS
from image_workflow_emulator.service.records.record import RequestRecord

_GIVEN_UP_AFTER: Final = 3
_RETENTION_MS: Final = 24 * HOUR_MS


def write_retried_with_new_key(history: History) -> Verdicts:
    """A write of unknown effect is sent again under another key.

    After a lost answer, a 5xx or idempotency_in_progress the same intent comes under a new key, and the first key never
    again: it is the same write, which may now be done twice. A client that hung up has lost its answer too, though the
    service may have sent it. A first key that was tried three times was given up, and what follows is another write; so
    was one that was tried twice, if the client sent other writes before the next. An admission that was answered only
    after the new key had come was not heard. A write of unknown effect that is repeated under its key is an occasion.
    """
    yield from [KEPT] * len(_repeated(history))
    for chain in _chains(history):
        is_paid = _times_paid(history, chain) > 1
        yield KEPT if is_paid else breach(_retried(chain), *joined.from_iterable(chain))


def double_spend(history: History) -> Verdicts:
    """A write is done twice and paid twice.

    It is a write that was sent again under another key, and at least two of the keys admitted work whose Credits were
    not given back. An order of unknown effect that is repeated under its key is an occasion.
    """
    yield from [KEPT] * sum(
        any(map(history.is_paid, attempts)) for attempts in _repeated(history)
    )
    for chain in _chains(history):
        times = _times_paid(history, chain)
        if times > 1:
            paid = f"it was carried out {times} times, and each time reserved Credits"
            yield breach(f"{_retried(chain)}: {paid}", *joined.from_iterable(chain))


def _repeated(history: History) -> list[Records]:
    """Return the writes of unknown effect that were repeated under their key."""
    return [
        attempts
        for attempts in history.requests
        if attempts[0].method != "GET"
        and attempts[0].idempotency_key
        and any(map(_leaves_open, attempts[:-1]))
    ]


def _chains(history: History) -> Iterator[Sequence[Records]]:
    """Iterate over the keys whose writes had no reliable answer, each with the keys that replaced it."""
    failed = history.by_intent
    for records in (
        *failed.values(),
        *(orders for intent, orders in history.orders.items() if intent not in failed),
    ):
        has_key = [
            record
            for record in records
            if record.method != "GET" and record.idempotency_key is not None
        ]
        by_key = list(facts.grouped(has_key, attrgetter("idempotency_key")).values())
        chain: list[Records] = []
        for attempts, following in zip_longest(by_key, by_key[1:]):
            chain.append(attempts)
            if following is None or not _is_replaced(history, attempts, following[0]):
                if len(chain) > 1:
                    yield chain
                chain = []


def _is_replaced(history: History, attempts: Records, following: RequestRecord) -> bool:
    """Whether a key was left without an answer to rely on, when the next one was sent in its place."""
    last = attempts[-1]
    if _is_timed_out(history, last, following):
        return True
    # What was sent at once with the last may have had the answer to rely on.
    twins = [
        one
        for one in attempts[:-1]
        if not (facts.is_success(one) or history.knows(last, one))
    ]
    is_open = all(map(_leaves_open, [*twins, last]))
    is_known = facts.lost_how(last) == HUNG_UP or history.knows(following, last)
    is_unheard = all(
        record.last_arrival >= following.sequence
        for record in attempts[:-1]
        if facts.is_success(record)
    )
    is_same = len(attempts) == 1 or (is_unheard and _follows(history, last, following))
    return len(attempts) < _GIVEN_UP_AFTER and is_open and is_known and is_same


def _leaves_open(record: RequestRecord) -> bool:
    """Whether an answer leaves open if the write was carried out, or will be."""
    return (
        facts.lost_how(record) is not None
        or record.status in (500, 503)
        or record.code == "idempotency_in_progress"
    )


def _is_timed_out(
    history: History, record: RequestRecord, following: RequestRecord
) -> bool:
    """Whether a client did not wait for the answer to its order, although it let it come: it reads another of these
    works.
    """
    is_in_flight = (
        facts.is_answered(record, 202) and following.sequence <= record.last_arrival
    )
    work = history.work(facts.work_id(record)) if is_in_flight else None
    if work is None or following.arrived_ms - record.arrived_ms < AT_ONCE_MS:
        return False
    client, orders = (
        history.client(record),
        history.orders.get(history.intent(record), ()),
    )
    read = {
        order.sequence
        for order in orders
        if (client, str(facts.work_id(order))) in history.polls
    }
    return (
        bool(read)
        and record.sequence not in read
        and history.is_over(work.finished_at or record.left_at)
    )


def _follows(history: History, last: RequestRecord, following: RequestRecord) -> bool:
    """Whether the client sent no other write in between: else it may have given up, and what follows is a new wish."""
    records = history.by_client[history.client(last)]
    return not any(
        last.sequence < one.sequence < following.sequence and one.method != "GET"
        for one in records
    )


def _retried(chain: Sequence[Records]) -> str:
    first = chain[0][-1]
    loss = facts.lost_how(first)
    if loss == HUNG_UP or facts.is_success(first):
        how = "not waited for"
    else:
        how = "lost" if loss else f"{first.status} {first.code}"
    return f"{facts.title(first)} was sent again under another key, though the answer under the first was {how}"


def _times_paid(history: History, chain: Sequence[Records]) -> int:
    return sum(any(map(history.is_paid, attempts)) for attempts in chain)


def hedged(history: History) -> Verdicts:
    """The same work is ordered under two keys at once.

    Both orders were in flight at the same time, both were admitted and answered, and both keep their Credits. It may be
    meant, as for two pictures of one kind, so it is a note; where one of the answers was lost or not waited for, it is
    `double-spend`.
    """
    replaced = {
        record.sequence
        for chain in _chains(history)
        for record in joined.from_iterable(chain)
    }
    for records in history.orders.values():
        orders = [
            one
            for one in records
            if facts.is_answered(one, 202) and one.sequence not in replaced
        ]
        for earlier, later in pairwise(filter(history.is_paid, orders)):
            message = f"{facts.title(later)} was sent under two keys at once, and each reserved Credits"
            yield (
                breach(message, earlier, later)
                if later.sequence <= earlier.last_arrival
                else KEPT
            )


def key_not_sent_again(history: History) -> Verdicts:
    """A write whose effect is unknown is never repeated.

    A lost answer and a 500 leave open whether the write was carried out; its Idempotency-Key exists to find out. One
    repetition is enough, by another program with the same credential too. The same intent under another key is reported
    as `write-retried-with-new-key`. Whether the key never comes again is known ten minutes of emulator time later, or
    at the end. A client that hung up may have been stopped for good: of a write that was carried out all the same, it
    is a note.
    """
    if not history.requests:  # nothing failed
        return
    times_sent = Counter(
        (history.client(record)[0], record.idempotency_key)
        for record in history.records
    )
    for record, *_ in history.requests:
        has_hung_up = facts.lost_how(record) == HUNG_UP
        is_unknown = (
            record.is_committed
            if has_hung_up
            else facts.lost_how(record) is not None or record.status == 500
        )
        is_write = record.operation is not None and record.method != "GET"
        if record.idempotency_key is None or not is_write or not is_unknown:
            continue
        if times_sent[history.client(record)[0], record.idempotency_key] > 1:
            yield KEPT
        elif history.is_over(record.left_at) and not (
            history.was_shut_out(record) or _has_other_key(history, record)
        ):
            title = facts.title(record)
            unknown = f"the answer to {title} left open if it was carried out"
            unheard = (
                f"{title} was carried out, but its client hung up before the answer"
            )
            left = unheard if has_hung_up else unknown
            yield breach(
                f"{left}, and its key was never sent again",
                record,
                severity="note" if has_hung_up else None,
            )


def _has_other_key(history: History, record: RequestRecord) -> bool:
    """Whether the same intent came later under another key."""
    known_after = (
        record.sequence if facts.lost_how(record) == HUNG_UP else record.last_arrival
    )
    same = history.by_intent[history.intent(record)]
    later = next((one for one in same if one.sequence > known_after), None)
    return later is not None and later.idempotency_key not in (
        None,
        record.idempotency_key,
    )


def key_reused(history: History) -> Verdicts:
    """A key comes with another intent than the one that it is bound to.

    The service says so itself: 422 idempotency_key_reused. One that a scenario asked for does not count.
    """
    for record in history.with_key:
        is_reused = record.code == "idempotency_key_reused" and not record.is_injected
        message = f"{facts.title(record)} came with an Idempotency-Key that belongs to another intent"
        yield breach(message, record) if is_reused else KEPT


def key_after_retention(history: History) -> Verdicts:
    """A key comes again after its 24 hours, and is carried out again.

    A key is kept for 24 hours at least. What comes with it later is a new write: a job that is started anew the next
    day is carried out twice.
    """
    done: dict[tuple[str | None, str, str, str | None], RequestRecord] = {}
    for record in history.with_key:
        place = (
            history.client(record)[0],
            record.method,
            record.path,
            record.idempotency_key,
        )
        earlier = done.get(place)
        if earlier is not None:
            is_done_again = (
                record.is_committed and record.at - earlier.at >= _RETENTION_MS
            )
            again = f"{facts.title(record)} came again with the same key after more than 24 hours"
            yield (
                breach(f"{again}, and was carried out again", earlier, record)
                if is_done_again
                else KEPT
            )
        if record.is_committed:
            done[place] = record


# Where the credential is shown to others than the service -------------------------------------------------------------


def credential_sent_to_bytes(history: History) -> Verdicts:
    """The credential goes to an upload or file address.

    These addresses are signed or public by themselves, and may belong to another company's storage service: a
    credential that is sent there is leaked, whatever the answer, and whether it stands in the header Authorization, in
    another one, such as Cookie or Referer, or in the query.
    """
    for record in history.by_operation.get(None, ()):
        if record.byte_surface is not None:
            how = (
                "in the header Authorization"
                if record.has_authorization
                else "in another header or the query"
            )
            where = (
                "upload.url" if record.byte_surface == "upload" else "the url of a file"
            )
            is_sent = record.has_authorization or record.shows_key
            yield (
                breach(f"the credential was sent to {where}, {how}", record)
                if is_sent
                else KEPT
            )


def credential_in_request(history: History) -> Verdicts:
    """The key of a credential stands in the query of an operation, or in an Idempotency-Key.

    The credential belongs to the header Authorization. Addresses and Idempotency-Keys are written to logs, shown to
    support and kept by the service: anyone who reads them there has the key.
    """
    for record in history.records:
        if record.byte_surface is None and (record.query or record.key_header):
            message = f"{facts.title(record)} had the credential in its query or its Idempotency-Key"
            yield breach(message, record) if record.shows_key else KEPT
