"""What can be seen of the emulator, in the model's form, and what must always be true of it, whatever the model says."""

from collections.abc import Iterable
from typing import Any

from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from tests.model.arithmetic import KEY_RETENTION, Json, instant_of
from tests.model.meanings import COLLECTIONS, INGREDIENTS
from tests.model.sandbox_client import SandboxClient
from tests.support.emulator_client import Answer, Call

OPAQUE = {
    "asset": ("url", "size_bytes"),
    "photography_style": ("preview_image_urls",),
    "background": ("card_image_url", "description"),
    "pose": ("card_image_url", "description"),
    "fashion_model": ("card_image_url",),
}
"""By kind: what only the service can know. It must stay as it was first seen."""
TERMINAL = ("completed", "failed")
LISTED = tuple(kind for kind in COLLECTIONS if kind != "upload")


def shown(resource: Json) -> Json:
    """Return a resource as the model knows it: without what is opaque, and without the words of errors."""
    kind = resource["object"]
    known = {name: value for name, value in resource.items() if name not in OPAQUE.get(kind, ())}
    if kind == "upload":
        upload = known.pop("upload")
        known |= {"method": upload["method"], "expires_at": upload["expires_at"]}
    if kind == "team":
        known["credential"] = {name: value for name, value in known["credential"].items() if name != "prefix"}
    if kind == "asset_deletion":
        known["reassigned_primary_product_ids"] = sorted(known["reassigned_primary_product_ids"])
        known["deleted_product_ids"] = sorted(known["deleted_product_ids"])
    if kind == "operation":
        known["error"] = _without_message(known["error"])
    if kind == "generation":
        known["outputs"] = [{**output, "error": _without_message(output["error"])} for output in known["outputs"]]
    return known


def _without_message(error: Json | None) -> Json | None:
    if error is None:
        return None
    assert error["message"]
    return {name: value for name, value in error.items() if name != "message"}


def opaque(resource: Json) -> Json:
    """Return the rest of a resource."""
    return {name: resource[name] for name in OPAQUE.get(resource["object"], ())}


def observe(client: SandboxClient, keys: Iterable[str]) -> list[dict[str, list[Json]]]:
    """Return everything that the Team of each key owns, by kind, and the Team itself."""
    paths = {kind: f"/{COLLECTIONS[kind]}?limit=100" for kind in LISTED}
    paths |= {kind: f"{paths[kind]}&scope=team" for kind in INGREDIENTS} | {"team": "/team"}
    answers = iter(client.together(*(Call("GET", path, key=key) for key in keys for path in paths.values())))
    return [{kind: _items(client, key, kind, next(answers)) for kind in paths} for key in keys]


def _items(client: SandboxClient, key: str, kind: str, answer: Answer) -> list[Json]:
    """Return what was listed; a list of more than one page is asked for once more, page by page."""
    assert answer.status == 200, answer.body
    found = answer.json
    if kind == "team":
        return [found]
    if not found["page"]["has_more"]:
        return list(found["data"])
    return client.items(f"/{COLLECTIONS[kind]}{'?scope=team' if kind in INGREDIENTS else ''}", key)


