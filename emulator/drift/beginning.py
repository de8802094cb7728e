"""The beginning of a recording: what must have existed when it began, as far as its calls show it.

Whatever a call shows or uses successfully, and no call before it made, was there already. Owns how this is found, and
how it is made again in an emulator, through the operations of the API.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from emulator.traffic.calls import Call, Traffic

INGREDIENTS: Final = {
    "photography_style": "/photography-styles",
    "background": "/backgrounds",
    "pose": "/poses",
    "fashion_model": "/fashion-models",
}
"""By kind: the path of its collection."""
_REFERRED: Final = {
    "asset_id": "asset",
    "asset_ids": "asset",
    "primary_asset_id": "asset",
    "source_asset_ids": "asset",
    "product_id": "product",
    "product_ids": "product",
    "photography_style_id": "photography_style",
    "background_id": "background",
    "pose_id": "pose",
    "fashion_model_id": "fashion_model",
    "fashion_model_ids": "fashion_model",
}
"""By the name of a parameter or member that holds ids: the kind of what they name."""
_MADE_BY: Final = ("completeUpload", "createProduct")
_ORDER: Final = ("asset", "product", *INGREDIENTS)


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
    found = [Found(name, kind, _first_shown(traffic, name)) for name, kind in kinds.items()]
    return sorted(found, key=lambda resource: (_ORDER.index(resource.kind), resource.shown.get("created_at", "")))


def _made_by_calls(traffic: Traffic) -> Iterator[str]:
    """Iterate over the ids of what the calls themselves made, or their work."""
    for call in traffic.of(*_MADE_BY):
        if call.status == 201:
            yield str(call.answer.get("id"))
    for work in traffic.works.values():
        if work.admission is None:
            continue
        if str(work.last.get("type", "")).endswith(".create"):
            for name in ("result", "target"):
                yield str((work.last.get(name) or {}).get("id"))
        for output in work.last.get("outputs") or ():
            yield str((output.get("asset") or {}).get("id"))


def _named_in(call: Call) -> Iterator[tuple[str, str]]:
    """Iterate over the ids that a successful call names, with their kinds."""
    if not call.is_success or call.operation is None:
        return
    for name, value in call.parameters.items():
        if name in _REFERRED:
            yield value, _REFERRED[name]
    yield from _referred_in(call.body)
    data = call.answer.get("data")
    for resource in data if isinstance(data, list) else [call.answer]:
        if isinstance(resource, dict) and resource.get("object") in _ORDER and isinstance(resource.get("id"), str):
            yield resource["id"], resource["object"]
        if isinstance(resource, dict) and resource.get("object") == "product":
            yield from _referred_in({"asset_ids": resource.get("asset_ids")})


def _referred_in(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, member in value.items():
            if name in _REFERRED:
                for identifier in member if isinstance(member, list) else [member]:
                    if isinstance(identifier, str):
                        yield identifier, _REFERRED[name]
            else:
                yield from _referred_in(member)


def _first_shown(traffic: Traffic, identifier: str) -> Mapping[str, Any]:
    shown: Iterable[tuple[Call, Mapping[str, Any]]] = traffic.shown.get(identifier, ())
    return next((resource for _, resource in shown), {})
