"""Intents (D14): a body that the contract allows, with defaults applied and everything in one form.

Two requests with the same intent are the same request to an Idempotency-Key. An intent is also what an Operation and a
Generation echo as their `request` (D28). Owns the rules between the fields of one body (stateless, so they are decided
with the body's check); must not look at anything outside the body.
"""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from emulator.domain.pricing import PHOTOSHOOT_SLOTS
from emulator.domain.problems import invalid_input
from emulator.domain.resources import CAMERA_DISTANCES
from emulator.kernel.json_bytes import json_bytes

Intent = dict[str, Any]


def colour(text: str) -> str:
    """Write a colour as the service keeps it: `#rrggbb` in lower case (D39)."""
    return "#" + text.removeprefix("#").lower()


def _create_upload(body: Intent) -> Intent:
    return {**body, "size_bytes": int(body["size_bytes"])}  # 2.0 is the whole number 2


def _product(body: Intent) -> Intent:
    """A Primary must be one of the photos given with it (section 4); without photos the Product's own decide, later."""
    asset_ids, primary = body.get("asset_ids"), body.get("primary_asset_id")
    if asset_ids is not None and primary is not None and primary not in asset_ids:
        raise invalid_input(
            "/primary_asset_id", primary, "one of asset_ids", remedy=f"set /primary_asset_id to {asset_ids[0]}"
        )
    return body


def _style_write(body: Intent) -> Intent:
    return {"description": "", **body}  # D22


def _pose_write(body: Intent) -> Intent:
    return {"supported_camera_distances": list(CAMERA_DISTANCES), **body}  # D25


def _product_photography(body: Intent) -> Intent:
    """Apply the defaults of D33, the rules between fields of D32 to D34, and the normalization of transparent output."""
    photoshoot = body["output_mode"] == "photoshoot"
    intent: Intent = {
        "product_ids": [],
        "asset_ids": [],
        "background": {"type": "automatic"},
        "fashion_model": {"type": "automatic"},
        "image_count": PHOTOSHOOT_SLOTS if photoshoot else 1,
        "aspect_ratio": "1:1",
        "resolution": "1k",
        "output_format": "png",
        **body,
    }
    intent["image_count"] = int(intent["image_count"])  # 2.0 is the whole number 2
    if not intent["product_ids"] and not intent["asset_ids"]:
        raise invalid_input(
            "/product_ids",
            intent["product_ids"],
            "at least one Product or Asset in product_ids or asset_ids",
            remedy="add the id of a Product to /product_ids, or that of an Asset to /asset_ids",
        )
    if photoshoot and intent["image_count"] != PHOTOSHOOT_SLOTS:
        raise invalid_input(
            "/image_count",
            intent["image_count"],
            f"{PHOTOSHOOT_SLOTS}, or nothing, for a photoshoot",
            remedy="remove /image_count",
        )
    background = intent["background"]
    if background["type"] == "color":
        intent["background"] = {**background, "color": colour(background["color"])}
    if background["type"] == "transparent" and intent["output_format"] == "jpeg":
        intent["output_format"] = "png"  # section 4: JPEG has no transparency
    if "hex" in intent.get("colorway", {}):
        intent["colorway"] = {**intent["colorway"], "hex": colour(intent["colorway"]["hex"])}
    return intent


_RULES: Mapping[str, Callable[[Intent], Intent]] = {
    "CreateUpload": _create_upload,
    "ProductWrite": _product,
    "ProductPatch": _product,
    "StyleWrite": _style_write,
    "PoseWrite": _pose_write,
    "ProductPhotography": _product_photography,
}


def intent_of(body_name: str, body: Intent) -> Intent:
    """Return the intent of a body that the contract allows.

    Raises:
        Problem: invalid_input, where fields contradict each other.
    """
    rule = _RULES.get(body_name)
    return rule(body) if rule else body


def fingerprint(intent: Intent) -> bytes:
    """Return what two requests with the same intent have in common, and no others (D14)."""
    return json_bytes(intent, orjson.OPT_SORT_KEYS)
