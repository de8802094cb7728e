"""The model's rules of creative work: what is admitted, what it costs, when it ends.

All is decided at admission. `settle` then lets time pass, event by event.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

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
"""Returns the id of what unfinished work has made.

Its arguments are the kind of work (`operation` or `generation`), its id, and the slot.
"""

STALLED_POLL = 5 * SECOND  # D47
RETRYABLE = {
    "processing_failed": True,
    "timed_out": True,
    "content_rejected": False,
}  # D31
TERMINAL = {"completed", "failed"}


# Admission ----------------------------------------------------------------------------


def check_places(state: State, team: str) -> None:
    """Refuse more unfinished work than the budget has places (section 8, D40).

    Raises Refusal.
    """
    if len(state.work_of(team)) >= state.teams[team]["limit"]:
        wait = state.time_to_next_place(team)
        raise Refusal("concurrency_limit_reached", wait=wait)


def reserve(
    state: State,
    team: str,
    price: int,
) -> None:
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
    """Admit the making of an ingredient, or the replacement of the target's sources."""
    sources = sources_of(meaning)
    state.refer("asset", sources, team)
    check_places(state, team)
    price = AUTHORING_PRICE[kind]
    reserve(state, team, price)

    work_type = f"{kind}.create"
    shown_target = None
    if target is not None:
        work_type = f"{kind}.update"
        shown_target = {"object": kind, "id": target}  # D27
    fate = state.count_match("work", work_type, team)
    charge = price
    if kind == "background":
        scene = fate.get("scene", state.scenes[sources[0]])
        charge = price if scene == "foreground" else 0  # D30
    if fate.get("fail"):
        charge = 0
    operation_id = identify("operation")
    state.unfinished[operation_id] = {
        "kind": "operation",
        "order": state.next_order(),
        "starts_at": state.now + QUEUE,
        "ends": [_end_of_authoring(state, kind, fate)],
        "failures": [fate.get("fail")],
        "price": price,
        "charge": charge,
        "makes": kind,
        "target": target,
        "sources": sources,
    }
    fields = {
        "type": work_type,
        "target": shown_target,
        "result": None,
        "error": None,
        **_queued(state, meaning, price),
    }
    return state.add("operation", operation_id, team, fields)


def sources_of(meaning: Json) -> list[str]:
    """Return the Assets that an ingredient is made from."""
    if "asset_ids" in meaning:
        return list(meaning["asset_ids"])
    return [meaning["asset_id"]]


def _end_of_authoring(
    state: State,
    kind: str,
    fate: Json,
) -> int | None:
    if fate.get("stall"):
        return None
    duration = AUTHORING_TIME[kind]
    if "duration" in fate:
        duration = fate["duration"] * SECOND
    return state.now + QUEUE + duration


def _queued(
    state: State,
    meaning: Json,
    price: int,
) -> Json:
    """Return what all new work has in common."""
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
    state: State,
    credential: Json,
    workflow: str,
    meaning: Json,
    identify: Identify,
) -> Json:
    """Admit a Generation."""
    team = credential["team"]
    plan = _PLANS[workflow](state, team, meaning)
    check_places(state, team)
    price = generation_price(workflow, meaning)
    reserve(state, team, price)

    fate = state.count_match("work", workflow, team)
    slots = int(meaning.get("image_count", 1))
    failures = [_failure_of_slot(fate, slot) for slot in range(slots)]
    charge = generation_charge(workflow, meaning, completed=failures.count(None))
    generation_id = identify("generation")
    state.unfinished[generation_id] = {
        "kind": "generation",
        "order": state.next_order(),
        "starts_at": state.now + QUEUE,
        "ends": _ends_of_slots(state, fate, meaning, slots),
        "failures": failures,
        "price": price,
        "charge": charge,
        "picture": {
            "format": meaning["output_format"],
            "width": plan.width,
            "height": plan.height,
        },
    }
    outputs = [
        {"status": "pending", "asset": None, "error": None} for _slot in range(slots)
    ]
    fields = {
        "workflow": workflow,
        "initiated_by": {
            "object": "api_credential",
            "id": credential["id"],
            "name": credential["name"],
        },  # D36
        "resolved_asset_ids": plan.asset_ids,
        "output_summary": _summary_of(outputs),
        "outputs": outputs,
        **_queued(state, meaning, price),
    }
    return state.add("generation", generation_id, team, fields)


def _failure_of_slot(fate: Json, slot: int) -> str | None:
    code: str | None = fate.get("fail")
    if code is None:
        code = fate.get("outputs", {}).get(str(slot + 1))
    return code


def _ends_of_slots(
    state: State,
    fate: Json,
    meaning: Json,
    slots: int,
) -> list[int | None]:
    """Return when each slot ends; None for one that never does."""
    if fate.get("stall"):
        return [None] * slots
    starts_at: int = state.now + QUEUE
    if "duration" in fate:
        assert slots == 1, "how the slots of slow work are spread is nobody's business"
        return [starts_at + fate["duration"] * SECOND]
    factor = 1
    if "4k" in (meaning.get("resolution"), meaning.get("target_resolution")):
        factor = 2
    return [
        starts_at + (FIRST_OUTPUT + slot * NEXT_OUTPUT) * factor
        for slot in range(slots)
    ]


