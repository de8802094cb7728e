"""What the examiner makes of a sandbox's journal: the conduct of its clients, and their
coverage of the contract.

Both are computed in a thread when somebody asks.
"""

import asyncio

import msgspec
from msgspec import to_builtins

from image_workflow_emulator.control import JsonObject
from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.control.masks import Masks
from image_workflow_emulator.examiner.conduct import judge
from image_workflow_emulator.examiner.coverage import document
from image_workflow_emulator.examiner.points import cover


async def get_conduct(call: ControlCall) -> msgspec.Raw:
    """GET /conduct: so far; with `ended=true`, as if nothing more would come."""
    sandbox = call.sandbox
    conduct = await asyncio.to_thread(
        judge,
        sandbox.journal.completed(),
        sandbox.store,
        call.now,
        has_ended=call.query["ended"] == "true",
        left=sandbox.journal.dropped,
    )
    described = msgspec.json.encode(to_builtins(conduct))
    masks = Masks(sandbox.credentials)
    return msgspec.Raw(masks.of_bytes(described))


async def get_coverage(call: ControlCall) -> JsonObject:
    """GET /coverage: every point, how often it was reached, and what closes the gap
    where it was not.
    """
    journal = call.sandbox.journal
    records = journal.completed()
    left = journal.dropped
    covered = await asyncio.to_thread(cover, records, call.sandbox.store)
    judged = {"requests": len(records), "left": left}
    return {**document(call.plane.contract, covered), "judged": judged}
