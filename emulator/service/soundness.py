"""What must hold of a sandbox as a whole, checked when one is loaded from a state file.

The reader of state files has checked that every value has its type. Here every reference must lead somewhere, states
must agree with what was decided at admission and with the events to come, and numbers must lie within their bounds: so
that nothing that happens later in the sandbox can fail. What follows from the rest (indexes, reservations, places in
budgets, who holds which picture) is rebuilt, not read.
"""

import hashlib
import math
import re
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from collections.abc import Collection as Sized
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain
from typing import Any, Generic, TypeVar

import orjson

from emulator.contract import Contract
from emulator.documents.values import LARGEST_INTEGER
from emulator.domain.idempotency import Record
from emulator.domain.intents import Intent, intent_of
from emulator.domain.ledger import LedgerError
from emulator.domain.lifecycles import TERMINAL, generation_status
from emulator.domain.pixels import LONGEST_EDGE
from emulator.domain.problems import Problem, excerpt
from emulator.domain.recipes import LONGEST_EDGE_LIMIT, Recipe
from emulator.domain.resources import (
    OPERATION_TYPES,
    Asset,
    Credential,
    Generation,
    Ingredient,
    Operation,
    Product,
    UploadSession,
    operation_admitting,
)
from emulator.imaging.containers import BrokenFile, contents_of
from emulator.kernel.clock import HIGHEST_RATE, ClockSetting
from emulator.kernel.timestamps import LATEST_INSTANT
from emulator.scenario.world import Timings, WorldFile
from emulator.service.authoring import KINDS
from emulator.service.generations import BY_WORKFLOW
from emulator.service.sandbox import Sandbox
from emulator.service.scenarios import CHANGE_EVENT
from emulator.service.store import Resource

MOST_CREDITS = LARGEST_INTEGER
MOST_PIXELS = 100_000_000
"""Of an Asset (D57)."""
MOST_TEAMS = 1_000
"""Of the world that a reset begins with."""
_MOST_SLOTS = 6
_LARGEST_EDGE = max(LONGEST_EDGE.values())
_KEY = re.compile(r"[A-Za-z0-9._~+/-]{1,300}=*", re.ASCII)
_PREFIX = re.compile(r"[a-z]{1,10}", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_HEADER_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9a-z-]+")
_HEADER_VALUE = re.compile(rb"[\t\x20-\x7e\x80-\xff]*")
_STARTS = ("operation_started", "generation_started")

Item = TypeVar("Item")
Work = TypeVar("Work", Operation, Generation)
_Due = tuple[str, str, int, int]
"""Kind, subject, detail and instant of an event."""


class StateError(ValueError):
    """A state file that cannot be loaded; the text says where (by a JSON Pointer) and why."""


def make_sound(sandbox: Sandbox, contract: Contract, go_on: Callable[[], None]) -> None:
    """Check a sandbox that was read from a state file, and make what follows from the rest.

    `go_on` is called before each step. Raises StateError, and what `go_on` raises.
    """
    for step in (
        _check_head,
        _check_accounts,
        _check_playbooks,
        _check_resources,
        partial(_check_work, contract=contract),
        _check_events,
        _hold_pictures,
        _check_records,
    ):
        go_on()
        step(sandbox)


def _expect(holds: object, where: str, found: object, expected: str) -> None:
    if not holds:
        raise StateError(f"{where}: found {excerpt(found)}; expected {expected}")


@dataclass(frozen=True, slots=True)
class _Row(Generic[Item]):
    """Something that the file holds, with its place."""

    where: str
    item: Item

    def expect(self, holds: object, field: str, expected: str) -> None:
        """Check a field, or a field of a field (`outcome/charge`). Raises StateError."""
        if not holds:
            _expect(False, f"{self.where}/{field}", _value(self.item, field), expected)


def _value(item: object, field: str) -> Any:
    return reduce(getattr, field.split("/"), item)


def _numbered(table: str, items: Iterable[Item]) -> Iterable[_Row[Item]]:
    """Go through the rows of a table, each with its place."""
    return (_Row(f"/{table}/{index}", item) for index, item in enumerate(items))


def _owned(sandbox: Sandbox, table: str, prefix: str, items: Iterable[Resource]) -> Iterable[_Row[Resource]]:
    """Go through the resources of a table; each has an id of the sandbox's, and the Team that owns it, if one does."""
    for row in _numbered(table, items):
        _check_given(sandbox, row, "id", prefix)
        if row.item.team_id is not None:
            _check_team(sandbox, row)
        yield row


