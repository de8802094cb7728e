"""Intents (D14): a body that the contract allows, with defaults applied and everything
in one form.

Two requests with the same intent are the same request to an Idempotency-Key. An intent
is also what an Operation and a Generation echo as their `request` (D28). Owns the rules
between the fields of one body (stateless, so they are decided with the body's check);
must not look at anything outside the body.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from image_workflow_emulator.domain.orders import PHOTOSHOOT_SLOTS
from image_workflow_emulator.domain.problems import invalid_input
from image_workflow_emulator.domain.readings import NO_READINGS, Readings
from image_workflow_emulator.domain.resources import CAMERA_DISTANCES

Intent = dict[str, Any]


def colour(text: str) -> str:
    """Write a colour as the service keeps it: `#rrggbb` in lower case (D39)."""
    return "#" + text.removeprefix("#").lower()


def _product(body: Intent) -> Intent:
    """A Primary must be one of the photos given with it (section 4); without photos the
    Product's own decide, later.
    """
    asset_ids = body.get("asset_ids")
    primary = body.get("primary_asset_id")
    if asset_ids is not None and primary is not None and primary not in asset_ids:
        raise invalid_input("/primary_asset_id", primary, "one of asset_ids")
    return body


def _product_photography(body: Intent) -> Intent:
    """Apply the rules between fields of D32 to D34, and the normalization of
    transparent output.
    """
    is_photoshoot = body["output_mode"] == "photoshoot"
    # 2.0 is the whole number 2.
    intent: Intent = {**body, "image_count": int(body["image_count"])}
    if not intent["product_ids"] and not intent["asset_ids"]:
        expected = "at least one Product or Asset in product_ids or asset_ids"
        raise invalid_input("/product_ids", intent["product_ids"], expected)
    if is_photoshoot and intent["image_count"] != PHOTOSHOOT_SLOTS:
        expected = f"{PHOTOSHOOT_SLOTS}, or nothing, for a photoshoot"
        raise invalid_input("/image_count", intent["image_count"], expected)
    background = intent["background"]
    if background["type"] == "color":
        intent["background"] = {**background, "color": colour(background["color"])}
    if background["type"] == "transparent" and intent["output_format"] == "jpeg":
        intent["output_format"] = "png"  # section 4: JPEG has no transparency
    colorway = intent.get("colorway", {})
    if "hex" in colorway:
        intent["colorway"] = {**colorway, "hex": colour(colorway["hex"])}
    return intent


PHOTOGRAPHY_DEFAULTS: Mapping[str, Any] = {
    "background": {"type": "automatic"},
    "fashion_model": {"type": "automatic"},
    "aspect_ratio": "1:1",
    "resolution": "1k",
    "output_format": "png",
}
_OTHER_DEFAULTS = {
    **PHOTOGRAPHY_DEFAULTS,
    "aspect_ratio": "4:5",
    "resolution": "2k",
    "output_format": "jpeg",
}


def _with_defaults(body: Intent, readings: Readings) -> Intent:
    """Apply the defaults of D33 to an order of Product Photography."""
    is_photoshoot = body["output_mode"] == "photoshoot"
    missing = [
        field for field in (*PHOTOGRAPHY_DEFAULTS, "image_count") if field not in body
    ]
    if missing and readings.defaults == "required":
        raise invalid_input(f"/{missing[0]}", None, "a value; there is no default")
    if is_photoshoot and readings.defaults == "count-ignored":
        body = {**body, "image_count": PHOTOSHOOT_SLOTS}
    defaults = PHOTOGRAPHY_DEFAULTS
    if readings.defaults == "other-defaults":
        defaults = _OTHER_DEFAULTS
    count = 1
    if is_photoshoot:
        count = PHOTOSHOOT_SLOTS
    return {
        "product_ids": [],
        "asset_ids": [],
        "image_count": count,
        **defaults,
        **body,
    }


MAX_NAME = 100
MAX_TEXT = 2_000
"""The lengths in code points beyond which a name, and any other text, is refused by
D04=short."""


def _check_lengths(body: Intent, where: str = "") -> None:
    for field, value in body.items():
        longest = MAX_TEXT
        if field == "name":
            longest = MAX_NAME
        if isinstance(value, str) and len(value) > longest:
            expected = f"at most {longest} characters, not {len(value)}"
            raise invalid_input(f"{where}/{field}", value, expected)
        if isinstance(value, dict):
            _check_lengths(value, f"{where}/{field}")


def _upload(body: Intent) -> Intent:
    """2.0 is the whole number 2."""
    return {**body, "size_bytes": int(body["size_bytes"])}


def _style(body: Intent) -> Intent:
    """A description that was never given is empty (D22)."""
    return {"description": "", **body}


def _pose(body: Intent) -> Intent:
    """A pose without camera distances supports all three (D25)."""
    return {"supported_camera_distances": list(CAMERA_DISTANCES), **body}


_RULES: Mapping[str, Callable[[Intent], Intent]] = {
    "CreateUpload": _upload,
    "ProductWrite": _product,
    "ProductPatch": _product,
    "StyleWrite": _style,
    "PoseWrite": _pose,
    "ProductPhotography": _product_photography,
}


def intent_of(
    body_name: str,
    body: Intent,
    readings: Readings = NO_READINGS,
) -> Intent:
    """Return the intent of a body that the contract allows, by the readings of D04 and
    D33.

    Raises:
        Problem: invalid_input, where fields contradict each other.
    """
    if readings.text_length == "short":
        _check_lengths(body)
    if body_name == "ProductPhotography":
        body = _with_defaults(body, readings)
    rule = _RULES.get(body_name)
    if rule is None:
        return body
    return rule(body)


def fingerprint(intent: Intent) -> bytes:
    """Return what two requests with the same intent have in common, and no others
    (D14).
    """
    return msgspec.json.encode(intent, order="sorted")
