"""The model's rules of creative work: what is admitted, what it costs, what becomes of it, and when.

All is decided at admission. `settle` then lets time pass, event by event.
"""

from collections.abc import Callable

from tests.model.arithmetic import (
    AUTHORING_PRICE,
    AUTHORING_TIME,
    FIRST_OUTPUT,
    NEXT_OUTPUT,
    QUEUE,
    SECOND,
    Json,
    generation_charge,
    generation_price,
    size_of,
    subjects,
)
from tests.model.model_state import Identify, Refusal, State

ResultOf = Callable[[str, str, int], str]
"""Tells the id of what unfinished work has made: kind (Operation or Generation), id, slot."""

STALLED_POLL = 5 * SECOND  # D47
RETRYABLE = {
    "processing_failed": True,
    "timed_out": True,
    "content_rejected": False,
}  # D31


# Admission -----------------------------------------------------------------------------------------------------------


def check_places(state: State, team: str) -> None:
    """Let in no more unfinished work than the budget has places (section 8, D40). Raises Refusal."""
    if len(state.work_of(team)) < state.teams[team]["limit"]:
        return
    raise Refusal("concurrency_limit_reached", wait=state.time_to_next_place(team))


def reserve(state: State, team: str, price: int) -> None:
    if state.teams[team]["credits"] < price:
        raise Refusal("insufficient_credits")
    state.check_before_commit(team)
    state.teams[team]["credits"] -= price


def author(
    state: State,
    team: str,
    kind: str,
    target: str | None,
    meaning: Json,
    identify: Identify,
) -> Json:
    sources = meaning["asset_ids"] if "asset_ids" in meaning else [meaning["asset_id"]]
    state.refer("asset", sources, team)
    check_places(state, team)
    price = AUTHORING_PRICE[kind]
    reserve(state, team, price)

    work_type = f"{kind}.{'create' if target is None else 'update'}"
    fate = state.count_match("work", work_type, team)
    charge = price
    if kind == "background":
        charge = (
            price if fate.get("scene", state.scenes[sources[0]]) == "foreground" else 0
        )  # D30
    ends_at = (
        state.now
        + QUEUE
        + (fate["duration"] * SECOND if "duration" in fate else AUTHORING_TIME[kind])
    )
    operation_id = identify("operation")
    state.unfinished[operation_id] = {
        "kind": "operation",
        "order": state.next_order(),
        "starts_at": state.now + QUEUE,
        "ends": [None if fate.get("stall") else ends_at],
        "failures": [fate.get("fail")],
        "price": price,
        "charge": 0 if fate.get("fail") else charge,
        "makes": kind,
        "target": target,
        "sources": sources,
    }
    fields = {
        "type": work_type,
        "target": None if target is None else {"object": kind, "id": target},  # D27
        "result": None,
        "error": None,
        **_new_work(state, meaning, price),
    }
    return state.add("operation", operation_id, team, fields)


def _new_work(state: State, meaning: Json, price: int) -> Json:
    return {
        "status": "queued",
        "request": meaning,
        "credits": {"reserved": price, "charged": None},  # D29
        "created_at": state.time(),
        "updated_at": state.time(),
        "started_at": None,
        "finished_at": None,
    }


def generate(
    state: State, credential: Json, workflow: str, meaning: Json, identify: Identify
) -> Json:
    team = credential["team"]
    resolved, (width, height) = _PLANS[workflow](state, team, meaning)
    check_places(state, team)
    price = generation_price(workflow, meaning)
    reserve(state, team, price)

    fate = state.count_match("work", workflow, team)
    slots = meaning.get("image_count", 1)
    slower = (
        2
        if "4k" in (meaning.get("resolution"), meaning.get("target_resolution"))
        else 1
    )
    starts_at = state.now + QUEUE
    ends = [
        starts_at + (FIRST_OUTPUT + slot * NEXT_OUTPUT) * slower
        for slot in range(slots)
    ]
    if "duration" in fate:
        assert slots == 1, "how the slots of slow work are spread is nobody's business"
        ends = [starts_at + fate["duration"] * SECOND]
    failures = [
        fate.get("fail") or fate.get("outputs", {}).get(str(slot + 1))
        for slot in range(slots)
    ]
    generation_id = identify("generation")
    state.unfinished[generation_id] = {
        "kind": "generation",
        "order": state.next_order(),
        "starts_at": starts_at,
        "ends": [None] * slots if fate.get("stall") else ends,
        "failures": failures,
        "price": price,
        "charge": generation_charge(workflow, meaning, failures.count(None)),
        "picture": {
            "format": meaning["output_format"],
            "width": width,
            "height": height,
        },
    }
    fields = {
        "workflow": workflow,
        "initiated_by": {
            "object": "api_credential",
            "id": credential["id"],
            "name": credential["name"],
        },  # D36
        "resolved_asset_ids": resolved,
        "output_summary": {
            "total": slots,
            "pending": slots,
            "processing": 0,
            "completed": 0,
            "failed": 0,
        },
        "outputs": [
            {"status": "pending", "asset": None, "error": None} for _ in range(slots)
        ],
        **_new_work(state, meaning, price),
    }
    return state.add("generation", generation_id, team, fields)


