"""Observations of Operations, Generations and Credits (D27, D29, D31 to D33, D35, D37, D40, D71, D76)."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.domain.pixels import output_size
from image_workflow_emulator.domain.pricing import PHOTOSHOOT_CREDITS, PHOTOSHOOT_SLOTS, generation_charge
from image_workflow_emulator.domain.product_photos import PACKED_PHOTOS, pack
from image_workflow_emulator.domain.readings import Readings
from image_workflow_emulator.drift.observations.base import NEITHER, Seen, by_outcome, meaning, reading_of
from image_workflow_emulator.drift.traffic import RecordedCall, RecordedWork, Traffic, outputs_of

_PHOTOGRAPHY: Final = "createProductPhotographyGeneration"
DEFAULTS: Final = ("background", "fashion_model", "image_count", "aspect_ratio", "resolution", "output_format")
"""The fields that the service may fill in (D33)."""


def target(traffic: Traffic) -> Iterator[Seen]:
    """D27: whether the admission of a create names its target."""
    for call, work in traffic.admissions():
        shown = work.looks[0].shown
        if work.kind.endswith(".create") and "target" in shown and shown.get("status") not in TERMINAL:
            yield Seen("plain" if shown["target"] is None else "target-at-once", call)


def first_status(traffic: Traffic) -> Iterator[Seen]:
    """D71: the status in the admission."""
    for call, work in traffic.admissions():
        if "status" in work.looks[0].shown:
            yield Seen("plain" if work.looks[0].shown["status"] == "queued" else "skips", call)


def error_members(traffic: Traffic) -> Iterator[Seen]:
    """D31: whether all members of an error are there."""
    for work in traffic.works.values():
        for call, shown in work.looks:
            for holder in (shown, *outputs_of(shown)):
                error = holder.get("error")
                if error is not None and holder.get("status") == "failed":
                    values = [error.get(name) for name in ("code", "message", "retryable")]
                    yield Seen("nulls" if None in values else "plain", call)


def subject_cap(traffic: Traffic) -> Iterator[Seen]:
    """D32: what becomes of more subjects than one Generation takes."""
    for call in traffic.whole(_PHOTOGRAPHY):
        subjects = _subjects(traffic, call)
        if subjects is None or len(subjects[0]) <= PACKED_PHOTOS:
            continue
        if call.code == "invalid_input":
            yield Seen("refuses", call)
        elif call.is_success:
            admitted = call.answer.get("resolved_asset_ids")
            is_packed = admitted is None or tuple(admitted) == subjects[1]
            yield Seen("plain" if is_packed else NEITHER, call, f"{len(subjects[0])} subjects became {admitted}")


def _subjects(traffic: Traffic, call: RecordedCall) -> tuple[set[str], tuple[str, ...]] | None:
    """Return every photo that is asked for, and those that are packed; None if a Product's photos are unknown."""
    products: list[tuple[str, list[str]]] = []
    for identifier in call.body.get("product_ids", ()):
        looks = traffic.shown.get(("product", identifier), ())
        shown = [found for look, found in looks if look.number < call.number and "asset_ids" in found]
        if not shown:
            return None
        products.append((str(shown[-1].get("primary_asset_id")), shown[-1]["asset_ids"]))
    loose = list(call.body.get("asset_ids", ()))
    return {*loose, *(photo for _, photos in products for photo in photos)}, pack(products, loose)


def defaults(traffic: Traffic) -> Iterator[Seen]:
    """D33: what stands in for fields that were not sent."""
    for call in traffic.whole(_PHOTOGRAPHY):
        body = call.body
        if body.get("output_mode") == "photoshoot" and body.get("image_count", PHOTOSHOOT_SLOTS) != PHOTOSHOOT_SLOTS:
            yield Seen(by_outcome(call, "count-ignored", "plain"), call, aspect="count")
            continue
        missing = [name for name in DEFAULTS if name not in body]
        plain, other = meaning(call), meaning(call, Readings(defaults="other-defaults"))
        if plain is None or other is None:
            continue
        if missing and call.code == "invalid_input":
            yield Seen("required", call)
        echo = call.answer.get("request")
        if not call.is_success or not isinstance(echo, dict):
            continue
        for name in missing:
            if name in echo and plain[name] != other[name]:
                reading = reading_of(echo[name], {"plain": plain[name], "other-defaults": other[name]})
                yield Seen(reading, call, f"{name} became {echo[name]!r}")