# The sandbox itself ---------------------------------------------------------------------------------------------------


def _check_head(sandbox: Sandbox) -> None:
    _check_clock("/clock/0", sandbox.clock.setting)
    now = sandbox.clock.now()
    _expect(now <= LATEST_INSTANT, "/clock/1", now, "an instant before the year 10000")
    _expect(sandbox.began_at <= now, "/began_at", sandbox.began_at, "an instant that has come")
    _check_timings("/timings", sandbox.timings)
    for prefix, count in sandbox.counters.items():
        _expect(_PREFIX.fullmatch(prefix) and count >= 1, f"/counters/{prefix}", count, "a prefix, and at least 1")
    options = sandbox.options
    if options.clock is not None:
        _check_clock("/options/clock", options.clock)
    _expect((options.start or 0) <= LATEST_INSTANT, "/options/start", options.start, "an instant before the year 10000")
    _check_world(options.world)


def _check_clock(where: str, setting: ClockSetting) -> None:
    is_rate = setting.rate == 1 or setting.mode == "real"
    _expect(
        is_rate and math.isfinite(setting.rate) and 0 < setting.rate <= HIGHEST_RATE,
        f"{where}/rate",
        setting.rate,
        f"a number above 0 and up to {HIGHEST_RATE:g}, and 1 where the clock is not real",
    )


def _check_timings(where: str, timings: Timings) -> None:
    for name in Timings.__dataclass_fields__:
        _Row(where, timings).expect(getattr(timings, name) <= LATEST_INSTANT, name, "a shorter span")


def _check_world(world: WorldFile) -> None:
    where = "/options/world"
    _expect(len(world.teams) <= MOST_TEAMS, f"{where}/teams", world.teams, f"at most {MOST_TEAMS} Teams")
    _check_timings(f"{where}/timings", world.timings)
    names, keys = set[str](), set[str]()
    for row in _numbered("options/world/teams", world.teams):
        _check_new(f"{row.where}/name", row.item.name, names)
        row.expect(row.item.credits <= MOST_CREDITS, "credits", f"at most {MOST_CREDITS}")
        for index, credential in enumerate(row.item.credentials):
            held = _Row(f"{row.where}/credentials/{index}", credential)
            _check_new(f"{held.where}/key", credential.key, keys)
            held.expect(_KEY.fullmatch(credential.key), "key", "an API key")


def _check_new(where: str, name: str, names: set[str]) -> None:
    _expect(name and name not in names, where, name, "a name that nothing before it has")
    names.add(name)


def _check_accounts(sandbox: Sandbox) -> None:
    now = sandbox.clock.now()
    for account in _numbered("accounts", sandbox.accounts.values()):
        _check_given(sandbox, account, "team/id", "team")
        account.expect(account.item.ledger.granted <= MOST_CREDITS, "ledger/granted", "fewer")
        _check_instants(f"{account.where}/rate/admitted", account.item.rate.admitted, now)
    ids = set[str]()
    for held in _numbered("credentials", sandbox.credentials.values()):
        credential = held.item.credential
        _check_given(sandbox, held, "credential/id", "cred")
        _check_new(f"{held.where}/credential/id", credential.id, ids)
        _check_team(sandbox, _Row(f"{held.where}/credential", credential))
        held.expect(_KEY.fullmatch(credential.key), "credential/key", "an API key")
        _check_instants(f"{held.where}/rate/admitted", held.item.rate.admitted, now)


def _check_instants(where: str, instants: Sized[int], now: int) -> None:
    _expect(sorted(instants) == [*instants], where, instants, "instants in their order")
    _expect(max(instants, default=0) <= now, where, instants, "instants that have come")


def _check_given(sandbox: Sandbox, row: _Row[Item], field: str, prefix: str) -> None:
    identifier: str = _value(row.item, field)
    row.expect(
        sandbox.identifiers.has_given(prefix, identifier), field, f"one of the ids of /counters/{prefix} and the seed"
    )


def _check_team(sandbox: Sandbox, row: _Row[Resource] | _Row[Credential]) -> None:
    row.expect(row.item.team_id in sandbox.accounts, "team_id", "the id of a Team")