def check_invariants(seen: dict[str, list[Json]], granted: int, reserved: int) -> None:
    """Hold what a Team can see against what is always true of it (sections 1 to 4)."""
    (team,) = seen["team"]
    work, made = seen["operation"] + seen["generation"], set[str]()
    unfinished = [one for one in work if one["status"] not in TERMINAL]
    set_aside = sum(one["credits"]["reserved"] for one in unfinished)
    charged = sum(one["credits"]["charged"] for one in work if one["status"] in TERMINAL)
    assert granted == team["credits"] + set_aside + charged, "Credits were lost or found"
    assert reserved == set_aside
    assert len(unfinished) == team["capabilities"]["api_concurrency"]["used"]
    assert not [one for one in work if one["status"] == "failed" and one["credits"]["charged"]]
    for operation in seen["operation"]:
        made |= _made_by(operation, operation["result"])
    for generation in seen["generation"]:
        for output in generation["outputs"]:
            made |= _made_by(output, output["asset"])
        statuses = {output["status"] for output in generation["outputs"]}
        is_over = statuses <= set(TERMINAL)
        assert is_over == (generation["status"] in TERMINAL)
        assert (is_over and "completed" in statuses) == (generation["status"] == "completed")
    ingredients = [ingredient for kind in INGREDIENTS for ingredient in seen[kind]]
    pictures = [asset for asset in seen["asset"] if asset["source"] == "generation"]
    assert {thing["id"] for thing in ingredients + pictures} <= made, "what has failed, or nobody made, is there"
    alive = {asset["id"] for asset in seen["asset"]}
    for product in seen["product"]:
        assert product["primary_asset_id"] in product["asset_ids"]
        assert set(product["asset_ids"]) <= alive


def _made_by(work: Json, result: Json | None) -> set[str]:
    """Return what work has made: something by its success alone, and an error otherwise."""
    assert (result is not None) == (work["status"] == "completed")
    assert (work["error"] is not None) == (work["status"] == "failed")
    return {result["id"]} if result else set()


class EndedWork:
    """Terminal work, as it was seen first: it never changes (section 3)."""

    def __init__(self) -> None:
        self._known: dict[str, Json] = {}

    def check(self, seen: dict[str, list[Json]]) -> None:
        """Hold what is seen against what was, and remember what is new."""
        for one in seen["operation"] + seen["generation"]:
            was = self._known.get(one["id"])
            assert was is None or was == one, "terminal work has changed"
            if one["status"] in TERMINAL:
                self._known[one["id"]] = one


class KeyOutcomes:
    """What Idempotency-Keys were bound to: each has one outcome, for 24 hours (section 4, D10 to D12)."""

    def __init__(self) -> None:
        self._bound: dict[tuple[str, ...], tuple[int, Answer]] = {}

    def check(self, scope: tuple[str, ...], answer: Answer, now: int) -> None:
        """Hold an answer against what was told under the same key: what binds a key must be told again, to the byte."""
        if answer.status >= 300 and answer.status != 402:
            return
        bound_at, first = self._bound.get(scope, (now - KEY_RETENTION, answer))
        if now < bound_at + KEY_RETENTION:
            again = (answer.status, answer.raw_headers, answer.body)
            assert (first.status, first.raw_headers, first.body) == again, "a key has two outcomes"
            return
        # The first answer may have been lost: what is told later says when it was.
        text = answer.json.get("updated_at") or answer.json.get("created_at")
        self._bound[scope] = (instant_of(text) if text else now, answer)


def check_memory(sandbox: Sandbox, alive: set[str]) -> None:
    """What is counted is what is held, and what is held is needed: by what is alive, or by unfinished work.

    `alive` are the ids of Assets, ingredients and of sessions that wait with their bytes.
    """
    images, store = sandbox.images, sandbox.store
    contents = {id(picture.content): picture.content for picture in images.pictures.values()}
    held = sum(len(content.data or b"") for content in contents.values())
    assert held == images.held_bytes
    needed = [key for key in images.pictures if key.partition(".")[0] in alive]
    assert {key.partition(".")[0] for key in needed} == alive
    for operation in store.operations.items.values():
        needed += operation.outcome.source_keys if operation.status not in TERMINAL else ()
    for generation in store.generations.items.values():
        for planned, output in zip(generation.plan, generation.outputs, strict=True):
            needed += planned.picture.inputs if output.status not in TERMINAL else ()
    reached: set[str] = set()
    while needed:
        key = needed.pop()
        recipe: Any = images.pictures[key].recipe
        if key not in reached and recipe is not None:
            needed += recipe.inputs
        reached.add(key)
    assert reached == set(images.pictures), "pictures are held that nobody needs"
