"""Operations and Generations (D27, D32, D33, D35, D37, D71, D76)."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from image_workflow_emulator.domain import orders
from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.domain.readings import parse_readings
from image_workflow_emulator.drift.observations.observation import (
    PHOTOGRAPHY,
    Fits,
    Observation,
    Observations,
    fits_outcome,
    fits_value,
    meaning_of,
    plain_if,
)
from image_workflow_emulator.drift.traffic import (
    RecordedCall,
    RecordedWork,
    Snapshot,
    Traffic,
)

_DEFAULT_FIELDS: Final = ("aspect_ratio", "resolution", "output_format")
"""The fields whose defaults differ by the reading of D33."""
_DEFAULTS: Final = ("plain", "required", "other-defaults", "count-ignored")
_SIZES: Final = ("plain", "megapixels")
_CHARGES: Final = ("plain", "down", "whole")


def target(traffic: Traffic) -> Observations:
    """D27: whether the admission of a create names its target."""
    for call, work in traffic.admissions():
        admitted = work.first.resource
        is_create = work.kind.endswith(".create")
        tells_target = "target" in admitted and not work.first.is_terminal
        if is_create and tells_target:
            is_unknown = admitted["target"] is None
            yield Observation(plain_if(is_unknown, "target-at-once"), call)


def first_status(traffic: Traffic) -> Observations:
    """D71: the status in the admission."""
    for call, work in traffic.admissions():
        if work.first.status is not None:
            is_queued = work.first.status == "queued"
            yield Observation(plain_if(is_queued, "skips"), call)


def subject_cap(traffic: Traffic) -> Observations:
    """D32: what becomes of more subjects than one Generation takes."""
    for call in traffic.whole(PHOTOGRAPHY):
        loose = call.body.get("asset_ids", [])
        chosen = call.body.get("product_ids", ())
        products = [_product_before(traffic, call, product) for product in chosen]
        subjects = set(loose)
        for product in products:
            subjects.update(product.photos)
        are_known = all(product.photos for product in products)
        if len(subjects) > orders.PACKED_PHOTOS and are_known:
            packed = orders.pack(products, loose)
            admitted = tuple(call.answer.get("resolved_asset_ids") or packed)
            fits: Fits = []
            if admitted == packed:
                fits = fits_outcome(call, "plain", "refuses")
            description = f"{len(subjects)} subjects became {list(admitted)}"
            yield Observation(fits, call, description)


class _Product(NamedTuple):
    """A Product with its photos, as `orders.pack` takes them."""

    primary: str
    photos: Sequence[str]


def _product_before(
    traffic: Traffic,
    call: RecordedCall,
    identifier: str,
) -> _Product:
    """Return a Product as it was shown last before a call; without photos if unknown."""
    snapshots = traffic.snapshots_of("product", identifier)
    before = bisect_left(snapshots, call.number, key=_number_of)
    for position in reversed(range(before)):
        resource = snapshots[position].resource
        if "asset_ids" in resource:
            primary = str(resource.get("primary_asset_id"))
            return _Product(primary, resource["asset_ids"])
    return _Product("", ())


def _number_of(snapshot: Snapshot) -> int:
    return snapshot.call.number


def defaults(traffic: Traffic) -> Observations:
    """D33: what stands in for fields that were not sent."""
    for call in traffic.whole(PHOTOGRAPHY):
        meanings = {}
        for reading in _DEFAULTS:
            readings = parse_readings(f"D33={reading}")
            meanings[reading] = meaning_of(call, readings)
        fits: Fits = None
        if call.code == "invalid_input":
            fits = fits_value(None, meanings)
        elif call.is_success:
            fits = _fits_filled(_filled_fields(call), meanings)
        yield Observation(fits or None, call)


def _fits_filled(
    filled: Mapping[str, Any],
    meanings: Mapping[str, Mapping[str, Any] | None],
) -> Fits:
    """Return the readings whose meaning has the fields as the service filled them in."""
    explains = {
        reading: meaning is not None and filled.items() <= meaning.items()
        for reading, meaning in meanings.items()
    }
    return fits_value(True, explains)


def _filled_fields(call: RecordedCall) -> dict[str, Any]:
    """Return the fields that were not sent, as the service filled them in."""
    echo = call.answer.get("request")
    if not isinstance(echo, dict):
        return {}
    filled = {}
    for name in _DEFAULT_FIELDS:
        if name in echo and name not in call.body:
            filled[name] = echo[name]
    return filled


def pixel_sizes(traffic: Traffic) -> Observations:
    """D35: the size of finished outputs."""
    for call, work in traffic.admissions():
        ratio = call.body.get("aspect_ratio", "")
        resolution = call.body.get("resolution", "")
        if not ratio or not resolution:
            continue
        sizes = {
            reading: orders.output_size(ratio, resolution, reading)
            for reading in _SIZES
        }
        for identifier in _finished_assets(work):
            snapshots = traffic.snapshots_of("asset", identifier)
            if not snapshots:
                continue
            first = snapshots[0]
            width = first.resource.get("width")
            height = first.resource.get("height")
            fits = fits_value((width, height), sizes)
            description = f"{ratio} at {resolution} became {width} x {height}"
            yield Observation(fits, first.call, description)


def _finished_assets(work: RecordedWork) -> list[str]:
    """Return the ids of the Assets that the outputs became."""
    identifiers = []
    for output in work.last.outputs:
        asset = output.get("asset")
        if asset and "id" in asset:
            identifiers.append(asset["id"])
    return identifiers


def partial_charge(traffic: Traffic) -> Observations:
    """D37: what a photoshoot costs of which a part failed."""
    price = orders.PHOTOSHOOT_CREDITS
    slots = orders.PHOTOSHOOT_SLOTS
    for call, work in traffic.admissions():
        charged = work.credits("charged")
        finished = work.finished_by
        completed = work.last.output_statuses.count("completed")
        is_photoshoot = call.body.get("output_mode") == "photoshoot"
        if not is_photoshoot or not 0 < completed < slots:
            continue
        if charged is not None and finished is not None:
            charges = {
                reading: orders.generation_charge(price, completed, slots, reading)
                for reading in _CHARGES
            }
            fits = fits_value(charged, charges) or None
            yield Observation(fits, finished)


def slot_order(traffic: Traffic) -> Observations:
    """D76: whether the slots of a Generation finish one after another, the first first."""
    for work in traffic.works.values():
        for snapshot in work.snapshots:
            ended = [status in TERMINAL for status in snapshot.output_statuses]
            if any(ended) and not all(ended):
                is_in_order = ended == sorted(ended, reverse=True)
                yield Observation(plain_if(is_in_order, "shuffled"), snapshot.call)