def _plan_photography(
    state: State, team: str, meaning: Json
) -> tuple[list[str], tuple[int, int]]:
    products = state.refer("product", meaning["product_ids"], team)
    state.refer("asset", meaning["asset_ids"], team)
    background, model = meaning["background"], meaning["fashion_model"]
    state.refer("photography_style", _named(meaning, "photography_style_id"), team)
    state.refer("background", _named(background, "background_id"), team)
    state.refer(
        "fashion_model",
        _named(model, "fashion_model_id") or model.get("fashion_model_ids", []),
        team,
    )
    for pose in state.refer("pose", _named(meaning, "pose_id"), team):
        distances = pose["supported_camera_distances"]
        if meaning.get("camera_distance", distances[0]) not in distances:
            raise Refusal("invalid_input")  # D34
    return subjects(products, meaning["asset_ids"]), _output_size(meaning)


def _named(where: Json, name: str) -> list[str]:
    return [where[name]] if name in where else []


def _plan_edit(
    state: State, team: str, meaning: Json
) -> tuple[list[str], tuple[int, int]]:
    state.refer("asset", meaning["asset_ids"], team)
    return meaning["asset_ids"], _output_size(meaning)


def _plan_upscale(
    state: State, team: str, meaning: Json
) -> tuple[list[str], tuple[int, int]]:
    (asset,) = state.refer("asset", [meaning["asset_id"]], team)
    pixels = size_of(asset["width"], asset["height"], meaning["target_resolution"])
    if max(asset["width"], asset["height"]) >= max(pixels):
        raise Refusal("already_at_target_resolution")
    return [meaning["asset_id"]], pixels


def _output_size(meaning: Json) -> tuple[int, int]:
    width, height = meaning["aspect_ratio"].split(":")
    return size_of(int(width), int(height), meaning["resolution"])


_PLANS = {
    "product_photography": _plan_photography,
    "edit_images": _plan_edit,
    "upscale": _plan_upscale,
}


# Time ----------------------------------------------------------------------------------------------------------------


def settle(state: State, until: int, result_of: ResultOf) -> None:
    """Let time pass up to an instant: what falls due happens, each at its own instant, in the order it was planned."""
    while True:
        events: list[tuple[int, int, Json | str, int]] = [
            (timed["at"], timed["order"], timed, 0) for timed in state.timeline
        ]
        events += [
            (instant, work["order"], work_id, slot)
            for work_id, work in state.unfinished.items()
            for slot, instant in _next_events(state, work_id, work)
        ]
        instant, _, what, slot = min(
            events, key=lambda event: event[:2], default=(until + 1, 0, "", 0)
        )
        if instant > until:
            break
        state.now = instant
        if not isinstance(what, str):
            state.timeline.remove(what)
            _change(state, what["whose"], what["set"])
        elif slot < 0:
            _start(state, what)
        elif state.unfinished[what]["kind"] == "operation":
            _finish_operation(state, what, result_of)
        else:
            _finish_slot(state, what, slot, result_of)
    state.now = until


def _next_events(state: State, work_id: str, work: Json) -> list[tuple[int, int]]:
    thing = state.things[work["kind"]][work_id]
    if thing["status"] == "queued":
        return [(-1, work["starts_at"])]
    outputs = thing.get("outputs", [thing])
    return [
        (slot, instant)
        for slot, (instant, output) in enumerate(
            zip(work["ends"], outputs, strict=True)
        )
        if instant is not None and output["status"] == "processing"
    ]


def time_to_change(state: State, work_id: str) -> int | None:
    """Return what a poll of work is asked to wait: the time to its next change (D42, D47); None once it is terminal."""
    work = state.unfinished.get(work_id)
    if work is None:
        return None
    instants = [instant for _, instant in _next_events(state, work_id, work)]
    return min(instants) - state.now if instants else STALLED_POLL


def _change(state: State, whose: str | None, change: Json) -> None:
    """Make a change of a scenario's timeline; what one that is limited to a Team names is that Team's."""
    if "admission" in change:
        is_paused = change["admission"] == "paused"
        state.pauses[whose] = {
            "is_paused": is_paused,
            "retry_after": change.get("retry_after", 5),
        }
    elif "credential" in change:
        state.credentials[change["credential"]]["state"] = change["state"]
    else:
        change_team(state.teams[change["team"]], change)


