"""The operation of a request with its problem codes, and the meaning of its body.

The meaning is the body with defaults filled in (D14). Two bodies with the same meaning
are the same request to an Idempotency-Key, and the meaning is what work echoes (D28).
"""

from functools import cache
from typing import Any

from tests.support.contract_check import shipped_checker

Json = dict[str, Any]

KINDS = {
    "assets": "asset",
    "products": "product",
    "photography-styles": "photography_style",
    "backgrounds": "background",
    "poses": "pose",
    "fashion-models": "fashion_model",
    "operations": "operation",
    "generations": "generation",
    "uploads": "upload",
}
"""The kind of resource behind a path, by its first step."""
COLLECTIONS = {kind: collection for collection, kind in KINDS.items()}
INGREDIENTS = ("photography_style", "background", "pose", "fashion_model")
WORKFLOWS = {
    "product-photography": "product_photography",
    "edit-images": "edit_images",
    "upscale": "upscale",
}
"""Workflow by the last step of a path."""


@cache
def operation_id(method: str, path: str) -> str:
    return str(_described(method, path)["operationId"])


@cache
def codes_of(method: str, path: str) -> frozenset[str]:
    """Return the codes that an operation may answer with; one needs no declaration."""
    codes = {"internal_error"}
    for status, reference in _described(method, path)["responses"].items():
        if status != "default":
            response = shipped_checker().resolve(reference)
            codes.update(response.get("x-problem-codes", ()))
    return frozenset(codes)


def _described(method: str, path: str) -> Any:
    operation, _ = shipped_checker().operation_of(method, path)
    assert operation is not None
    return operation


def meaning_of(operation: str, body: Json) -> Json:
    """Return a body with its defaults, and everything in one form.

    Sources: D14, D22, D25, D33, D39.
    """
    if operation == "createPhotographyStyle":
        return {"description": "", **body}
    if operation == "createPose":
        return {"supported_camera_distances": ["close", "medium", "far"], **body}
    if operation == "createProductPhotographyGeneration":
        return _photography(body)
    return body


def _photography(body: Json) -> Json:
    meaning = {
        "product_ids": [],
        "asset_ids": [],
        "background": {"type": "automatic"},
        "fashion_model": {"type": "automatic"},
        "image_count": 4 if body["output_mode"] == "photoshoot" else 1,
        "aspect_ratio": "1:1",
        "resolution": "1k",
        "output_format": "png",
        **body,
    }
    meaning["image_count"] = int(meaning["image_count"])
    background = dict(meaning["background"])
    if background["type"] == "color":
        background["color"] = _colour(background["color"])
    if background["type"] == "transparent" and meaning["output_format"] == "jpeg":
        meaning["output_format"] = "png"
    meaning["background"] = background
    colorway = dict(meaning.get("colorway", {}))
    if "hex" in colorway:
        colorway["hex"] = _colour(colorway["hex"])
        meaning["colorway"] = colorway
    return meaning


def _colour(text: str) -> str:
    return "#" + text.replace("#", "").lower()
