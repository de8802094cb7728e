"""The examiner's results for a sandbox: the conduct of its clients, and their coverage of the contract."""

from typing import Any

import orjson

from emulator.control.calls import Call
from emulator.control.entries import Masks
from emulator.control.fields import unfit
from emulator.examiner import conduct, coverage, points

CONDUCT_QUERY = ("ended", "whole")
COVERAGE_QUERY = ("whole",)
_WORDS = {"true": True, "false": False}


def show_conduct(call: Call) -> orjson.Fragment:
    """GET /conduct: so far; with `ended=true`, as if nothing more would come; with `whole=true`, since its creation."""
    ended, whole = _switch(call, "ended"), _switch(call, "whole")
    examine = call.plane.examiner.whole_conduct if whole else conduct.examine
    found = examine(call.sandbox, ended)
    return orjson.Fragment(Masks(call.sandbox).of_bytes(orjson.dumps(found.as_json())))


def show_coverage(call: Call) -> dict[str, Any]:
    """GET /coverage: every point, how often it was reached, and what closes the gap where it was not."""
    plane, whole = call.plane, _switch(call, "whole")
    met = plane.examiner.whole_met(call.sandbox) if whole else points.met(call.sandbox)
    return coverage.document(plane.contract, plane.closing, met)


def _switch(call: Call, name: str) -> bool:
    value = call.query.get(name, "false")
    if value not in _WORDS:
        raise unfit(name, value, "true or false")
    return _WORDS[value]
