"""Rules about a write that comes again under another Idempotency-Key.

Owns the chains of keys: a key whose write had no answer to rely on, and those that
replaced it.
"""

from collections.abc import Iterable, Iterator
from itertools import chain as joined
from itertools import pairwise
from operator import attrgetter
from typing import Final, NamedTuple

from image_workflow_emulator.examiner import facts
from image_workflow_emulator.examiner.facts import HUNG_UP
from image_workflow_emulator.examiner.history import AT_ONCE_MS, History, credits_of
from image_workflow_emulator.examiner.identity import title_of
from image_workflow_emulator.examiner.request import Request, Requests
from image_workflow_emulator.examiner.rules.rule import (
    KEPT,
    ConductRule,
    Verdicts,
    breach,
)
from image_workflow_emulator.examiner.sequences import grouped
from image_workflow_emulator.kernel.wording import count_of

_GIVEN_UP_AFTER: Final = 3
"""After so many attempts, a key was given up, and the next one is a new wish."""
_SOURCE: Final = (
    "Section 4: Same key and same intent: the original admission status, headers and "
    "body are replayed exactly and work is not restarted."
)
_REMEDY: Final = (
    "make one Idempotency-Key for each intent, and send it with every attempt, also "
    "after a timeout of your own: a timeout does not say whether the request was "
    "carried out"
)


def write_retried_with_new_key(history: History) -> Verdicts:
    """A write of unknown effect is sent again under another key.

    After a lost answer, a 5xx or idempotency_in_progress the same intent comes under a
    new key, and the first key never again: it is the same write, which may now be done
    twice. A client that hung up has lost its answer too, though the service may have
    sent it. A first key that was tried three times was given up, and what follows is
    another write; so was one that was tried twice, if the client sent other writes
    before the next. An admission that was answered only after the new key had come was
    not heard. A write of unknown effect that is repeated under its key is an occasion.
    """
    for _ in _repeated_under_their_key(history):
        yield KEPT
    for chain in _chains(history):
        if len(_paid_requests(history, chain)) > 1:
            yield KEPT  # it is a double spend
        else:
            yield breach(_how_retried(chain), *chain.requests)


WRITE_RETRIED_WITH_NEW_KEY: Final = ConductRule(
    name="write-retried-with-new-key",
    examine=write_retried_with_new_key,
    source=_SOURCE,
    remedy=_REMEDY,
)


def double_spend(history: History) -> Verdicts:
    """A write is done twice and paid twice.

    It is a write that was sent again under another key, and at least two of the keys
    admitted work whose Credits were not given back. An order of unknown effect that is
    repeated under its key is an occasion.
    """
    for attempts in _repeated_under_their_key(history):
        if any(map(history.is_paid, attempts)):
            yield KEPT
    for chain in _chains(history):
        paid = _paid_requests(history, chain)
        if len(paid) > 1:
            cost = _cost(history, paid)
            message = (
                f"{_how_retried(chain)}: it was carried out {len(paid)} times{cost}"
            )
            yield breach(message, *chain.requests)


DOUBLE_SPEND: Final = ConductRule(
    name="double-spend",
    examine=double_spend,
    severity="error",
    source=_SOURCE,
    remedy=_REMEDY,
)


def hedged(history: History) -> Verdicts:
    """The same work is ordered under two keys at once.

    Both orders were in flight at the same time, both were admitted and answered, and
    both keep their Credits. It may be meant, as for two pictures of one kind, so it is
    a note; where one of the answers was lost or not waited for, it is `double-spend`.
    """
    replaced: set[int] = set()
    for chain in _chains(history):
        replaced.update(request.sequence for request in chain.requests)
    for requests in history.orders.values():
        orders = [
            order
            for order in requests
            if facts.is_answered(order, 202) and order.sequence not in replaced
        ]
        for earlier, later in pairwise(filter(history.is_paid, orders)):
            if later.sequence <= earlier.last_arrival:
                yield breach(
                    f"{title_of(later)} was sent under two keys at once, "
                    "and each reserved Credits",
                    earlier,
                    later,
                )
            else:
                yield KEPT


HEDGED: Final = ConductRule(
    name="hedged",
    examine=hedged,
    severity="note",
    source=_SOURCE,
    remedy="if both were one wish, send it twice with the same Idempotency-Key",
)


# What was paid ------------------------------------------------------------------------


def _paid_requests(history: History, chain: "_Chain") -> list[Request]:
    """Return the first paid request of each key."""
    paid: list[Request] = []
    for attempts in chain.keys:
        first_paid = next(filter(history.is_paid, attempts), None)
        if first_paid is not None:
            paid.append(first_paid)
    return paid


def _cost(history: History, paid: Iterable[Request]) -> str:
    """Say what the same order cost several times, and what it costs once.

    Where the Credits of one are unknown, they are those of the others.
    """
    known_amounts: list[int] = []
    unknown_count = 0
    for request in paid:
        work = history.work_of(request)
        amount = None
        if work is not None:
            amount = credits_of(work)
        if amount is None:
            unknown_count += 1
        else:
            known_amounts.append(amount)
    if not known_amounts:
        return ", and paid each time"
    price = max(known_amounts)
    total = sum(known_amounts) + unknown_count * price
    return f", for {count_of(total, 'Credit')} in place of {price}"