def _check_playbooks(sandbox: Sandbox) -> None:
    now = sandbox.clock.now()
    for row in _numbered("playbooks", sandbox.playbooks.values()):
        playbook = row.item
        is_of_team = playbook.team is None or playbook.team in sandbox.accounts
        row.expect(is_of_team, "team", "null or the id of a Team")
        row.expect(playbook.seed == sandbox.seed, "seed/value", "the seed of the sandbox")
        row.expect(playbook.began_at <= now, "began_at", "an instant that has come")
        for awaited in playbook.awaited:
            is_past = awaited.done_at is None or awaited.done_at <= now
            _expect(is_past, f"{row.where}/awaited", awaited.done_at, "null or an instant that has come")
        for name, counts in playbook.counts.items():
            _Row(f"{row.where}/counts/{name}", counts).expect(
                counts.fired <= counts.matched, "fired", "no more than matched"
            )


# Resources ------------------------------------------------------------------------------------------------------------


def _check_resources(sandbox: Sandbox) -> None:
    store, now = sandbox.store, sandbox.clock.now()
    for upload in _owned(sandbox, "uploads", "upl", store.uploads.items.values()):
        _check_session(sandbox, upload)
        if _is_finished(sandbox, upload.item):
            store.finished_uploads.append(upload.item.id)  # in ascending order, which is a heap
    for asset in _owned(sandbox, "assets", "ast", store.assets.items.values()):
        _check_asset(sandbox, asset)
    for product in _owned(sandbox, "products", "prd", store.products.items.values()):
        _check_product(sandbox, product)
        store.index_product(product.item)
    for kind, collection in store.ingredients.items():
        for row in _owned(sandbox, f"{kind}s", KINDS[kind].prefix, collection.items.values()):
            row.expect(max(row.item.created_at, row.item.updated_at) <= now, "updated_at", "the past")
            for key in row.item.picture_keys:
                _check_picture(sandbox, row.where, key)


def _check_product(sandbox: Sandbox, row: _Row[Product]) -> None:
    members = row.item.asset_ids
    row.expect(members and len(set(members)) == len(members), "asset_ids", "some, none of them twice")
    _check_assets(sandbox, f"{row.where}/asset_ids", row.item.team_id, members)
    row.expect(row.item.primary_asset_id in members, "primary_asset_id", "a member")


def _check_assets(sandbox: Sandbox, where: str, team_id: str, asset_ids: Iterable[str]) -> None:
    for asset_id in asset_ids:
        _expect(sandbox.store.assets.visible(team_id, asset_id), where, asset_id, "an Asset of the Team")


def _check_picture(sandbox: Sandbox, where: str, key: str) -> None:
    _expect(key in sandbox.images.pictures, where, key, "a picture of this key in /pictures")


def _is_finished(sandbox: Sandbox, session: UploadSession) -> bool:
    return session.status in TERMINAL or sandbox.clock.now() >= session.expires_at


def _has_bytes(sandbox: Sandbox, session: UploadSession) -> bool:
    """Whether a session still keeps its bytes: after its window they are gone."""
    return session.status == "received" and sandbox.clock.now() < session.expires_at


def _check_session(sandbox: Sandbox, row: _Row[UploadSession]) -> None:
    session = row.item
    row.expect(
        (session.digest is not None) == (session.status != "awaiting_upload"), "digest", "one of what it received"
    )
    if _has_bytes(sandbox, session):
        _check_picture(sandbox, row.where, session.id)
        data = sandbox.images.pictures[session.id].data or b""
        is_whole = hashlib.sha256(data).hexdigest() == session.digest and len(data) == session.size_bytes
        row.expect(is_whole, "digest", "the SHA-256 of its bytes")


def _check_asset(sandbox: Sandbox, row: _Row[Asset]) -> None:
    asset = row.item
    edges = (asset.width, asset.height)
    is_size = min(edges) >= 1 and max(edges) <= LONGEST_EDGE_LIMIT and asset.width * asset.height <= MOST_PIXELS
    row.expect(is_size, "width", "a size in pixels")
    generation = sandbox.store.generations.items.get(asset.source_generation_id or "")
    is_output = generation is not None and any(output.asset_id == asset.id for output in generation.outputs)
    is_from_source = is_output if asset.source == "generation" else asset.source_generation_id is None
    row.expect(is_from_source, "source_generation_id", "the Generation it comes from")
    _check_picture(sandbox, row.where, asset.id)
    picture = sandbox.images.pictures[asset.id]
    if picture.recipe is not None:
        is_fit = (picture.recipe.width, picture.recipe.height) == edges and picture.recipe.format == asset.format
    else:
        is_fit = _size_of(picture.data or b"", asset.format) == edges
    _expect(is_fit, row.where, asset.id, f"a picture that is {asset.format} of {asset.width} x {asset.height} pixels")


