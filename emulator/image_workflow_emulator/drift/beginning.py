"""The beginning of a recording: what must have existed when it began, as far as its calls show it.

Whatever a call shows or uses successfully, and no call before it made, was there already. Owns how this is found, and how
it is put into an emulator: nobody can tell how the service came by it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, get_args

import orjson
from msgspec import Struct, structs

from image_workflow_emulator.domain.recipes import PictureFormat
from image_workflow_emulator.domain.resources import (
    Background,
    FashionModel,
    Ingredient,
    PhotographyStyle,
    Pose,
    Product,
)
from image_workflow_emulator.drift.calls import RecordedCall, Traffic
from image_workflow_emulator.drift.exchanges import leaves
from image_workflow_emulator.service.resources.products import add_asset
from image_workflow_emulator.service.sandbox.calls import DecodedUpload
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

_INGREDIENTS: Final[Mapping[str, type[Ingredient]]] = {
    kind.kind: kind for kind in (PhotographyStyle, Background, Pose, FashionModel)
}
_ORDER: Final = ("asset", "product", *_INGREDIENTS)
_REFERRED: Final = {
    **{f"{kind}_id{plural}": kind for kind in _ORDER for plural in ("", "s")},
    "primary_asset_id": "asset",
    "source_asset_ids": "asset",
}
"""By the name of a parameter or member that holds ids: the kind of what they name."""


_OF_KINDS: Final = ("description", "background_kind", "supported_camera_distances", "age_range", "gender")
"""The fields that some kinds of ingredient have."""


class Found(Struct, frozen=True):
    """A resource that was there: its id, its kind, and how the first answer with it shows it, if any does."""

    id: str
    kind: str
    shown: Mapping[str, Any]


def found_at_start(traffic: Traffic) -> list[Found]:
    """Return what was there, in an order in which it can be made again: the oldest first, sources before their users."""
    made = set(_made_by_calls(traffic))
    kinds: dict[str, str] = {}
    for call in traffic.calls:
        for identifier, kind in _named_in(call):
            if identifier not in made:
                kinds.setdefault(identifier, kind)
    found = [Found(name, kind, next(iter(traffic.shown.get(name, ())), (None, {}))[1]) for name, kind in kinds.items()]
    return sorted(found, key=lambda resource: (_ORDER.index(resource.kind), resource.shown.get("created_at", "")))


def _made_by_calls(traffic: Traffic) -> Iterator[str]:
    """Iterate over the ids of what the calls themselves made, or their work."""
    for call in traffic.of("completeUpload", "createProduct"):
        if call.status == 201:
            yield str(call.answer.get("id"))
    for _, work in traffic.admissions():
        if str(work.last.get("type", "")).endswith(".create"):
            for name in ("result", "target"):
                yield str((work.last.get(name) or {}).get("id"))
        for output in work.last.get("outputs") or ():
            yield str((output.get("asset") or {}).get("id"))


def _named_in(call: RecordedCall) -> Iterator[tuple[str, str]]:
    """Iterate over the ids that a successful call names, with their kinds."""
    if not call.is_success or call.operation is None:
        return
    yield from _referred_in(dict(call.parameters))
    yield from _referred_in(call.body)
    for resource in call.resources:
        if resource.get("object") in _ORDER and isinstance(resource.get("id"), str):
            yield resource["id"], resource["object"]
        if resource.get("object") == "product":
            yield from _referred_in({"asset_ids": resource.get("asset_ids")})


def _referred_in(value: Any) -> Iterator[tuple[str, str]]:
    return ((leaf, _REFERRED[name]) for name, leaf in leaves(value) if name in _REFERRED and isinstance(leaf, str))


# In an emulator -------------------------------------------------------------------------------------------------------


def put(resource: Found, sandbox: Sandbox, mapped: Mapping[str, str]) -> str:
    """Put a resource into a sandbox and return its id there; `mapped` has the ids of what was put there before."""
    if resource.kind == "asset":
        return _put_asset(sandbox, resource.id, resource.shown)
    if resource.kind == "product":
        photos = [mapped[photo] for photo in resource.shown.get("asset_ids") or () if photo in mapped]
        return _put_product(sandbox, resource, photos or [_put_asset(sandbox, resource.id, {})], mapped)
    return _put_ingredient(sandbox, _INGREDIENTS[resource.kind], resource.shown)


def _put_asset(sandbox: Sandbox, digest: str, shown: Mapping[str, Any]) -> str:
    width, height = shown.get("width") or 1_000, shown.get("height") or 1_000
    stored_as: PictureFormat = next((known for known in get_args(PictureFormat) if known == shown.get("format")), "png")
    data = orjson.dumps({"recorded_picture": {"width": width, "height": height, "digest": digest}})
    decoded = DecodedUpload(data, stored_as, width, height)
    return add_asset(sandbox, _team_of(sandbox), decoded, sandbox.clock.now()).id


def _put_product(sandbox: Sandbox, resource: Found, photos: Sequence[str], mapped: Mapping[str, str]) -> str:
    shown = resource.shown
    product = Product(
        **_common(sandbox, "prd", shown),
        asset_ids=tuple(photos),
        primary_asset_id=mapped.get(str(shown.get("primary_asset_id")), photos[0]),
        description=shown.get("description"),
        dimensions=shown.get("dimensions"),
    )
    sandbox.store.products.add(product)
    return product.id


def _put_ingredient(sandbox: Sandbox, kind: type[Ingredient], shown: Mapping[str, Any]) -> str:
    seen = {**shown, "background_kind": shown.get("kind")}
    own: dict[str, Any] = {
        field.name: tuple(value) if isinstance(value, list) else value
        for field in structs.fields(kind)
        if field.name in _OF_KINDS and (value := seen.get(field.name)) and isinstance(value, str | list)
    }
    ingredient = kind(**_common(sandbox, kind.prefix, shown), source_asset_ids=(), version=1, **own)
    sandbox.store.ingredients[ingredient.kind].add(ingredient)
    for key in ingredient.picture_keys:
        sandbox.images.put(key, key.encode(), "clean")
    return ingredient.id


def _common(sandbox: Sandbox, prefix: str, shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that every resource has."""
    team_id, now = None if shown.get("scope") == "global" else _team_of(sandbox), sandbox.clock.now()
    named = {"id": sandbox.identifiers.next(prefix), "name": str(shown.get("name") or "Recorded")}
    return {**named, "team_id": team_id, "created_at": now, "updated_at": now}


def _team_of(sandbox: Sandbox) -> str:
    return next(iter(sandbox.accounts))
