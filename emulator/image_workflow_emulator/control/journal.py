"""The journal as people read it: requests listed, filtered, waited for, explained and examined.

Owns the filters and the wait. What happened is recorded by the service's journal; `describing` words it, `explanations`
says why, and the examiner judges the conduct of clients and their coverage of the contract. A wait blocks nothing: a
request wakes it, and it continues in its own turn of the event loop.
"""

import asyncio
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import msgspec
import orjson
from msgspec import Struct

from image_workflow_emulator.control.describing import as_curl, describe_request
from image_workflow_emulator.control.dispatch import ControlCall, in_slices
from image_workflow_emulator.control.explanations import explain
from image_workflow_emulator.control.fields import number_in, unfit
from image_workflow_emulator.control.masks import Masks
from image_workflow_emulator.control.teams import no_such_team
from image_workflow_emulator.documents.complaints import nearest
from image_workflow_emulator.documents.values import MAX_INTEGER
from image_workflow_emulator.domain.problems import CATALOGUE, Problem
from image_workflow_emulator.examiner.conduct import judge
from image_workflow_emulator.examiner.coverage import document
from image_workflow_emulator.examiner.points import cover
from image_workflow_emulator.http.requests import ClientDisconnectedError, watching
from image_workflow_emulator.kernel.timestamps import SECOND_MS
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service.records.journal import Journal
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

NONE: Final = "none"
"""Stands in filters for the operation, status or code that a request does not have."""

_NO_STATUS: Final = range(1)
"""Selects the status 0, which stands for none."""
_REFRESH_SECONDS: Final = 0.25
"""How often a wait checks whether its sandbox, and so the journal, was reset."""


# The endpoints --------------------------------------------------------------------------------------------------------


async def list_requests(call: ControlCall) -> dict[str, Any]:
    """GET /requests: newest first; with `wait_ms`, as soon as one that the filters select is complete."""
    wanted = _read_filter(call)
    if wait_ms := call.query["wait_ms"]:
        await _wait(call, wanted, wait_ms)
    sandbox = _sandbox(call)
    journal = sandbox.journal
    found = [record for record in journal.newest_first(wanted.since) if wanted.selects(record)]
    # As it is now: more may come while these are described.
    numbers = {"last_sequence": journal.last_sequence, "dropped": journal.dropped, "total": len(found)}
    masks = Masks(sandbox.credentials)
    shown = await in_slices(found[: call.query["limit"]], lambda record: describe_request(record, masks))
    return {"data": shown, **numbers}


def show_request(call: ControlCall) -> dict[str, Any]:
    """GET /requests/{request}: the newest that carries this Request-Id, or the one of a sequence number, explained."""
    identifier, journal = call.parameters["request"], call.sandbox.journal
    sequence = number_in(identifier, MAX_INTEGER)
    record = journal.find(identifier) if sequence is None else journal.at_sequence(sequence)
    if record is None:
        gone = f" ({journal.dropped} dropped so far)" if journal.dropped else ""
        expected = "a Request-Id or the sequence number of an entry of this sandbox's journal"
        raise Problem("not_found", f"{excerpt(identifier)}: found no such entry{gone}; expected {expected}")
    masks = Masks(call.sandbox.credentials)
    curl = as_curl(record, masks, call.origin)
    explanation = masks.of_bytes(orjson.dumps(explain(journal, record)))
    return {**describe_request(record, masks), "curl": curl, "explanation": orjson.Fragment(explanation)}


def clear_requests(call: ControlCall) -> None:
    """DELETE /requests: forget all entries; sequence numbers go on."""
    call.sandbox.journal.clear()


# Filters --------------------------------------------------------------------------------------------------------------


class Filter(Struct, frozen=True):
    """The filters of a list; None selects everything."""

    values: Mapping[str, str]
    """By field what it must be; an empty text stands for none."""
    statuses: range | None
    team_ids: frozenset[str] | None
    since: int
    before: int | None

    def selects(self, record: RequestRecord) -> bool:
        """Whether a request is one that is asked for."""
        return (
            record.sequence > self.since
            and (self.before is None or record.sequence < self.before)
            and (self.statuses is None or (record.status or 0) in self.statuses)
            and (self.team_ids is None or (record.team is not None and record.team.id in self.team_ids))
            and all((getattr(record, name) or "") == value for name, value in self.values.items())
        )

    def ends_wait(self, record: RequestRecord) -> bool:
        """Whether a request ends a wait: it is complete, or asked for without an answer."""
        return (record.is_complete or self.statuses == _NO_STATUS) and self.selects(record)


