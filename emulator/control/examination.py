"""The examiner's results for a sandbox: the conduct of its clients, and their coverage of the contract."""

from typing import Any

from emulator.control.calls import Call
from emulator.control.fields import unfit
from emulator.examiner import conduct, coverage, points

CONDUCT_QUERY = ("ended",)
_WORDS = {"true": True, "false": False}


def show_conduct(call: Call) -> dict[str, Any]:
    """GET /conduct: so far; with `ended=true`, as if nothing more would come."""
    ended = call.query.get("ended", "false")
    if ended not in _WORDS:
        raise unfit("ended", ended, "true or false")
    return conduct.examine(call.sandbox, _WORDS[ended]).as_json()


def show_coverage(call: Call) -> dict[str, Any]:
    """GET /coverage: every point, how often it was reached, and what closes the gap where it was not."""
    plane = call.plane
    return coverage.document(plane.contract, plane.closing, points.met(call.sandbox))
