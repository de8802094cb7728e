"""The journal as people read it: requests listed, filtered, explained and examined.

Owns the filters. What happened is recorded by the service's journal; `describing` words it, `explanations` says why,
and the examiner judges the conduct of clients and their coverage of the contract.
"""

import asyncio
from collections.abc import Collection
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec
import orjson

from image_workflow_emulator.control.describing import Masks, as_curl, describe_request, explain
from image_workflow_emulator.control.dispatch import ControlCall, in_slices, invalid_value, number_in
from image_workflow_emulator.control.teams import no_such_team
from image_workflow_emulator.documents.complaints import nearest
from image_workflow_emulator.documents.values import MAX_INTEGER
from image_workflow_emulator.domain.problems import CATALOGUE, Problem
from image_workflow_emulator.examiner.conduct import judge
from image_workflow_emulator.examiner.coverage import document
from image_workflow_emulator.examiner.points import cover
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service.records.record import RequestRecord

NONE: Final = "none"
"""In filters: a request without an operation, status or code."""


# The endpoints --------------------------------------------------------------------------------------------------------


async def list_requests(call: ControlCall) -> dict[str, Any]:
    """GET /requests: newest first."""
    journal, found = call.sandbox.journal, _selected(call)
    # As it is now: more may come while these are described.
    numbers = {"last_sequence": journal.last_sequence, "dropped": journal.dropped, "total": len(found)}
    masks = Masks(call.sandbox.credentials)
    shown = await in_slices(found[: call.query["limit"]], lambda record: describe_request(record, masks))
    return {"data": shown, **numbers}


def get_request(call: ControlCall) -> dict[str, Any]:
    """GET /requests/{request}: the newest that carries this Request-Id, or the one of a sequence number, explained."""
    identifier, journal = call.parameters["request"], call.sandbox.journal
    sequence = number_in(identifier, MAX_INTEGER)
    record = journal.find(identifier) if sequence is None else journal.at_sequence(sequence)
    if record is None:
        gone = f" ({journal.dropped} dropped so far)" if journal.dropped else ""
        expected = "a Request-Id or the sequence number of an entry of this sandbox's journal"
        raise Problem("not_found", f"{excerpt(identifier)}: found no such entry{gone}; expected {expected}")
    masks = Masks(call.sandbox.credentials)
    curl = as_curl(record, masks, call.head.origin)
    explanation = masks.of_bytes(orjson.dumps(explain(journal, record)))
    return {**describe_request(record, masks), "curl": curl, "explanation": orjson.Fragment(explanation)}


def clear_requests(call: ControlCall) -> None:
    """DELETE /requests: forget all entries; sequence numbers go on."""
    call.sandbox.journal.clear()


# Filters --------------------------------------------------------------------------------------------------------------


def _selected(call: ControlCall) -> list[RequestRecord]:
    """Return the requests that all filters select. Raises Problem for a word that no request could have."""
    query, team = call.query, call.query["team"]
    team_ids = {account.team.id for account in call.sandbox.find_accounts(team)}
    if team is not None and not team_ids:
        raise no_such_team(call.sandbox, team)
    words: dict[str, tuple[Collection[str], str]] = {
        "operation": (call.plane.contract.operations, "an operation id of the contract"),
        "code": (CATALOGUE, "a code of the specification"),
    }
    for name, (known, expected) in words.items():
        if (value := query[name]) not in (None, NONE, *known):
            raise invalid_value(name, value, f"{expected}, or {NONE}", nearest(value, known))
    status = (query["status"] or "*").replace("x", "?")
    return [
        record
        for record in call.sandbox.journal.newest_first(query["since"])
        if record.sequence < query["before"]
        and fnmatchcase(str(record.status or NONE), status)
        and all(query[name] in (None, getattr(record, name) or NONE) for name in words)
        and query["idempotency_key"] in (None, record.idempotency_key)
        and (team is None or (record.team is not None and record.team.id in team_ids))
    ]


# What the examiner makes of it ----------------------------------------------------------------------------------------


async def get_conduct(call: ControlCall) -> orjson.Fragment:
    """GET /conduct: so far; with `ended=true`, as if nothing more would come."""
    sandbox, has_ended = call.sandbox, call.query["ended"] == "true"
    records, left = sandbox.journal.completed(), sandbox.journal.dropped
    conduct = await asyncio.to_thread(judge, records, sandbox.store, call.now, has_ended=has_ended, left=left)
    return orjson.Fragment(Masks(sandbox.credentials).of_bytes(msgspec.json.encode(conduct)))


async def get_coverage(call: ControlCall) -> dict[str, Any]:
    """GET /coverage: every point, how often it was reached, and what closes the gap where it was not."""
    journal = call.sandbox.journal
    records = journal.completed()
    covered = await asyncio.to_thread(cover, records, call.sandbox.store)
    judged = {"requests": len(records), "left": journal.dropped}
    return {**document(call.plane.contract, covered), "judged": judged}