# Plans of Generations -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plan:
    """What a Generation works from, and the pixels of its outputs."""

    asset_ids: list[str]
    width: int
    height: int


def _plan_photography(
    state: State,
    team: str,
    meaning: Json,
) -> Plan:
    products = state.refer("product", meaning["product_ids"], team)
    state.refer("asset", meaning["asset_ids"], team)
    style_ids = _ids_under(meaning, "photography_style_id")
    state.refer("photography_style", style_ids, team)
    background_ids = _ids_under(meaning["background"], "background_id")
    state.refer("background", background_ids, team)
    model = meaning["fashion_model"]
    model_ids = _ids_under(model, "fashion_model_id")
    state.refer("fashion_model", model_ids or model.get("fashion_model_ids", []), team)
    for pose in state.refer("pose", _ids_under(meaning, "pose_id"), team):
        distances = pose["supported_camera_distances"]
        if meaning.get("camera_distance", distances[0]) not in distances:
            raise Refusal("invalid_input")  # D34
    asset_ids = subjects(products, meaning["asset_ids"])
    return Plan(asset_ids, *_output_size(meaning))


def _ids_under(fields: Json, name: str) -> list[str]:
    if name in fields:
        return [fields[name]]
    return []


def _plan_edit(
    state: State,
    team: str,
    meaning: Json,
) -> Plan:
    state.refer("asset", meaning["asset_ids"], team)
    return Plan(meaning["asset_ids"], *_output_size(meaning))


def _plan_upscale(
    state: State,
    team: str,
    meaning: Json,
) -> Plan:
    (asset,) = state.refer("asset", [meaning["asset_id"]], team)
    pixels = size_of(asset["width"], asset["height"], meaning["target_resolution"])
    if max(asset["width"], asset["height"]) >= max(pixels):
        raise Refusal("already_at_target_resolution")
    return Plan([meaning["asset_id"]], *pixels)


def _output_size(meaning: Json) -> tuple[int, int]:
    width, height = meaning["aspect_ratio"].split(":")
    return size_of(int(width), int(height), meaning["resolution"])


_PLANS: dict[str, Callable[[State, str, Json], Plan]] = {
    "product_photography": _plan_photography,
    "edit_images": _plan_edit,
    "upscale": _plan_upscale,
}


# Time ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Event:
    """Something that falls due. At one instant, events happen by their `order`."""

    instant: int
    order: int
    happen: Callable[[], None]


def settle(
    state: State,
    until: int,
    result_of: ResultOf,
) -> None:
    """Let time pass up to an instant, in milliseconds.

    What falls due happens, each at its own instant, in the order it was planned.
    """
    while True:
        events = [*_changes_to_come(state), *_work_to_come(state, result_of)]
        due = [event for event in events if event.instant <= until]
        if not due:
            break
        event = min(due, key=lambda event: (event.instant, event.order))
        state.now = event.instant
        event.happen()
    state.now = until


def _changes_to_come(state: State) -> Iterator[Event]:
    for timed in state.timeline:
        happen = partial(_make_change, state, timed)
        yield Event(timed["at"], timed["order"], happen)


def _work_to_come(state: State, result_of: ResultOf) -> Iterator[Event]:
    for work_id, work in state.unfinished.items():
        if _is_queued(state, work_id):
            start = partial(_start, state, work_id)
            yield Event(work["starts_at"], work["order"], start)
        for slot in _open_slots(state, work_id):
            finish = partial(_finish_slot, state, work_id, slot, result_of)
            yield Event(work["ends"][slot], work["order"], finish)


def _is_queued(state: State, work_id: str) -> bool:
    return bool(_resource_of(state, work_id)["status"] == "queued")


def _open_slots(state: State, work_id: str) -> list[int]:
    """Return the slots that are being processed, and end at some time.

    An Operation is its own only slot.
    """
    ends = state.unfinished[work_id]["ends"]
    resource = _resource_of(state, work_id)
    outputs = resource.get("outputs", [resource])
    return [
        slot
        for slot, output in enumerate(outputs)
        if output["status"] == "processing" and ends[slot] is not None
    ]


def _resource_of(state: State, work_id: str) -> Json:
    """Return the Operation or Generation that is unfinished work."""
    return state.resources[state.unfinished[work_id]["kind"]][work_id]


def time_to_change(state: State, work_id: str) -> int | None:
    """Return the time to the next change of work, which a poll is asked to wait.

    None once the work is terminal (D42, D47).
    """
    work = state.unfinished.get(work_id)
    if work is None:
        return None
    if _is_queued(state, work_id):
        return int(work["starts_at"] - state.now)
    ends = [work["ends"][slot] for slot in _open_slots(state, work_id)]
    if not ends:
        return STALLED_POLL
    return int(min(ends) - state.now)


# Changes from outside -----------------------------------------------------------------