def _size_of(data: bytes, picture_format: str) -> tuple[int, int] | None:
    try:
        contents = contents_of(data, picture_format)
    except (BrokenFile, struct.error, IndexError, zlib.error):
        return None
    return (contents.width, contents.height) if contents else None


# Work -----------------------------------------------------------------------------------------------------------------


def _check_work(sandbox: Sandbox, contract: Contract) -> None:
    for operation in _owned(sandbox, "operations", "op", sandbox.store.operations.items.values()):
        _check_progress(sandbox, operation)
        _check_operation(sandbox, operation, contract)
        _take_over(sandbox, operation, operation.item.outcome.finishes_at)
    for generation in _owned(sandbox, "generations", "gen", sandbox.store.generations.items.values()):
        _check_progress(sandbox, generation)
        _check_generation(generation, contract)
        _check_outputs(sandbox, generation)
        _take_over(sandbox, generation, generation.item.plan[-1].finishes_at)
    for account in _numbered("accounts", sandbox.accounts.values()):
        budget = account.item.budget
        account.expect(budget.used <= budget.highest_used, "budget/highest_used", "no fewer than used")


def _take_over(sandbox: Sandbox, row: _Row[Work], finishes_at: int | None) -> None:
    """Restore reservations and concurrency of unfinished work; count the charges of finished work."""
    work = row.item
    account = sandbox.accounts[work.team_id]
    try:
        account.ledger.restore(work.id, work.reserved_credits, work.charged_credits)
    except LedgerError as error:
        raise StateError(f"{row.where}/reserved_credits: {error}") from None
    if work.status not in TERMINAL:
        account.budget.finishes_at[work.id] = finishes_at


def _check_progress(sandbox: Sandbox, row: _Row[Work]) -> None:
    """A state must agree with the instants and the charge that it brings."""
    work, is_done = row.item, row.item.status in TERMINAL
    expected = f"what {work.status} work has"
    row.expect((work.started_at is not None) == (work.status != "queued"), "started_at", expected)
    row.expect((work.finished_at is not None) == is_done, "finished_at", expected)
    row.expect((work.charged_credits is not None) == is_done, "charged_credits", expected)
    row.expect((work.charged_credits or 0) <= work.reserved_credits, "charged_credits", "no more than reserved")
    instants = [work.created_at, work.started_at or work.created_at, work.finished_at or work.updated_at]
    _check_instants(row.where, instants, sandbox.clock.now())


def _check_intent(where: str, work: str, request: Intent, contract: Contract) -> None:
    """Check the request of work against the body of the operation that admits it."""
    name = contract.operations[operation_admitting(work)].body
    assert name is not None, "what admits work has a body"
    violations = contract.violations(name, request, first_only=True)
    if violations:
        raise StateError(f"{where}{violations[0].where}: expected {violations[0].expected}")
    try:
        _expect(intent_of(name, request) == request, where, request, "a request in its normal form")
    except Problem as problem:
        raise StateError(f"{where}{problem.detail}") from None


def _check_operation(sandbox: Sandbox, row: _Row[Operation], contract: Contract) -> None:
    store, operation = sandbox.store, row.item
    row.expect(operation.type in OPERATION_TYPES, "type", f"one of {', '.join(OPERATION_TYPES)}")
    kind, creates = operation.ingredient_kind, operation.type.endswith(".create")
    _check_intent(f"{row.where}/request", operation.type, operation.request, contract)
    sources = operation.request.get(KINDS[kind].sources, ())
    sources = (sources,) if isinstance(sources, str) else tuple(sources)
    row.expect(sources and sources == operation.outcome.source_keys, "outcome/source_keys", "those of the request")
    row.expect(operation.outcome.charge <= operation.reserved_credits, "outcome/charge", "no more than reserved")
    row.expect((operation.target_id is None) == creates, "target_id", "what an update has")
    row.expect((operation.error is not None) == (operation.status == "failed"), "error", "that of failed work")
    row.expect(
        (operation.result_id is not None) == (operation.status == "completed"), "result_id", "that of completed work"
    )
    if operation.status in TERMINAL:
        return
    _check_assets(sandbox, f"{row.where}/outcome/source_keys", operation.team_id, sources)
    if operation.target_id is not None:
        target: Ingredient | None = store.ingredients[kind].items.get(operation.target_id)
        is_own = target is not None and target.team_id == operation.team_id
        is_free = is_own and operation.target_id not in store.operation_on_target
        row.expect(is_free, "target_id", "an ingredient that nothing else replaces")
    store.index_operation(operation)


