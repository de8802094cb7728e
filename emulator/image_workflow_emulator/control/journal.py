"""The journal of a sandbox: its requests, listed, filtered and explained.

Owns the filters. What happened is recorded by the service; `describing` words a
request, and `explaining` says why it ended so.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

import msgspec

from image_workflow_emulator.control import JsonObject
from image_workflow_emulator.control.curl import as_curl
from image_workflow_emulator.control.describing import acting_rule, describe_request
from image_workflow_emulator.control.endpoint import ControlCall, in_slices
from image_workflow_emulator.control.explaining import explain
from image_workflow_emulator.control.masks import Masks
from image_workflow_emulator.control.reading import invalid_value, number_in
from image_workflow_emulator.control.teams import find_account
from image_workflow_emulator.documents.complaints import nearest
from image_workflow_emulator.domain.problems import CATALOGUE, Problem
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service.records.journal import Journal
from image_workflow_emulator.service.records.record import RequestRecord

NONE: Final = "none"
"""In filters: a request without an operation, status or code."""

Filter: TypeAlias = Callable[[RequestRecord], bool]


async def list_requests(call: ControlCall) -> JsonObject:
    """GET /requests: newest first."""
    journal = call.sandbox.journal
    selection = _select(call)
    last_sequence = journal.last_sequence  # more may come while these are described
    dropped = journal.dropped
    masks = Masks(call.sandbox.credentials)
    described = await in_slices(
        selection.records,
        lambda record: describe_request(record, masks),
    )
    return {
        "data": described,
        "last_sequence": last_sequence,
        "dropped": dropped,
        "total": selection.total,
    }


def get_request(call: ControlCall) -> JsonObject:
    """GET /requests/{request}: the newest that carries this Request-Id, or the one of a
    sequence number, explained.
    """
    record = _find(call.sandbox.journal, call.parameters["request"])
    return describe_entry(call, record)


def describe_entry(call: ControlCall, record: RequestRecord) -> JsonObject:
    """Return an entry of the journal with its explanation and as a command."""
    masks = Masks(call.sandbox.credentials)
    explanation = explain(call.sandbox.journal, record)
    encoded = msgspec.json.encode(explanation)
    return {
        **describe_request(record, masks),
        "curl": as_curl(record, masks, call.origin),
        "explanation": msgspec.Raw(masks.of_bytes(encoded)),
    }


def _find(journal: Journal, identifier: str) -> RequestRecord:
    """Return the entry of a Request-Id or sequence number. Raises Problem not_found."""
    record = _find_any(journal, identifier)
    if record is None:
        dropped = ""
        if journal.dropped:
            dropped = f" ({journal.dropped} dropped so far)"
        raise Problem(
            "not_found",
            f"{excerpt(identifier)}: found no such entry{dropped}; expected a "
            "Request-Id or the sequence number of an entry of this sandbox's journal",
        )
    return record


def _find_any(journal: Journal, identifier: str) -> RequestRecord | None:
    sequence = number_in(identifier)
    if sequence is None:
        return journal.find(identifier)
    return journal.at_sequence(sequence)


def clear_requests(call: ControlCall) -> None:
    """DELETE /requests: forget all entries; sequence numbers go on."""
    call.sandbox.journal.clear()


# Filters -----------------------------------------------------------------------------


class _Selection(NamedTuple):
    """The newest requests that a query selects."""

    records: list[RequestRecord]
    total: int
    """How many it selects without its limit."""


def _select(call: ControlCall) -> _Selection:
    """Return what the query selects.

    Raises:
        Problem: invalid_request for a word that no request could have, not_found for an
            unknown Team.
    """
    journal = call.sandbox.journal
    since = call.query["since"]
    before = call.query["before"]
    limit = call.query["limit"]
    filters = list(_filters(call))
    newest_first = (
        record for record in journal.newest_first(since) if record.sequence < before
    )
    if not filters:
        newest = list(islice(newest_first, limit))
        return _Selection(newest, total=_count_between(journal, since, before))
    selected = list(newest_first)
    for accepts in filters:
        selected = list(filter(accepts, selected))
    return _Selection(selected[:limit], total=len(selected))


def _count_between(
    journal: Journal,
    since: int,
    before: int,
) -> int:
    """Count the entries between two sequence numbers: they have consecutive ones."""
    if not journal.requests:
        return 0
    oldest = journal.requests[0]
    first = max(oldest.sequence, since + 1)
    last = min(journal.last_sequence, before - 1)
    return max(last - first + 1, 0)


def _filters(call: ControlCall) -> Iterator[Filter]:
    """Iterate over the filters that the query has. Raises Problem."""
    query = call.query
    team = query["team"]
    if team is not None:
        team_id = find_account(call.sandbox, team).team.id
        yield lambda record: record.team is not None and record.team.id == team_id
    operations = call.plane.contract.operations
    expected = "an operation id of the contract"
    _check_word("operation", query["operation"], operations, expected)
    _check_word("code", query["code"], CATALOGUE, "a code of the specification")
    for name, fact_of in _FACTS.items():
        if query[name] is not None:
            yield _has_fact(fact_of, query[name])
    status = query["status"]
    if status is not None:
        pattern = status.replace("x", "?")
        yield lambda record: fnmatchcase(str(record.status or NONE), pattern)
    idempotency_key = query["idempotency_key"]
    if idempotency_key is not None:
        yield lambda record: record.idempotency_key == idempotency_key


def _has_fact(fact_of: Callable[[RequestRecord], str | None], wanted: str) -> Filter:
    return lambda record: (fact_of(record) or NONE) == wanted


def _rule_of(record: RequestRecord) -> str | None:
    rule = acting_rule(record)
    if rule is None:
        return None
    return rule.name


_FACTS: Final[Mapping[str, Callable[[RequestRecord], str | None]]] = {
    "operation": lambda record: record.operation,
    "code": lambda record: record.code,
    "rule": _rule_of,
}
"""What a query asks for by name, or by `none`."""


def _check_word(
    parameter: str,
    word: str | None,
    words: Collection[str],
    expected: str,
) -> None:
    """Raise Problem invalid_request for a word that no request could have."""
    if word not in (None, NONE) and word not in words:
        expected = f"{expected}, or {NONE}"
        raise invalid_value(parameter, word, expected, nearest(word, words))