def pixel_sizes(traffic: Traffic) -> Iterator[Seen]:
    """D35: the size of finished outputs."""
    for call, work in traffic.admissions():
        ratio, resolution = call.body.get("aspect_ratio"), call.body.get("resolution")
        if ratio is None or resolution is None:
            continue
        sizes = {reading: output_size(ratio, resolution, reading) for reading in ("plain", "megapixels")}
        for output in outputs_of(work.last):
            for look, asset in traffic.shown.get(("asset", (output.get("asset") or {}).get("id", "")), ())[:1]:
                size = asset.get("width"), asset.get("height")
                yield Seen(reading_of(size, sizes), look, f"{ratio} at {resolution} became {size[0]} x {size[1]}")


def partial_charge(traffic: Traffic) -> Iterator[Seen]:
    """D37: what a photoshoot costs of which a part failed."""
    for call, work in traffic.admissions():
        charged, finished = work.credits("charged"), work.finished_by
        if call.body.get("output_mode") != "photoshoot" or charged is None or finished is None:
            continue
        completed = sum(output.get("status") == "completed" for output in outputs_of(work.last))
        if 0 < completed < PHOTOSHOOT_SLOTS:
            charges = {
                reading: generation_charge(PHOTOSHOOT_CREDITS, completed, PHOTOSHOOT_SLOTS, reading)
                for reading in ("plain", "down", "whole")
            }
            what = f"{completed} of {PHOTOSHOOT_SLOTS} outputs cost {charged} Credits"
            yield Seen(reading_of(charged, charges), finished, what)


def slot_order(traffic: Traffic) -> Iterator[Seen]:
    """D76: whether the slots of a Generation finish one after another, from the first on."""
    for work in traffic.works.values():
        for call, shown in work.looks:
            done = [output.get("status") in TERMINAL for output in outputs_of(shown)]
            if any(done) and not all(done):
                yield Seen("plain" if done == sorted(done, reverse=True) else "shuffled", call)


# Credits and the budget -----------------------------------------------------------------------------------------------


def team_credits(traffic: Traffic) -> Iterator[Seen]:
    """D29: whether a Team's Credits fall with a reservation, or only when they are charged."""
    reads = [call for call in traffic.whole("getTeam") if "credits" in call.answer]
    for earlier, later in pairwise(reads):
        spent = {"plain": 0, "gross": 0}
        for work in traffic.works.values():
            before, after = _account(work, earlier), _account(work, later)
            if before is None or after is None:
                break
            spent["plain"] += after[0] + after[1] - before[0] - before[1]
            spent["gross"] += after[1] - before[1]
        else:
            change = earlier.answer["credits"] - later.answer["credits"]
            if change >= min(0, *spent.values()):  # else somebody added Credits
                what = f"{change} Credits were taken where {spent['plain']} were expected"
                yield Seen(reading_of(change, spent), later, what)


def _account(work: RecordedWork, call: RecordedCall) -> tuple[int, int] | None:
    """Return what work had reserved and charged when a call was made; None if the recording does not tell."""
    stage = _stage(work, call)
    if stage == "before":
        return 0, 0
    reserved, charged = work.credits("reserved"), work.credits("charged")
    if stage == "open" and reserved is not None:
        return reserved, 0
    return (0, charged) if stage == "finished" and charged is not None else None


def _stage(work: RecordedWork, call: RecordedCall) -> str | None:
    """Return where a work was in its life when a call was made: before, open or finished; None if it is not certain."""
    finished = work.finished_by
    if work.admission is None:
        return "finished" if finished is work.looks[0].call else None
    if call.number < work.admission.number:
        return "before"
    if finished is not None and call.number >= finished.number:
        return "finished"
    later = (look for look, shown in work.looks if shown.get("status") not in TERMINAL and look.number >= call.number)
    return "open" if any(True for _ in later) else None


def concurrency_unit(traffic: Traffic) -> Iterator[Seen]:
    """D40: whether the budget counts works, or their open outputs."""
    for call in traffic.whole("getTeam"):
        used = call.answer.get("capabilities", {}).get("api_concurrency", {}).get("used")
        stages = [(work, _stage(work, call)) for work in traffic.works.values()]
        if used is None or any(stage is None for _, stage in stages):
            continue
        running = [work for work, stage in stages if stage == "open"]
        slots = sum(max(1, len(outputs_of(work.last))) for work in running)
        if slots > len(running):
            is_by_output = len(running) < used <= slots
            reading = "plain" if used == len(running) else "by-output" if is_by_output else NEITHER
            yield Seen(reading, call, f"{used} places used by {len(running)} works with {slots} outputs")