def change_team(team: Json, change: Json) -> None:
    if "credits" in change:
        team["granted"] += change["credits"] - team["credits"]
        team["credits"] = change["credits"]
    team["limit"] = change.get("concurrency_limit", team["limit"])
    if "subscription" in change:
        team["subscription"] = change["subscription"] == "active"


def _start(state: State, work_id: str) -> None:
    thing = state.things[state.unfinished[work_id]["kind"]][work_id]
    thing.update(status="processing", started_at=state.time(), updated_at=state.time())
    for output in thing.get("outputs", []):
        output["status"] = "processing"
    _summarize(thing)


def _summarize(thing: Json) -> None:
    if "outputs" in thing:
        statuses = [output["status"] for output in thing["outputs"]]
        counts = {
            status: statuses.count(status)
            for status in ("pending", "processing", "completed", "failed")
        }
        thing["output_summary"] = {"total": len(statuses), **counts}


def _finish(state: State, work_id: str, status: str) -> None:
    work = state.unfinished.pop(work_id)
    thing = state.things[work["kind"]][work_id]
    thing.update(status=status, finished_at=state.time(), updated_at=state.time())
    thing["credits"] = {"reserved": work["price"], "charged": work["charge"]}
    team = state.owner[work_id]
    assert team is not None
    state.teams[team]["credits"] += work["price"] - work["charge"]


def _error(code: str) -> Json:
    return {"code": code, "retryable": RETRYABLE[code]}


def _finish_operation(state: State, work_id: str, result_of: ResultOf) -> None:
    work, operation = state.unfinished[work_id], state.things["operation"][work_id]
    (failure,) = work["failures"]
    if failure:
        operation["error"] = _error(
            failure
        )  # section 3, rule 3: everything else stays as it was
    else:
        operation["result"] = {
            "object": work["makes"],
            "id": _commit(state, work_id, result_of),
        }
    _finish(state, work_id, "failed" if failure else "completed")


def _commit(state: State, work_id: str, result_of: ResultOf) -> str:
    work, team = state.unfinished[work_id], state.owner[work_id]
    assert team is not None
    metadata = {
        name: value
        for name, value in state.things["operation"][work_id]["request"].items()
        if name not in ("asset_id", "asset_ids")
    }
    if work["target"] is not None:
        ingredient = state.things[work["makes"]][work["target"]]
        ingredient.update(
            metadata, source_asset_ids=work["sources"], updated_at=state.time()
        )
        state.versions[work["target"]] += 1
        return str(work["target"])
    identifier = result_of("operation", work_id, 0)
    times = {"created_at": state.time(), "updated_at": state.time()}
    fields = {"scope": "team", "source_asset_ids": work["sources"], **times, **metadata}
    state.add(work["makes"], identifier, team, fields)
    state.versions[identifier] = 0
    return identifier


def _finish_slot(state: State, work_id: str, slot: int, result_of: ResultOf) -> None:
    work, generation = state.unfinished[work_id], state.things["generation"][work_id]
    failure, output = work["failures"][slot], generation["outputs"][slot]
    if failure:
        output.update(status="failed", error=_error(failure))
    else:
        asset_id = result_of("generation", work_id, slot)
        output.update(status="completed", asset={"id": asset_id})
        add_asset(
            state,
            state.owner[work_id] or "",
            asset_id,
            work_id,
            "clean",
            **work["picture"],
        )
    _summarize(generation)
    generation["updated_at"] = state.time()
    statuses = {output["status"] for output in generation["outputs"]}
    if statuses <= {"completed", "failed"}:  # section 3, rule 1
        _finish(state, work_id, "completed" if "completed" in statuses else "failed")


def add_asset(
    state: State,
    team: str,
    asset_id: str,
    generation_id: str | None,
    scene: str,
    **picture: int | str,
) -> Json:
    state.scenes[asset_id] = scene
    fields = {
        "media_type": "image",
        "source": "upload" if generation_id is None else "generation",
        "source_generation_id": generation_id,
        **picture,
        "created_at": state.time(),
    }
    return state.add("asset", asset_id, team, fields)


def check_idle(state: State, identifier: str) -> None:
    """Let nothing change an ingredient whose sources are being replaced (section 3), and nobody delete an Asset that an
    unfinished Operation works from (D23). Raises Refusal.
    """
    works = state.unfinished.items()
    active = [
        name
        for name, work in works
        if identifier in (work.get("target"), *work.get("sources", ()))
    ]
    if active:
        raise Refusal("resource_operation_in_progress", active=active)
