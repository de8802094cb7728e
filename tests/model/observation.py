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


Resources = dict[str, list[Json]]
"""Resources by kind."""


def modelled(resource: Json) -> Json:
    """Return a resource as the model knows it.

    That is without what is opaque, and without the words of errors.
    """
    kind = resource["object"]
    opaque_names = OPAQUE.get(kind, ())
    fields = without(resource, *opaque_names)
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
    error = _without_message(output["error"])
    return {**output, "error": error}


def _without_message(error: Json | None) -> Json | None:
    if error is None:
        return None
    assert error["message"]
    return without(error, "message")


def opaque(resource: Json) -> Json:
    names = OPAQUE.get(resource["object"], ())
    return {name: resource[name] for name in names}


# What a Team can see ------------------------------------------------------------------


def observe(
    client: EmulatorUnderTest,
    keys: Iterable[str],
) -> list[Resources]:
    """Return what the Teams of some keys can see, by kind; all is read at once."""
    paths = ["/team", *(_first_page(kind) for kind in LISTED)]
    calls: list[Call] = []
    for key in keys:
        calls += [Call("GET", path, key=key) for path in paths]
    answers = iter(client.together(*calls))
    observed: list[Resources] = []
    for key in keys:
        team = _body_of(next(answers))
        seen = {"team": [team]}
        for kind in LISTED:
            first_page = next(answers)
            seen[kind] = _items(client, key, kind, first_page)
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
    seen: Resources,
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


def _check_origins(seen: Resources) -> None:
    """What was made is the result of work that has completed."""
    results: set[str] = set()
    for operation in seen["operation"]:
        results |= _result_of(operation, operation["result"])
    for generation in seen["generation"]:
        for output in generation["outputs"]:
            results |= _result_of(output, output["asset"])
    made = [asset for asset in seen["asset"] if asset["source"] == "generation"]
    for kind in INGREDIENTS:
        made += seen[kind]
    made_ids = {resource["id"] for resource in made}
    assert made_ids <= results


def _result_of(work: Json, result: Json | None) -> set[str]:
    has_completed = work["status"] == "completed"
    has_failed = work["status"] == "failed"
    has_error = work["error"] is not None
    has_result = result is not None
    assert has_result == has_completed
    assert has_error == has_failed
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
        content = picture.content
        contents[id(content)] = content.data or b""
        if picture.is_public:
            identifier, _, _ = name.partition(".")
            public_ids.add(identifier)
    lengths = [len(data) for data in contents.values()]
    held_bytes = sum(lengths)
    assert images.held_bytes == held_bytes
    assert sandbox.memory.held_bytes == held_bytes
    assert public_ids - sessions == alive
