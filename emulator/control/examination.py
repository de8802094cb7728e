"""The examiner's results for a sandbox: the conduct of its clients, and their coverage of the contract."""

from typing import Any

import msgspec
import orjson

from emulator.control.calls import ControlCall
from emulator.control.masks import Masks
from emulator.examiner import coverage


def show_conduct(call: ControlCall) -> orjson.Fragment:
    """GET /conduct: so far; with `ended=true`, as if nothing more would come; with `whole=true`, since its creation."""
    has_ended, is_whole = call.query["ended"] == "true", call.query["whole"] == "true"
    judgement = call.plane.examiner.judge(call.sandbox.observed(), has_ended=has_ended, is_whole=is_whole)
    return orjson.Fragment(Masks(call.sandbox.credentials).of_bytes(msgspec.json.encode(judgement.conduct)))


def show_coverage(call: ControlCall) -> dict[str, Any]:
    """GET /coverage: every point, how often it was reached, and what closes the gap where it was not."""
    plane = call.plane
    covered = plane.examiner.covered(call.sandbox.observed(), is_whole=call.query["whole"] == "true")
    return coverage.document(plane.contract, covered)
