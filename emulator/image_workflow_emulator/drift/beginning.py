"""The beginning of a recording: what must have existed when it began, as far as its calls show it.

Whatever a call shows or uses successfully, and no call before it made, was there already. Owns how this is found, and how
it is put into an emulator: nobody can tell how the service came by it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson
from msgspec import Struct, ValidationError, convert

from image_workflow_emulator.domain.resources import INGREDIENT_TYPES, Asset, Product
from image_workflow_emulator.drift.exchanges import leaves
from image_workflow_emulator.drift.traffic import RecordedCall, Traffic
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

_ORDER: Final = ("asset", "product", *INGREDIENT_TYPES)
_REFERRED: Final = {
    **{f"{kind}_id{plural}": kind for kind in _ORDER for plural in ("", "s")},
    "primary_asset_id": "asset",
    "source_asset_ids": "asset",
}
"""By the name of a parameter or member that holds ids: the kind of what they name."""


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
    looks = {name: traffic.shown.get((kind, name)) for name, kind in kinds.items()}
    found = [Found(name, kinds[name], seen[0].shown if seen else {}) for name, seen in looks.items()]
    return sorted(found, key=lambda resource: (_ORDER.index(resource.kind), resource.shown.get("created_at", "")))


def _made_by_calls(traffic: Traffic) -> Iterator[str]:
    """Iterate over the ids of what the calls themselves made, or their work."""
    for call in traffic.of("completeUpload", "createProduct"):
        upload = traffic.uploads.get(call.parameters.get("upload_id", ""))
        if call.name == "createProduct" or (upload is not None and upload.has_bytes):
            yield from (resource["id"] for resource in call.resources if "id" in resource)
    for _, work in traffic.admissions():
        places = [work.last.get(name) for name in ("result", "target") if work.kind.endswith(".create")]
        if work.last["object"] == "generation":
            places += [output.get("asset") for output in work.last.get("outputs", ())]
        yield from (place["id"] for place in places if place and "id" in place)


def _named_in(call: RecordedCall) -> Iterator[tuple[str, str]]:
    """Iterate over the ids that a successful call names, with their kinds."""
    if not call.is_success or call.operation is None:
        return
    yield from _referred_in(dict(call.parameters))
    yield from _referred_in(call.body)
    for resource in call.resources:
        if resource.get("object") in _ORDER and "id" in resource:
            yield resource["id"], resource["object"]
        if resource.get("object") == "product":
            yield from _referred_in({"asset_ids": resource.get("asset_ids")})


def _referred_in(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    return ((leaf, _REFERRED[name]) for name, leaf in leaves(value) if name in _REFERRED and isinstance(leaf, str))


# In an emulator -------------------------------------------------------------------------------------------------------


def put(resource: Found, sandbox: Sandbox, mapped: Mapping[str, str]) -> str:
    """Put a resource into a sandbox and return its id there; `mapped` has the ids of what was put there before."""
    shown = resource.shown
    if resource.kind == "asset":
        return _put_asset(sandbox, resource.id, shown)
    if resource.kind == "product":
        photos = [mapped[photo] for photo in shown.get("asset_ids", ()) if photo in mapped]
        photos = photos or [_put_asset(sandbox, resource.id, {})]
        primary = mapped.get(shown.get("primary_asset_id", ""), photos[0])
        product = _made(Product, "prd", sandbox, shown, asset_ids=photos, primary_asset_id=primary)
        sandbox.store.products.add(product)
        return str(product.id)
    kind = INGREDIENT_TYPES[resource.kind]
    ingredient = _made(kind, kind.prefix, sandbox, shown, source_asset_ids=[], version=1)
    sandbox.store.ingredients[ingredient.kind].add(ingredient)
    for key in ingredient.picture_keys:
        sandbox.images.put(key, key.encode(), "clean")
    return str(ingredient.id)


def _put_asset(sandbox: Sandbox, digest: str, shown: Mapping[str, Any]) -> str:
    usual = {"format": "png", "width": 1_000, "height": 1_000}
    asset = _made(Asset, "ast", sandbox, usual | dict(shown), source="upload", source_generation_id=None)
    description = {"width": asset.width, "height": asset.height, "digest": digest}
    sandbox.images.put(asset.id, orjson.dumps({"recorded_picture": description}), "clean")
    sandbox.store.assets.add(asset)
    return str(asset.id)


def _made(kind: Any, prefix: str, sandbox: Sandbox, shown: Mapping[str, Any], **own: object) -> Any:
    """Make a resource of a class: every field of it that the answer shows under its name is taken over.

    What an answer shows under another name stands here; what the class does not take is left out.
    """
    team_id, now = next(iter(sandbox.accounts)), sandbox.clock.now()
    made = {"id": sandbox.identifiers.next(prefix), "created_at": now, "updated_at": now, **own}
    made["team_id"] = None if shown.get("scope") == "global" else team_id
    seen = {"name": "Recorded", **shown, "background_kind": shown.get("kind", "backdrop")}
    try:
        return convert(seen | made, kind)
    except ValidationError:  # a picture of more pixels than there are
        return convert({"name": "Recorded", "format": "png", "width": 1_000, "height": 1_000} | made, kind)
