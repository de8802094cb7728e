"""The examiner's results for a sandbox: the conduct of its clients, and their coverage of the contract."""

import asyncio
from typing import Any

import msgspec
import orjson

from emulator.control.calls import ControlCall
from emulator.control.masks import Masks
from emulator.examiner import coverage


async def show_conduct(call: ControlCall) -> orjson.Fragment:
    """GET /conduct: so far; with `ended=true`, as if nothing more would come; with `whole=true`, since its creation."""
    has_ended, is_whole = call.query["ended"] == "true", call.query["whole"] == "true"
    observed, masks = call.sandbox.observed(), Masks(call.sandbox.credentials)
    asked = call.plane.observer.ask(lambda examiner: examiner.judge(observed, has_ended=has_ended, is_whole=is_whole))
    judgement = await asyncio.wrap_future(asked)
    return orjson.Fragment(masks.of_bytes(msgspec.json.encode(judgement.conduct)))


async def show_coverage(call: ControlCall) -> dict[str, Any]:
    """GET /coverage: every point, how often it was reached, and what closes the gap where it was not."""
    observed, is_whole = call.sandbox.observed(), call.query["whole"] == "true"
    asked = call.plane.observer.ask(lambda examiner: examiner.covered(observed, is_whole=is_whole))
    covered = await asyncio.wrap_future(asked)
    return coverage.document(call.plane.contract, covered)
