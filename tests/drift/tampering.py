"""Changes of recorded exchanges, to plant differences in a recording."""

import json
from collections.abc import Callable, Sequence
from functools import cache, reduce
from operator import getitem
from typing import Any

from msgspec.structs import replace

from image_workflow_emulator.drift.exchanges import RecordedExchange
from image_workflow_emulator.drift.traffic import RecordedCall
from tests.drift.judging import calls_in
from tests.drift.tour import tour

Change = Callable[[RecordedExchange], RecordedExchange]
Spot = Callable[[RecordedCall], bool]


@cache
def recording() -> tuple[RecordedExchange, ...]:
    """The tour of a plain service."""
    return tuple(tour())


@cache
def calls() -> dict[str, RecordedCall]:
    """The recorded calls by the place where they were recorded."""
    return {call.where: call for call in calls_in(recording())}


# Changes of an exchange ---------------------------------------------------------------


def body(change: Callable[[Any], object]) -> Change:
    """Return a change of the JSON of an answer, made in place."""

    def changed(exchange: RecordedExchange) -> RecordedExchange:
        value = json.loads(exchange.response_body or b"null")
        change(value)
        content = json.dumps(value)
        return replace(exchange, response_body=content.encode())

    return changed


def where_json(change: Callable[[Any], object]) -> Change:
    """Return the same change, of answers that are JSON objects alone."""

    def changed(exchange: RecordedExchange) -> RecordedExchange:
        content = exchange.response_body or b""
        if not content.startswith(b"{"):
            return exchange
        return body(change)(exchange)

    return changed


def members(*steps: str | int, **values: object) -> Change:
    """Return a change that sets members of the answer, or at a place in it."""

    def change(answer: Any) -> None:
        place = reduce(getitem, steps, answer)
        place.update(values)

    return body(change)


def without(*steps: str | int) -> Change:
    """Return a change that removes what is at a place in the answer."""
    *way, last = steps

    def change(answer: Any) -> None:
        place = reduce(getitem, way, answer)
        del place[last]

    return body(change)


def headers(**values: str | None) -> Change:
    """Return a change that sets headers of the answer, or removes them."""

    def changed(exchange: RecordedExchange) -> RecordedExchange:
        kept = dict(exchange.response_headers)
        for name, value in values.items():
            header = name.replace("_", "-")
            kept.pop(header, None)
            if value is not None:
                kept[header] = value
        return replace(exchange, response_headers=kept)

    return changed


def status(number: int) -> Change:
    """Return a change of the status."""
    return lambda exchange: replace(exchange, status=number)


# Where --------------------------------------------------------------------------------


def succeeded(operation: str, /, **values: object) -> Spot:
    """The successful calls of an operation whose answers have some members."""

    def is_spot(call: RecordedCall) -> bool:
        is_call = call.name == operation and call.is_success
        return is_call and values.items() <= call.answer.items()

    return is_spot


def refused(code: str) -> Spot:
    """The calls that were refused with a code."""
    return lambda call: call.code == code


def places_of(spot: Spot) -> list[str]:
    """The places of the recorded calls at a spot."""
    return [where for where, call in calls().items() if spot(call)]


def tampered(spot: Spot, change: Change) -> Sequence[RecordedExchange]:
    """Return the recording with a change of the last exchange at a spot."""
    *_, last = places_of(spot)
    return _changed_at({last}, change)


def everywhere(change: Change) -> Sequence[RecordedExchange]:
    """Return the recording with a change of every exchange."""
    return [change(exchange) for exchange in recording()]


def at_all(spot: Spot, change: Change) -> Sequence[RecordedExchange]:
    """Return the recording with a change of every exchange at a spot."""
    places = set(places_of(spot))
    return _changed_at(places, change)


def _changed_at(places: set[str], change: Change) -> Sequence[RecordedExchange]:
    exchanges = list(recording())
    for index, exchange in enumerate(exchanges):
        if exchange.where in places:
            exchanges[index] = change(exchange)
    return exchanges