def _check_generation(row: _Row[Generation], contract: Contract) -> None:
    generation, slots = row.item, len(row.item.plan)
    row.expect(generation.workflow in BY_WORKFLOW, "workflow", f"one of {', '.join(BY_WORKFLOW)}")
    _check_intent(f"{row.where}/request", generation.workflow, generation.request, contract)
    is_planned = 1 <= slots <= _MOST_SLOTS and slots == len(generation.outputs)
    _expect(is_planned, f"{row.where}/plan", slots, "a plan for each output")
    row.expect(generation.reserved_credits > 0, "reserved_credits", "what its admission reserved")


def _check_outputs(sandbox: Sandbox, row: _Row[Generation]) -> None:
    """The outputs must agree with the state of their Generation, and with the plan."""
    generation, recipe_type = row.item, BY_WORKFLOW[row.item.workflow].recipe
    for index, output in enumerate(generation.outputs):
        slot = _Row(f"{row.where}/outputs/{index}", output)
        slot.expect(
            (output.asset_id is not None) == (output.status == "completed"), "asset_id", "that of a completed output"
        )
        slot.expect((output.error is not None) == (output.status == "failed"), "error", "that of a failed output")
        is_waiting = output.status == "pending"
        slot.expect(is_waiting == (generation.status == "queued"), "status", f"what {generation.status} work has")
    status = generation_status(generation.status, generation.outputs)
    is_done = all(output.status in TERMINAL for output in generation.outputs)
    is_agreed = status == generation.status and is_done == (status in TERMINAL)
    row.expect(is_agreed, "status", f"{status}, as its outputs are")
    for index, (planned, output) in enumerate(zip(generation.plan, generation.outputs, strict=True)):
        recipe = planned.picture
        place = _Row(f"{row.where}/plan/{index}", planned)
        is_fit = isinstance(recipe, recipe_type) and _is_drawable(recipe)
        place.expect(is_fit, "picture/inputs", f"a recipe of {generation.workflow}")
        if output.status not in TERMINAL:
            for key in recipe.inputs:
                _check_picture(sandbox, f"{place.where}/picture/inputs", key)


def _is_drawable(recipe: Recipe) -> bool:
    return max(recipe.width, recipe.height) <= _LARGEST_EDGE


# Events ---------------------------------------------------------------------------------------------------------------


def _check_events(sandbox: Sandbox) -> None:
    """Check that the timeline has exactly the events that the states and decisions require, in a possible order."""
    now, numbers, found = sandbox.clock.now(), set[int](), Counter[_Due]()
    expected = Counter(chain(_expected_of_work(sandbox), _expected_of_others(sandbox)))
    waiting = {subject for kind, subject, _, _ in expected if kind in _STARTS}
    for row in _numbered("events", sandbox.timeline.events()):
        where, event = row.where, row.item
        _expect(event.due > now, f"{where}/0", event.due, "an instant to come")
        is_new = 0 < event.sequence <= sandbox.timeline.sequence and event.sequence not in numbers
        _expect(is_new, f"{where}/1", event.sequence, "a number of its own, up to /timeline/sequence")
        numbers.add(event.sequence)
        if event.kind in _STARTS:
            waiting.discard(event.subject)
        _expect(event.subject not in waiting, where, event.kind, "the start of the work before it")
        due = (event.kind, event.subject, event.detail, event.due)
        _expect(due in expected, where, event.subject, "an event that the states bring about, at its instant")
        found[due] += 1
    for due in expected - found:
        raise StateError(f"/events: expected {due[0]} of {due[1]}")
    for due in found - expected:
        raise StateError(f"/events: found {due[0]} of {due[1]} more than once")


