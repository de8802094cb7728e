"""`write-retried-with-new-key`, or `double-spend`: a write of unknown effect is sent again under another key.

Theory of operation. After a lost answer, a 5xx or idempotency_in_progress the same intent comes under a new key, and
the first key never again: it is the same write, which may now be done twice. A client that hung up has lost its answer
too, though the service may have sent it. A first key that was tried three times was
given up, and what follows is another write. An admission that was answered only after the new key had come was not
heard; if the client sent other writes in between, what follows is another write all the same. Where at least two of the
keys admitted work whose Credits were not given back, it was done twice and paid twice: then, and only then, it is
`double-spend`.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from emulator.examiner.history import History
from emulator.examiner.reading import (
    client_of,
    is_answered,
    is_success,
    is_unknown,
    loss_of,
    title_of,
    work_id_of,
)
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict
from emulator.service.record import RequestRecord

DOUBLE_SPEND: Final = "double-spend"
GIVEN_UP_AFTER: Final = 3
HUNG_UP: Final = "abandoned"
Attempts = Sequence[RequestRecord]


def _examine(history: History) -> Iterator[Verdict]:
    for records in history.by_intent.values():
        if records[0].method == "GET":
            continue
        attempts_by_key: defaultdict[str, list[RequestRecord]] = defaultdict(list)
        for record in records:
            if record.idempotency_key is not None:
                attempts_by_key[record.idempotency_key].append(record)
        by_key = list(attempts_by_key.values())
        for chain in _chains(history, by_key):
            yield KEPT if len(chain) == 1 else _breach(history, chain)


def _chains(history: History, by_key: Sequence[Attempts]) -> Iterator[Sequence[Attempts]]:
    """Iterate over the keys whose writes had no reliable answer, each with the keys that replaced it."""
    chain: list[Attempts] = []
    for index, attempts in enumerate(by_key):
        if chain and not (loss_of(chain[-1][-1]) == HUNG_UP or history.knows(attempts[0], chain[-1][-1])):
            yield chain
            chain = []
        chain.append(attempts)
        if index == len(by_key) - 1 or not _is_left_open(history, attempts, by_key[index + 1][0]):
            if len(chain) > 1:
                yield chain
            chain = []


def _is_left_open(history: History, attempts: Attempts, following: RequestRecord) -> bool:
    """Whether a key was left without an answer to rely on, when the next one was sent."""
    if len(attempts) >= GIVEN_UP_AFTER:
        return False
    last = attempts[-1]
    is_open = (
        loss_of(last) is not None
        or is_unknown(last)
        or is_answered(last, 503)
        or last.code == "idempotency_in_progress"
    )
    successes = [record for record in attempts[:-1] if is_success(record)]
    is_unheard = all(record.last_arrival >= following.sequence for record in successes)
    return is_open and (not successes or (is_unheard and _follows(history, last, following)))


def _follows(history: History, last: RequestRecord, following: RequestRecord) -> bool:
    """Whether the client sent no other write in between: else what follows may be a new wish for the same."""
    between = (
        record for record in history.by_client[client_of(last)] if last.sequence < record.sequence < following.sequence
    )
    return not any(record.method != "GET" for record in between)


def _breach(history: History, chain: Sequence[Attempts]) -> Breach:
    records = [record for attempts in chain for record in attempts]
    spent = [attempts for attempts in chain if _spent(history, attempts)]
    first = chain[0][-1]
    loss = loss_of(first)
    how = "not waited for" if loss == HUNG_UP else "lost" if loss else f"{first.status} {first.code}"
    message = f"{title_of(first)} was sent again under another key, though the answer under the first was {how}"
    if len(spent) > 1:
        return Breach(
            tuple(record.sequence for record in records),
            f"{message}: it was carried out {len(spent)} times, and each time reserved Credits",
            rule=DOUBLE_SPEND,
        )
    return Breach(tuple(record.sequence for record in records), message)


def _spent(history: History, attempts: Attempts) -> bool:
    return any(record.is_committed and history.standing_credits(work_id_of(record)) for record in attempts)


RULE: Final = ConductRule(
    name="write-retried-with-new-key",
    severity="warning",
    source="Section 4: Same key and same intent: the original admission status, headers and body are replayed exactly "
    "and work is not restarted.",
    remedy="make one Idempotency-Key for each intent, and send it with every attempt, also after a timeout of your own: "
    "a timeout does not say whether the request was carried out",
    examine=_examine,
    gives_way_to=DOUBLE_SPEND,
)
DOUBLE_SPEND_RULE: Final = ConductRule(
    name=DOUBLE_SPEND,
    severity="error",
    source=RULE.source,
    remedy=RULE.remedy,
    examine=lambda history: iter(()),  # the rule above yields its breaches
)
