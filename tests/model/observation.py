"""Observation of the emulator in the model's form, and invariants that hold whatever the model says."""

from collections.abc import Iterable

from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from tests.model.arithmetic import Json
from tests.model.meanings import COLLECTIONS, INGREDIENTS
from tests.support.emulator_client import Answer, Call, EmulatorUnderTest

OPAQUE = {
    "asset": ("url", "size_bytes"),
    "photography_style": ("preview_image_urls",),
    "background": ("card_image_url", "description"),
    "pose": ("card_image_url", "description"),
    "fashion_model": ("card_image_url",),
}
"""Fields of each kind that only the service can know. They must stay as they were first seen."""
TERMINAL = ("completed", "failed")
LISTED = tuple(kind for kind in COLLECTIONS if kind != "upload")


def shown(resource: Json) -> Json:
    """Return a resource as the model knows it: without what is opaque, and without the words of errors."""
    kind = resource["object"]
    known = {
        name: value
        for name, value in resource.items()
        if name not in OPAQUE.get(kind, ())
    }
    if kind == "upload":
        upload = known.pop("upload")
        known |= {"method": upload["method"], "expires_at": upload["expires_at"]}
    if kind == "team":
        known["credential"] = {
            name: value
            for name, value in known["credential"].items()
            if name != "prefix"
        }
    if kind == "asset_deletion":
        known["reassigned_primary_product_ids"] = sorted(
            known["reassigned_primary_product_ids"]
        )
        known["deleted_product_ids"] = sorted(known["deleted_product_ids"])
    if kind == "operation":
        known["error"] = _without_message(known["error"])
    if kind == "generation":
        known["outputs"] = [
            {**output, "error": _without_message(output["error"])}
            for output in known["outputs"]
        ]
    return known


def _without_message(error: Json | None) -> Json | None:
    if error is None:
        return None
    assert error["message"]
    return {name: value for name, value in error.items() if name != "message"}


def opaque(resource: Json) -> Json:
    return {name: resource[name] for name in OPAQUE.get(resource["object"], ())}


def observe(
    client: EmulatorUnderTest, keys: Iterable[str]
) -> list[dict[str, list[Json]]]:
    paths = {kind: f"/{COLLECTIONS[kind]}?limit=100" for kind in LISTED}
    paths |= {kind: f"{paths[kind]}&scope=team" for kind in INGREDIENTS} | {
        "team": "/team"
    }
    answers = iter(
        client.together(
            *(Call("GET", path, key=key) for key in keys for path in paths.values())
        )
    )
    return [
        {kind: _items(client, key, kind, next(answers)) for kind in paths}
        for key in keys
    ]


def _items(
    client: EmulatorUnderTest, key: str, kind: str, answer: Answer
) -> list[Json]:
    """Return what was listed; a list of more than one page is asked for once more, page by page."""
    assert answer.status == 200, answer.body
    found = answer.json
    if kind == "team":
        return [found]
    if not found["page"]["has_more"]:
        return list(found["data"])
    return client.items(
        f"/{COLLECTIONS[kind]}{'?scope=team' if kind in INGREDIENTS else ''}", key
    )


def check_invariants(seen: dict[str, list[Json]], granted: int, reserved: int) -> None:
    (team,) = seen["team"]
    work, made = seen["operation"] + seen["generation"], set[str]()
    unfinished = [one for one in work if one["status"] not in TERMINAL]
    set_aside = sum(one["credits"]["reserved"] for one in unfinished)
    charged = sum(
        one["credits"]["charged"] for one in work if one["status"] in TERMINAL
    )
    assert granted == team["credits"] + set_aside + charged, (
        "Credits were lost or found"
    )
    assert reserved == set_aside
    assert len(unfinished) == team["capabilities"]["api_concurrency"]["used"]
    assert not [
        one for one in work if one["status"] == "failed" and one["credits"]["charged"]
    ]
    for operation in seen["operation"]:
        made |= _made_by(operation, operation["result"])
    for generation in seen["generation"]:
        for output in generation["outputs"]:
            made |= _made_by(output, output["asset"])
        statuses = {output["status"] for output in generation["outputs"]}
        is_over = statuses <= set(TERMINAL)
        assert is_over == (generation["status"] in TERMINAL)
        assert (is_over and "completed" in statuses) == (
            generation["status"] == "completed"
        )
    ingredients = [ingredient for kind in INGREDIENTS for ingredient in seen[kind]]
    pictures = [asset for asset in seen["asset"] if asset["source"] == "generation"]
    assert {thing["id"] for thing in ingredients + pictures} <= made, (
        "what has failed, or nobody made, is there"
    )
    alive = {asset["id"] for asset in seen["asset"]}
    for product in seen["product"]:
        assert product["primary_asset_id"] in product["asset_ids"]
        assert set(product["asset_ids"]) <= alive


def _made_by(work: Json, result: Json | None) -> set[str]:
    assert (result is not None) == (work["status"] == "completed")
    assert (work["error"] is not None) == (work["status"] == "failed")
    return {result["id"]} if result else set()


def check_memory(sandbox: Sandbox, alive: set[str]) -> None:
    """The bytes that are counted are those that are held, and every living Asset and ingredient has its pictures."""
    images = sandbox.images
    contents = {
        id(picture.content): picture.content for picture in images.pictures.values()
    }
    held = sum(len(content.data or b"") for content in contents.values())
    assert held == images.held_bytes == sandbox.memory.held_bytes
    assert alive <= {key.partition(".")[0] for key in images.pictures}
