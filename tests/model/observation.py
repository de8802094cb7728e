"""The emulator as its Teams see it, in the model's form, and invariants of that.

The invariants hold whatever the model says.
"""

from collections.abc import Iterable

from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from tests.model.arithmetic import Json
from tests.model.creative_work import TERMINAL
from tests.model.meanings import COLLECTIONS, INGREDIENTS
from tests.support.emulator_client import Answer, Call
from tests.support.emulator_under_test import EmulatorUnderTest

OPAQUE = {
    "asset": ("url", "size_bytes"),
    "photography_style": ("preview_image_urls",),
    "background": ("card_image_url", "description"),
    "pose": ("card_image_url", "description"),
    "fashion_model": ("card_image_url",),
}
"""Fields of each kind that only the service can know.

They must stay as they were first seen.
"""
LISTED = tuple(kind for kind in COLLECTIONS if kind != "upload")


def modelled(resource: Json) -> Json:
    """Return a resource as the model knows it.

    That is without what is opaque, and without the words of errors.
    """
    kind = resource["object"]
    fields = without(resource, *OPAQUE.get(kind, ()))
    match kind:
        case "upload":
            upload = fields.pop("upload")
            fields["method"] = upload["method"]
            fields["expires_at"] = upload["expires_at"]
        case "team":
            fields["credential"] = without(fields["credential"], "prefix")
        case "asset_deletion":
            for name in ("reassigned_primary_product_ids", "deleted_product_ids"):
                fields[name] = sorted(fields[name])
        case "operation":
            fields["error"] = _without_message(fields["error"])
        case "generation":
            outputs = fields["outputs"]
            fields["outputs"] = [_modelled_output(output) for output in outputs]
    return fields


def without(fields: Json, *names: str) -> Json:
    return {name: value for name, value in fields.items() if name not in names}


def _modelled_output(output: Json) -> Json:
    return {**output, "error": _without_message(output["error"])}


def _without_message(error: Json | None) -> Json | None:
    if error is None:
        return None
    assert error["message"]
    return without(error, "message")


def opaque(resource: Json) -> Json:
    return {name: resource[name] for name in OPAQUE.get(resource["object"], ())}


# What a Team can see ------------------------------------------------------------------


def observe(
    client: EmulatorUnderTest,
    keys: Iterable[str],
) -> list[dict[str, list[Json]]]:
    """Return what the Teams of some keys can see, by kind; all is read at once."""
    calls: list[Call] = []
    for key in keys:
        calls.append(Call("GET", "/team", key=key))
        calls += [Call("GET", _first_page(kind), key=key) for kind in LISTED]
    answers = iter(client.together(*calls))
    observed: list[dict[str, list[Json]]] = []
    for key in keys:
        seen = {"team": [_body_of(next(answers))]}
        for kind in LISTED:
            seen[kind] = _items(client, key, kind, next(answers))
        observed.append(seen)
    return observed


def _first_page(kind: str) -> str:
    path = f"/{COLLECTIONS[kind]}?limit=100"
    if kind in INGREDIENTS:
        return f"{path}&scope=team"
    return path


def _body_of(answer: Answer) -> Json:
    assert answer.status == 200, answer.body
    return dict(answer.json)


def _items(
    client: EmulatorUnderTest,
    key: str,
    kind: str,
    answer: Answer,
) -> list[Json]:
    """Return what was listed; more than one page is asked for again, page by page."""
    body = _body_of(answer)
    if not body["page"]["has_more"]:
        return list(body["data"])
    path = f"/{COLLECTIONS[kind]}"
    if kind in INGREDIENTS:
        path += "?scope=team"
    return client.items(path, key)


# Invariants ---------------------------------------------------------------------------


def check_invariants(
    seen: dict[str, list[Json]],
    granted: int,
    reserved: int,
) -> None:
    (team,) = seen["team"]
    work = seen["operation"] + seen["generation"]
    _check_credits(team, work, granted, reserved)
    _check_places(team, work)
    for generation in seen["generation"]:
        _check_outputs(generation)
    _check_origins(seen)
    alive = {asset["id"] for asset in seen["asset"]}
    for product in seen["product"]:
        assert product["primary_asset_id"] in product["asset_ids"]
        assert set(product["asset_ids"]) <= alive


def _check_credits(
    team: Json,
    work: list[Json],
    granted: int,
    reserved: int,
) -> None:
    """No Credits are lost, and no failed work is charged."""
    set_aside = 0
    charged = 0
    for resource in work:
        amounts = resource["credits"]
        if resource["status"] in TERMINAL:
            charged += amounts["charged"]
        else:
            set_aside += amounts["reserved"]
        if resource["status"] == "failed":
            assert amounts["charged"] == 0
    assert reserved == set_aside
    assert team["credits"] + set_aside + charged == granted


def _check_places(team: Json, work: list[Json]) -> None:
    """Every piece of unfinished work takes one place of the budget."""
    statuses = [resource["status"] for resource in work]
    unfinished = [status for status in statuses if status not in TERMINAL]
    budget = team["capabilities"]["api_concurrency"]
    assert budget["used"] == len(unfinished)


def _check_outputs(generation: Json) -> None:
    """A Generation ends with its last output, and completes if one of them has."""
    statuses = {output["status"] for output in generation["outputs"]}
    is_over = statuses <= TERMINAL
    has_completed = is_over and "completed" in statuses
    status = generation["status"]
    assert (status in TERMINAL) == is_over
    assert (status == "completed") == has_completed


def _check_origins(seen: dict[str, list[Json]]) -> None:
    """What was made is the result of work that has completed."""
    results: set[str] = set()
    for operation in seen["operation"]:
        results |= _result_of(operation, operation["result"])
    for generation in seen["generation"]:
        for output in generation["outputs"]:
            results |= _result_of(output, output["asset"])
    made = {asset["id"] for asset in seen["asset"] if asset["source"] == "generation"}
    for kind in INGREDIENTS:
        made |= {ingredient["id"] for ingredient in seen[kind]}
    assert made <= results


def _result_of(work: Json, result: Json | None) -> set[str]:
    assert (result is not None) == (work["status"] == "completed")
    assert (work["error"] is not None) == (work["status"] == "failed")
    if result is None:
        return set()
    return {result["id"]}


def check_memory(
    sandbox: Sandbox,
    alive: set[str],
    sessions: set[str],
) -> None:
    """The counted bytes are those that are held, and every picture is somebody's.

    `alive` are the ids of Assets and ingredients, which all have pictures, and
    `sessions` those of Upload Sessions, which have bytes for a while.
    """
    images = sandbox.images
    contents: dict[int, bytes] = {}
    public_ids: set[str] = set()
    for name, picture in images.pictures.items():
        contents[id(picture.content)] = picture.content.data or b""
        if picture.is_public:
            identifier, _, _ = name.partition(".")
            public_ids.add(identifier)
    held_bytes = sum(len(data) for data in contents.values())
    assert images.held_bytes == held_bytes
    assert sandbox.memory.held_bytes == held_bytes
    assert public_ids - sessions == alive
