"""The ledger of a Team: every change of its Credits, in order."""

from typing import Any

from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.control.teams import find_account
from image_workflow_emulator.domain.credit_changes import CreditChange
from image_workflow_emulator.kernel.timestamps import format_timestamp


def get_ledger(call: ControlCall) -> dict[str, Any]:
    """GET /teams/{team}/ledger: the newest changes before a sequence number, oldest first."""
    account = find_account(call.sandbox, call.parameters["team"])
    history = account.ledger.history
    before = call.query["before"]
    earlier = [change for change in history.changes if change.sequence < before]
    newest = earlier[-call.query["limit"] :]
    return {
        "data": [_describe_change(change) for change in newest],
        "total": len(earlier),
        "left": history.left,
    }


def _describe_change(change: CreditChange) -> dict[str, Any]:
    return {
        "sequence": change.sequence,
        "at": format_timestamp(change.at),
        "change": change.change,
        "available": change.available,
        "reserved": change.reserved,
        "reason": change.reason,
        "id": change.id,
    }