def _expected_of_work(sandbox: Sandbox) -> Iterable[_Due]:
    """Go through the starts and ends of unfinished work."""
    store = sandbox.store
    for operation in store.operations.items.values():
        outcome = operation.outcome
        if operation.status == "queued":
            yield "operation_started", operation.id, 0, outcome.starts_at
        if operation.status not in TERMINAL and outcome.finishes_at is not None:
            yield "operation_finished", operation.id, 0, outcome.finishes_at
    for generation in store.generations.items.values():
        if generation.status == "queued":
            yield "generation_started", generation.id, 0, generation.starts_at
        for slot, (planned, output) in enumerate(zip(generation.plan, generation.outputs, strict=True)):
            if output.status not in TERMINAL and planned.finishes_at is not None:
                yield "output_finished", generation.id, slot, planned.finishes_at


def _expected_of_others(sandbox: Sandbox) -> Iterable[_Due]:
    """Go through the ends of upload windows, and the changes that scenarios have still to make."""
    now = sandbox.clock.now()
    for session in sandbox.store.uploads.items.values():
        if not _is_finished(sandbox, session):
            yield "upload_expired", session.id, 0, session.expires_at
    for team_id, playbook in sandbox.playbooks.items():
        for due, index in playbook.scheduled():
            if due > now:
                yield CHANGE_EVENT, team_id, index, due


# Pictures and records -------------------------------------------------------------------------------------------------


def _hold_pictures(sandbox: Sandbox) -> None:
    """Hold every picture as often as it is needed, and free those that nothing needs."""
    store, images = sandbox.store, sandbox.images
    for row in _numbered("pictures", images.pictures.items()):
        key, picture = row.item
        if picture.recipe is not None:
            is_drawable = _is_drawable(picture.recipe)
            _expect(is_drawable, f"{row.where}/recipe", key, f"edges of at most {_LARGEST_EDGE} pixels")
            images.hold(picture.recipe.inputs)
    linked = list(store.assets.items)
    for collection in store.ingredients.values():
        linked += [key for ingredient in collection.items.values() for key in ingredient.picture_keys]
    for key in linked:
        images.pictures[key].is_public = True
    images.hold(linked)
    images.hold(session.id for session in store.uploads.items.values() if _has_bytes(sandbox, session))
    images.hold(_captured(sandbox))
    for key in reversed(list(images.pictures)):  # what a picture is made from comes before it
        if images.pictures[key].holds == 0:
            images.hold([key])
            images.release([key])


def _captured(sandbox: Sandbox) -> Iterable[str]:
    """Go through the pictures that unfinished work has captured, as often as it has."""
    for operation in sandbox.store.operations.items.values():
        if operation.status not in TERMINAL:
            yield from operation.outcome.source_keys
    for generation in sandbox.store.generations.items.values():
        for planned, output in zip(generation.plan, generation.outputs, strict=True):
            if output.status not in TERMINAL:
                yield from planned.picture.inputs


def _check_records(sandbox: Sandbox) -> None:
    ids = {held.credential.id for held in sandbox.credentials.values()}
    admitted = []
    for row in _numbered("records", sandbox.idempotency.records()):
        scope, record = row.item
        _expect(scope.credential_id in ids, f"{row.where}/0/0", scope.credential_id, "the id of a credential")
        _check_answer(f"{row.where}/1", record)
        admitted.append(record.admitted_at)
    _check_instants("/records", admitted, sandbox.clock.now())


def _check_answer(where: str, record: Record) -> None:
    _expect(200 <= record.status <= 599, f"{where}/2", record.status, "a status from 200 to 599")
    headers = dict(record.headers)
    for name, value in record.headers:
        is_header = _HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value)
        _expect(is_header, f"{where}/3", name.decode("latin-1"), "headers of HTTP")
    try:
        is_object = not record.body or isinstance(orjson.loads(record.body), dict)
    except orjson.JSONDecodeError:
        is_object = False
    _expect(is_object, f"{where}/4", len(record.body), "nothing, or an object in JSON")
    _expect(b"request-id" in headers, f"{where}/3", list(headers), "a Request-Id")
    length = headers.get(b"content-length", b"0")
    _expect(
        length == b"%d" % len(record.body) and len(headers) == len(record.headers),
        f"{where}/3",
        length.decode("latin-1"),
        "the length of the body, once",
    )