def _make_change(state: State, timed: Json) -> None:
    """Make a change of a scenario's timeline, everyone's or a Team's."""
    state.timeline.remove(timed)
    change = timed["set"]
    if "admission" in change:
        state.pauses[timed["whose"]] = {
            "is_paused": change["admission"] == "paused",
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


# The course of work -------------------------------------------------------------------


def _start(state: State, work_id: str) -> None:
    resource = _resource_of(state, work_id)
    resource["status"] = "processing"
    resource["started_at"] = state.time()
    resource["updated_at"] = state.time()
    for output in resource.get("outputs", []):
        output["status"] = "processing"
    if "outputs" in resource:
        resource["output_summary"] = _summary_of(resource["outputs"])


def _summary_of(outputs: list[Json]) -> Json:
    statuses = [output["status"] for output in outputs]
    return {
        "total": len(statuses),
        "pending": statuses.count("pending"),
        "processing": statuses.count("processing"),
        "completed": statuses.count("completed"),
        "failed": statuses.count("failed"),
    }


def _finish_slot(
    state: State,
    work_id: str,
    slot: int,
    result_of: ResultOf,
) -> None:
    if state.unfinished[work_id]["kind"] == "operation":
        _finish_operation(state, work_id, result_of)
    else:
        _finish_output(state, work_id, slot, result_of)


def _finish_operation(
    state: State,
    work_id: str,
    result_of: ResultOf,
) -> None:
    work = state.unfinished[work_id]
    operation = state.resources["operation"][work_id]
    (failure,) = work["failures"]
    if failure:  # section 3, rule 3: everything else stays as it was
        operation["error"] = _error(failure)
        _finish(state, work_id, "failed")
        return
    ingredient_id = _commit(state, work_id, result_of)
    operation["result"] = {"object": work["makes"], "id": ingredient_id}
    _finish(state, work_id, "completed")


def _commit(
    state: State,
    work_id: str,
    result_of: ResultOf,
) -> str:
    """Make the ingredient of an Operation, or change its target; return its id."""
    work = state.unfinished[work_id]
    metadata = dict(state.resources["operation"][work_id]["request"])
    metadata.pop("asset_id", None)
    metadata.pop("asset_ids", None)
    fields = {
        "source_asset_ids": work["sources"],
        "updated_at": state.time(),
        **metadata,
    }
    target: str | None = work["target"]
    if target is not None:
        state.resources[work["makes"]][target].update(fields)
        state.versions[target] += 1
        return target
    ingredient_id = result_of("operation", work_id, 0)
    fields["scope"] = "team"
    fields["created_at"] = state.time()
    state.add(work["makes"], ingredient_id, _team_of(state, work_id), fields)
    state.versions[ingredient_id] = 0
    return ingredient_id


def _finish_output(
    state: State,
    work_id: str,
    slot: int,
    result_of: ResultOf,
) -> None:
    work = state.unfinished[work_id]
    generation = state.resources["generation"][work_id]
    output = generation["outputs"][slot]
    failure = work["failures"][slot]
    if failure:
        output["status"] = "failed"
        output["error"] = _error(failure)
    else:
        asset_id = result_of("generation", work_id, slot)
        output["status"] = "completed"
        output["asset"] = {"id": asset_id}
        team = _team_of(state, work_id)
        add_asset(state, team, asset_id, work_id, "clean", work["picture"])
    generation["output_summary"] = _summary_of(generation["outputs"])
    generation["updated_at"] = state.time()
    statuses = {output["status"] for output in generation["outputs"]}
    if not statuses <= TERMINAL:
        return
    if "completed" in statuses:  # section 3, rule 1
        _finish(state, work_id, "completed")
    else:
        _finish(state, work_id, "failed")


def _finish(
    state: State,
    work_id: str,
    status: str,
) -> None:
    resource = _resource_of(state, work_id)
    work = state.unfinished.pop(work_id)
    resource["status"] = status
    resource["finished_at"] = state.time()
    resource["updated_at"] = state.time()
    resource["credits"] = {"reserved": work["price"], "charged": work["charge"]}
    team = state.teams[_team_of(state, work_id)]
    team["credits"] += work["price"] - work["charge"]


def _team_of(state: State, work_id: str) -> str:
    team = state.owner[work_id]
    assert team is not None
    return team


def _error(code: str) -> Json:
    return {"code": code, "retryable": RETRYABLE[code]}


def add_asset(
    state: State,
    team: str,
    asset_id: str,
    generation_id: str | None,
    scene: str,
    picture: Json,
) -> Json:
    """Add an Asset: of a Generation, or uploaded where there is none.

    `picture` has its format, width and height.
    """
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
    """Refuse a change of what unfinished Operations use.

    Nothing changes an ingredient whose sources are being replaced (section 3), and
    nobody deletes an Asset that an Operation works from (D23). Raises Refusal.
    """
    active = [
        work_id
        for work_id, work in state.unfinished.items()
        if identifier == work.get("target") or identifier in work.get("sources", ())
    ]
    if active:
        raise Refusal("resource_operation_in_progress", active=active)