# Keys that replace each other ---------------------------------------------------------


class _Chain(NamedTuple):
    """The same write under several keys, each of which replaced the one before."""

    keys: list[Requests]
    """The attempts with each key."""

    @property
    def requests(self) -> Iterator[Request]:
        """All attempts."""
        return joined.from_iterable(self.keys)


def _repeated_under_their_key(history: History) -> Iterator[Requests]:
    """Iterate over the writes of unknown effect that were repeated under their key."""
    for attempts in history.attempts:
        first = attempts[0]
        is_keyed_write = first.method != "GET" and first.idempotency_key
        if is_keyed_write and any(map(_leaves_open, attempts[:-1])):
            yield attempts


def _chains(history: History) -> Iterator[_Chain]:
    """Iterate over the keys whose writes had no reliable answer, with their heirs."""
    for requests in _same_intents(history):
        chain: list[Requests] = []
        for attempts in _by_key(requests):
            if chain and not _is_replaced(history, chain[-1], attempts[0]):
                yield from _as_chain(chain)
                chain = []
            chain.append(attempts)
        yield from _as_chain(chain)


def _as_chain(keys: list[Requests]) -> Iterator[_Chain]:
    if len(keys) > 1:
        yield _Chain(keys)


def _same_intents(history: History) -> Iterator[Requests]:
    """Iterate over requests of one intent that failed, or were in flight at once."""
    yield from history.by_intent.values()
    for intent, orders in history.orders.items():
        if intent not in history.by_intent:
            yield orders


def _by_key(requests: Requests) -> Iterable[Requests]:
    keyed_writes = [
        request
        for request in requests
        if request.method != "GET" and request.idempotency_key is not None
    ]
    return grouped(keyed_writes, attrgetter("idempotency_key")).values()


def _is_replaced(
    history: History,
    attempts: Requests,
    following: Request,
) -> bool:
    """Whether a key was left without a reliable answer when the next one was sent."""
    last = attempts[-1]
    if _is_timed_out(history, last, following):
        return True
    if len(attempts) >= _GIVEN_UP_AFTER:
        return False
    if not _is_left_open(history, attempts):
        return False
    has_hung_up = facts.loss_of(last) == HUNG_UP
    if not (has_hung_up or history.knows(following, last)):
        return False
    if len(attempts) == 1:
        return True
    return _are_unheard(attempts[:-1], following) and _follows(history, last, following)


def _is_left_open(history: History, attempts: Requests) -> bool:
    """Whether neither the last attempt nor one sent at once with it had an answer."""
    last = attempts[-1]
    for attempt in attempts[:-1]:
        is_twin = not facts.is_success(attempt) and not history.knows(last, attempt)
        if is_twin and not _leaves_open(attempt):
            return False
    return _leaves_open(last)


def _are_unheard(attempts: Requests, following: Request) -> bool:
    """Whether each success was answered only after the next key had been sent."""
    successes = filter(facts.is_success, attempts)
    return all(success.last_arrival >= following.sequence for success in successes)


def _leaves_open(request: Request) -> bool:
    """Whether an answer leaves open if the write was carried out, or will be."""
    if facts.loss_of(request) is not None or request.status in (500, 503):
        return True
    return request.code == "idempotency_in_progress"


def _is_timed_out(
    history: History,
    request: Request,
    following: Request,
) -> bool:
    """Whether a client did not wait for the answer to its order, but let it come.

    It reads another work of the same intent, and never this one.
    """
    is_in_flight = following.sequence <= request.last_arrival
    if not (is_in_flight and facts.is_answered(request, 202)):
        return False
    if following.arrived_ms - request.arrived_ms < AT_ONCE_MS:
        return False
    work = history.work_of(request)
    if work is None:
        return False
    read = _read_orders(history, request)
    is_forgotten = bool(read) and request.sequence not in read
    return is_forgotten and history.is_over(work.finished_at or request.left_at)


def _read_orders(history: History, request: Request) -> set[int]:
    """Return the numbers of the orders with one intent whose work the client reads."""
    client = history.client(request)
    orders = history.orders.get(history.intent(request), ())
    return {
        order.sequence
        for order in orders
        if (client, str(facts.work_id(order))) in history.polls
    }


def _follows(
    history: History,
    last: Request,
    following: Request,
) -> bool:
    """Whether the client sent no other write in between.

    Else it may have given up, and what follows is a new wish.
    """
    for request in history.by_client[history.client(last)]:
        is_between = last.sequence < request.sequence < following.sequence
        if is_between and request.method != "GET":
            return False
    return True


def _how_retried(chain: _Chain) -> str:
    first = chain.keys[0][-1]
    loss = facts.loss_of(first)
    if loss == HUNG_UP or facts.is_success(first):
        answer = "not waited for"
    elif loss is not None:
        answer = "lost"
    else:
        answer = f"{first.status} {first.code}"
    return (
        f"{title_of(first)} was sent again under another key, "
        f"though the answer under the first was {answer}"
    )
