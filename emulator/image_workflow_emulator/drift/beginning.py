"""What was there before a recording began, as far as its calls refer to it, put into an emulator.

Nobody can tell how the service came by it: so it is like what was recorded only in what a call depends on, and is not
compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson
from msgspec import ValidationError, convert

from image_workflow_emulator.domain.resources import INGREDIENT_TYPES, Asset, Product
from image_workflow_emulator.drift.recordings import leaves
from image_workflow_emulator.drift.traffic import RecordedCall
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

TEAM: Final = "Recorded"
"""The name of the Team whose recording is replayed."""
_REFERRED: Final = {
    **{f"{kind}_id{plural}": kind for kind in ("asset", "product", *INGREDIENT_TYPES) for plural in ("", "s")},
    "primary_asset_id": "asset",
}
"""By the name of a parameter or member that holds ids: the kind of what they name."""
_PICTURE: Final[Mapping[str, Any]] = {"format": "png", "width": 1_000, "height": 1_000}


def referred_in(call: RecordedCall) -> Iterator[tuple[str, str]]:
    """Iterate over what a call refers to: the kind and the id of each resource."""
    named = (*call.parameters.items(), *leaves(call.body))
    return ((_REFERRED[name], leaf) for name, leaf in named if name in _REFERRED and isinstance(leaf, str))


def put(kind: str, shown: Mapping[str, Any], photos: Sequence[str], sandbox: Sandbox) -> str:
    """Put a resource into a sandbox as an answer shows it, and return its id there; `photos` are those of a Product."""
    if kind == "asset":
        asset = _made(Asset, "ast", shown, sandbox, source="upload", source_generation_id=None)
        description = {"width": asset.width, "height": asset.height, "digest": asset.id}
        sandbox.images.put(asset.id, orjson.dumps({"recorded_picture": description}), "clean")
        sandbox.store.assets.add(asset)
        return str(asset.id)
    if kind == "product":
        photos = photos or [put("asset", {}, (), sandbox)]
        product = _made(Product, "prd", {}, sandbox, asset_ids=photos, primary_asset_id=photos[0])
        sandbox.store.products.add(product)
        return str(product.id)
    ingredient_type = INGREDIENT_TYPES[kind]
    ingredient = _made(ingredient_type, ingredient_type.prefix, shown, sandbox, source_asset_ids=[], version=1)
    sandbox.store.ingredients[ingredient.kind].add(ingredient)
    for key in ingredient.picture_keys:
        sandbox.images.put(key, key.encode(), "clean")
    return str(ingredient.id)


def _made(kind: Any, prefix: str, shown: Mapping[str, Any], sandbox: Sandbox, **own: object) -> Any:
    """Make a resource of a class, with the format and the size of a picture as shown, if they are possible."""
    (account,), now = sandbox.find_accounts(TEAM), sandbox.clock.now()
    made = {"id": sandbox.identifiers.next(prefix), "name": TEAM, "created_at": now, "updated_at": now, **own}
    made["team_id"] = None if shown.get("scope") == "global" else account.team.id
    try:
        return convert({**_PICTURE, **shown, **made}, kind)
    except ValidationError:  # a picture of more pixels than there are
        return convert({**_PICTURE, **made}, kind)