def _read_filter(call: ControlCall) -> Filter:
    """Read the filters. Raises Problem invalid_request for a word that no request could ever have."""
    query, team = call.query, call.query.get("team")
    team_ids = None if team is None else frozenset(account.team.id for account in call.sandbox.find_accounts(team))
    if team is not None and not team_ids:
        raise no_such_team(call.sandbox, team)
    values = {
        "operation": _word(query, "operation", call.plane.contract.operations, "an operation id of the contract"),
        "code": _word(query, "code", CATALOGUE, "a code of the specification"),
        "idempotency_key": query.get("idempotency_key"),
    }
    given = {name: value for name, value in values.items() if value is not None}
    return Filter(given, _statuses(query.get("status")), team_ids, query.get("since", 0), query.get("before"))


def _word(query: Mapping[str, str], name: str, words: Collection[str], expected: str) -> str | None:
    value = query.get(name)
    if value == NONE:
        return ""
    if value is not None and value not in words:
        raise unfit(name, value, f"{expected}, or {NONE}", nearest(value, words))
    return value


def _statuses(value: str | None) -> range | None:
    """Return the statuses that a word such as `402`, `4xx` or `none` means; None if any will do."""
    if value is None:
        return None
    if value == NONE:
        return _NO_STATUS
    first = int(value.replace("x", "0"))
    return range(first, first + (100 if value.endswith("xx") else 1))


# Waiting --------------------------------------------------------------------------------------------------------------


async def _wait(call: ControlCall, wanted: Filter, wait_ms: int) -> None:
    """Wait until there is a request that is asked for, for a span of real time, or until the emulator stops.

    Raises:
        ClientDisconnectedError: the client has gone.
        Problem: not_found, the sandbox was deleted.
    """
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + wait_ms / SECOND_MS
    with watching(call.request.receive) as gone:
        while (left := ends_at - loop.time()) > 0:
            pause, journal = min(left, _REFRESH_SECONDS), _sandbox(call).journal
            with _waiter(journal, wanted) as arrived:
                if any(map(wanted.ends_wait, journal.newest_first(wanted.since))):
                    return
                either = asyncio.wait((arrived, gone), timeout=pause, return_when=asyncio.FIRST_COMPLETED)
                is_over = await call.plane.stop.cut_short(either) or arrived.done()
            if is_over:
                return
            if gone.done():
                raise ClientDisconnectedError


@contextmanager
def _waiter(journal: Journal, wanted: Filter) -> Iterator[asyncio.Future[None]]:
    """Listen to a journal: the future is done as soon as a request that is asked for is complete."""
    arrived: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def watch(record: RequestRecord) -> None:
        if not arrived.done() and wanted.ends_wait(record):
            arrived.set_result(None)

    journal.watchers.add(watch)
    try:
        yield arrived
    finally:
        journal.watchers.discard(watch)


def _sandbox(call: ControlCall) -> Sandbox:
    """Return the sandbox that the request is about, as it is now: a wait may outlive the one that it began with."""
    return call.plane.find_sandbox(call.parameters.get("sandbox"))


# What the examiner makes of it ----------------------------------------------------------------------------------------


async def show_conduct(call: ControlCall) -> orjson.Fragment:
    """GET /conduct: so far; with `ended=true`, as if nothing more would come."""
    sandbox, has_ended = call.sandbox, call.query["ended"] == "true"
    records, left = sandbox.journal.completed(), sandbox.journal.dropped
    conduct = await asyncio.to_thread(judge, records, sandbox.store, call.now, has_ended=has_ended, left=left)
    return orjson.Fragment(Masks(sandbox.credentials).of_bytes(msgspec.json.encode(conduct)))


async def show_coverage(call: ControlCall) -> dict[str, Any]:
    """GET /coverage: every point, how often it was reached, and what closes the gap where it was not."""
    journal = call.sandbox.journal
    records = journal.completed()
    covered = await asyncio.to_thread(cover, records, call.sandbox.store)
    judged = {"requests": len(records), "left": journal.dropped}
    return {**document(call.plane.contract, covered), "judged": judged}
