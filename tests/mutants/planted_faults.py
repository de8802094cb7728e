"""Faults to be planted in the emulator, one at a time: each a small change to what runs, such as a slip would make.

The docstring of each says what is wrong while it is planted. `PLANTED_FAULTS` lists them all. They know nothing of the
tests, and hang on nothing but public functions, operations and hooks (`planting` says how).
"""

import dataclasses
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson
import pytest
from msgspec import structs

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.control.scenarios import reset_with_scenarios
from image_workflow_emulator.domain.idempotency import IdempotencyRecords
from image_workflow_emulator.domain.intents import fingerprint
from image_workflow_emulator.domain.ledger import Ledger
from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.domain.limits import ConcurrencyBudget
from image_workflow_emulator.domain.pagination import Page, PageRequest, paginate
from image_workflow_emulator.domain.pricing import generation_charge
from image_workflow_emulator.domain.problems import CATALOGUE, KEY_BINDING_CODES, Check, Problem
from image_workflow_emulator.domain.product_photos import primary_of
from image_workflow_emulator.domain.resources import (
    INGREDIENT_KINDS,
    Asset,
    Generation,
    Operation,
    Product,
    operation_id,
)
from image_workflow_emulator.http.problem_responses import problem_response
from image_workflow_emulator.http.responses import Response
from image_workflow_emulator.scenario.faults.fault import NO_FAULT, Fault
from image_workflow_emulator.scenario.faults.problem import ProblemFault
from image_workflow_emulator.scenario.matching import RequestFacts
from image_workflow_emulator.scenario.playbook import Playbook
from image_workflow_emulator.scenario.scenario import AdmissionChange
from image_workflow_emulator.scenario.world import WorldNames
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.resources import authoring, generations, uploads, work
from image_workflow_emulator.service.sandbox import admission, scenarios
from image_workflow_emulator.service.sandbox.calls import Call
from image_workflow_emulator.service.sandbox.images import ImageStore
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.sandbox.sandboxes import Sandboxes
from image_workflow_emulator.service.sandbox.store import Collection
from image_workflow_emulator.service.state.tables import Loading
from image_workflow_emulator.web.asgi import FAULT_HEADER
from image_workflow_emulator.web.checks import parse_query
from image_workflow_emulator.web.exchange import Exchange
from image_workflow_emulator.web.operations import OPERATIONS
from image_workflow_emulator.web.rendering import json_response
from image_workflow_emulator.web.v1 import build_routes
from tests.mutants.planting import (
    PLANTED_FAULTS,
    Commit,
    Function,
    instead,
    list_as_changed,
    list_as_constants,
    list_as_left_out,
    list_as_shared,
    planted,
    planted_in,
    planted_in_operations,
    put,
    put_handler,
    put_row,
)

__all__ = ["PLANTED_FAULTS"]

# What is left out, differs in a constant, or is one for all sandboxes ---------------------------------------------------

list_as_left_out(
    ignored_credential_state=admission.check_credential,  # expired and revoked credentials are let in
    ignored_profile=admission.check_profile,  # a read-only credential may write
    ignored_subscription=admission.check_subscription,  # creative writes go on after the Subscription has lapsed
    upload_window_never_closes=uploads.check_window,  # a session can be completed whenever one likes
    state_file_loses_the_future=Loading.expect_event,  # what was to come when a state was saved never comes after a load
    replay_executed_twice=IdempotencyRecords.find,  # a repeated request is carried out once more
    key_not_held_in_admission=IdempotencyRecords.hold,  # a key is not in use while its request is being admitted
    asked_problem_never_comes=ProblemFault.before_commit,  # a write that asks for a problem is carried out
    bytes_of_the_deleted_are_counted=ImageStore.close,  # against the memory limit, after a reset or deletion
)
list_as_constants(
    refusal_binds_key=(KEY_BINDING_CODES, KEY_BINDING_CODES | {"concurrency_limit_reached"}),
    injected_402_frees_the_key=(KEY_BINDING_CODES, frozenset()),
    fault_header_is_ignored=(FAULT_HEADER, b"x-no-such-header"),
)
list_as_shared(
    sandboxes_share_their_keys="idempotency",  # an Idempotency-Key that was used in one is taken in all of them
    sandboxes_share_a_clock="clock",
    sandboxes_share_their_identifiers="identifiers",  # what is made in one uses up the ids of the others
    sandboxes_share_a_scenario="playbooks",
    sandboxes_share_their_pictures="images.pictures",  # a picture that was deleted in one is missing in all
)

# What is done otherwise, in one expression ------------------------------------------------------------------------------


def _without(response: Response, name: bytes) -> Response:
    return structs.replace(response, headers=tuple(header for header in response.headers if header[0] != name))


def _with(response: Response, name: bytes, value: bytes) -> Response:
    return structs.replace(response, headers=(*_without(response, name).headers, (name, value)))


def _with_body(response: Response, body: bytes) -> Response:
    return structs.replace(_with(response, b"content-length", b"%d" % len(body)), body=body)


list_as_changed(
    # Answers with a resource have no Request-Id.
    missing_request_id=([json_response], lambda do, *given: _without(do(*given), b"request-id")),
    # The 202 of an ingredient does not say where its Operation is.
    missing_location=([json_response], lambda do, *given: _without(do(*given), b"location")),
    # Problems come as plain JSON.
    wrong_content_type=([problem_response], lambda do, *given: _with(do(*given), b"content-type", b"application/json")),
    # A 429 does not say how long to wait.
    missing_retry_after=(
        [problem_response],
        lambda do, *given: _without(made, b"retry-after") if (made := do(*given)).status == 429 else made,
    ),
    # What is not reached yet is an empty text instead of null.
    wrong_nullability=(
        [json_response],
        lambda do, *given: _with_body(made := do(*given), made.body.replace(b'_at":null', b'_at":""')),
    ),
    # A client is asked to wait although an auto clock has skipped the wait.
    refusal_asks_for_a_wait_already_skipped=(
        [problem_response],
        lambda do, problem, name, wait, *rest: do(problem, name, problem.retry_after, *rest),
    ),
    # A Background may be of any kind.
    accepted_bad_word=(
        [Contract.violations],
        lambda do, *given, **named: [one for one in do(*given, **named) if one.where != "/kind" or one.found is None],
    ),
    # Whoever knows an id sees the resource, whosever it is.
    other_team_is_visible=([Collection.visible], lambda do, collection, team_id, name: collection.items.get(name)),
    # A Product keeps its Primary when that photo leaves.
    primary_not_reassigned=([primary_of], lambda do, asset_ids, preferred: preferred),
    # A key that was used for something else gets the answer of that.
    reused_key_accepted=([fingerprint], lambda do, intent: b""),
    # A key is taken once one credential of the service has used it.
    keys_shared_between_credentials=(
        [IdempotencyRecords.find, IdempotencyRecords.bind],
        lambda do, records, scope, *rest: do(records, scope._replace(credential_id=""), *rest),
    ),
    # A cursor is good for any filters of its list.
    cursor_of_another_filter=(
        [paginate],
        lambda do, ids, load, asked, *rest, **named: do(
            ids, load, structs.replace(asked, binding=asked.binding[:2]), *rest, **named
        ),
    ),
    # The last completed output is free.
    output_never_charged=([generation_charge], lambda do, price, done, *rest: do(price, max(done - 1, 0), *rest)),
    # Failed outputs cost as much as completed ones.
    failed_output_charged=([generation_charge], lambda do, price, done, slots, *rest: do(price, slots, slots, *rest)),
    # A Team's scenario is accepted though it has rules or changes for another Team.
    scenario_of_a_team_may_name_others=(
        [WorldNames.usable],
        lambda do, names, there_are: do(structs.replace(names, only=None), there_are),
    ),
)

# What the contract forbids ---------------------------------------------------------------------------------------------


@planted
def undeclared_status(patch: pytest.MonkeyPatch) -> None:
    """A Product is created with 200 instead of 201."""
    row = OPERATIONS["createProduct"]
    put_row(
        patch, "createProduct", structs.replace(row, reply=lambda made: structs.replace(row.reply(made), status=200))
    )


@planted_in(json_response)
def null_instead_of_nothing(original: Function, status: int, value: object, *arguments: Any) -> Response:
    """Texts of a Product that were never given are null instead of left out."""
    response: Response = original(status, value, *arguments)
    if not isinstance(value, Product):
        return response
    nothing = {"description": None, "dimensions": None}
    return _with_body(response, orjson.dumps({**nothing, **orjson.loads(response.body)}))


@planted
def unbounded_page_limit(patch: pytest.MonkeyPatch) -> None:
    """A page may be of any size."""

    def parse(query_string: Any, parameters: Any, **named: Any) -> Any:
        unbounded = {name: structs.replace(parameter, maximum=10**6) for name, parameter in parameters.items()}
        return parse_query(query_string, unbounded, **named)

    put(patch, parse_query, parse)


# Who may do what -------------------------------------------------------------------------------------------------------


@planted
def premade_may_be_deleted(patch: pytest.MonkeyPatch) -> None:
    """Premade ingredients can be deleted."""
    for kind in INGREDIENT_KINDS:
        name = operation_id("delete", kind)
        handler = OPERATIONS[name].handler
        checks = tuple(check for check in handler.checks if check[0] is not Check.READ_ONLY)
        put_handler(patch, name, structs.replace(handler, checks=checks))


# What stays and what goes ----------------------------------------------------------------------------------------------


@planted_in(Collection.remove)
def use_after_delete(original: Function, collection: Collection[Any], resource: Any) -> None:
    """A deleted Product is no longer listed, but still answers under its id."""
    original(collection, resource)
    if isinstance(resource, Product):
        collection.items[resource.id] = resource


@planted_in(work.unfinished_operations)
def source_in_use_is_deleted(original: Function, call: Call) -> list[Operation]:
    """An Asset can be deleted while an Operation works from it."""
    operations: list[Operation] = original(call)
    return [
        structs.replace(operation, outcome=structs.replace(operation.outcome, source_keys=()))
        for operation in operations
    ]


@planted_in(authoring.finish_operation)
def failure_leaves_ingredient(original: Function, sandbox: Sandbox, operation_id: str, now: int) -> None:
    """An ingredient whose making failed is there all the same."""
    operations = sandbox.store.operations
    operation = operations.items[operation_id]
    failure = operation.outcome.failure
    if failure:
        outcome = structs.replace(operation.outcome, failure=None)
        operations.replace(structs.replace(operation, outcome=outcome))
    original(sandbox, operation_id, now)
    if failure:
        done = operations.items[operation_id]
        operations.replace(
            structs.replace(done, status="failed", result_id=None, error=failure, outcome=operation.outcome)
        )


@planted_in_operations("getGeneration")
def terminal_work_changes(original: Commit, call: Call, found: Generation) -> tuple[Generation, int | None]:
    """Reading a finished Generation touches it."""
    generation, retry_after = original(call, found)
    if generation.status in TERMINAL:
        generation = structs.replace(generation, updated_at=call.now)
        call.sandbox.store.generations.replace(generation)
    return generation, retry_after


@planted_in(ImageStore.withdraw)
def pictures_of_the_deleted_are_held(original: Function, images: ImageStore, key: str) -> None:
    """The bytes of a deleted picture are never freed."""
    images.pictures[key].is_public = False


# Lists -----------------------------------------------------------------------------------------------------------------


@planted_in(paginate)
def page_skips_an_item(
    original: Function, ids: Any, load: Any, request: PageRequest, *arguments: Any, **named: Any
) -> Any:
    """The first item of each further page is left out."""
    page: Page[Any] = original(ids, load, request, *arguments, **named)
    return page if request.after is None else structs.replace(page, items=page.items[1:])


# Credits and the budget ------------------------------------------------------------------------------------------------


@planted_in(Ledger.settle)
def leaked_credit(original: Function, ledger: Ledger, work_id: str, charge: int) -> None:
    """Failed work keeps one of the Credits that were reserved for it."""
    original(ledger, work_id, charge)
    if charge == 0 and ledger.available:
        ledger.granted -= 1


@planted_in(work.finish)
def place_not_given_back(original: Function, account: Any, work_id: str, charge: int) -> None:
    """Work that cost nothing keeps its place in the concurrency budget."""
    with instead(ConcurrencyBudget.give_back, ConcurrencyBudget.give_back if charge else lambda budget, work_id: None):
        original(account, work_id, charge)


@planted_in(admission.check_budget)
def budget_one_too_large(original: Function, call: Call, *arguments: Any) -> None:
    """One piece of work more than the budget has places is let in."""
    account = call.caller.account
    if account.budget.used != account.team.concurrency_limit:
        original(call, *arguments)


# The auto clock --------------------------------------------------------------------------------------------------------


@planted_in_operations("getOperation", "getGeneration")
def poll_takes_no_wait(original: Commit, *arguments: Any) -> Any:
    """An auto clock stands still when work is polled, and yet asks for no wait."""
    with instead(engine.advance, lambda sandbox, instant: 0):
        return original(*arguments)


@planted_in_operations("getOperation", "getGeneration")
def poll_waits_too_long(original: Commit, *arguments: Any) -> Any:
    """A poll on an auto clock takes a second more than it should."""
    advance = engine.advance
    with instead(advance, lambda sandbox, instant: advance(sandbox, instant + 1000)):
        return original(*arguments)


@planted_in_operations("getOperation", "getGeneration")
def poll_waits_for_the_end(original: Commit, *arguments: Any) -> Any:
    """A poll on an auto clock waits until everything unfinished is done."""
    advance = engine.advance
    with instead(advance, lambda sandbox, instant: advance(sandbox, max(instant, engine.idle_at(sandbox) or 0))):
        return original(*arguments)


@planted_in(Exchange.refuse)
def refusal_skips_no_wait(original: Function, *arguments: Any, **named: Any) -> Any:
    """An auto clock does not skip the wait of a 429 or 503."""
    with instead(engine.advance, lambda sandbox, instant: 0):
        return original(*arguments, **named)


@planted_in_operations("listOperations")
def list_is_a_poll(original: Commit, call: Call, page: object) -> Any:
    """Reading a list of Operations moves an auto clock."""
    if call.sandbox.clock.skips_waits:
        engine.advance(call.sandbox, call.now + 1000)
    return original(call, page)


@planted_in(admission.check_pause)
def pause_is_waited_for_too_long(original: Function, call: Call) -> None:
    """A pause is waited for twice as long as it lasts."""
    try:
        original(call)
    except Problem as problem:
        problem.retry_wait_ms *= 2
        raise


# Problems on request ---------------------------------------------------------------------------------------------------


@planted
def fault_header_is_heeded_twice(patch: pytest.MonkeyPatch) -> None:
    """The problem that a write asked for comes to the next write of its credential as well."""
    left: weakref.WeakKeyDictionary[Sandbox, dict[str, str]] = weakref.WeakKeyDictionary()
    original = ProblemFault.before_commit

    def first(fault: ProblemFault, exchange: Exchange) -> None:
        if not exchange.is_read and exchange.caller and not exchange.rule_header:
            left.setdefault(exchange.sandbox, {})[exchange.caller.credential.key] = fault.code
        original(fault, exchange)

    def again(fault: Fault, exchange: Exchange) -> None:
        if fault is NO_FAULT and not exchange.is_read and exchange.caller:
            code = left.get(exchange.sandbox, {}).pop(exchange.caller.credential.key, None)
            if code:
                raise exchange.problem(code, None, None)

    put(patch, Fault.before_commit, again)
    put(patch, ProblemFault.before_commit, first)


@planted_in(ProblemFault.entrance)
async def fault_header_is_counted_by_the_scenario(original: Function, fault: ProblemFault, exchange: Exchange) -> Any:
    """A scenario counts the requests that ask for a problem themselves."""
    if not exchange.rule_header and exchange.caller:
        team = exchange.caller.account.team
        facts = RequestFacts(exchange.route.operation or "", team.id, team.name, None)
        scenarios.decide_request(exchange.sandbox, facts, exchange.now)
    return await original(fault, exchange)


@planted_in(build_routes)
def fault_header_takes_any_code(original: Function, contract: Contract) -> Any:
    """A request can ask for a code that its operation cannot return."""
    return {
        path: {method: structs.replace(route, codes=frozenset(CATALOGUE)) for method, route in methods.items()}
        for path, methods in original(contract).items()
    }


# Scenarios of one Team -------------------------------------------------------------------------------------------------


@planted
def rules_of_a_team_hit_all(patch: pytest.MonkeyPatch) -> None:
    """The rules of a Team's scenario act on the requests and the work of every Team."""
    decide_request, decide_work = scenarios.decide_request, scenarios.decide_work

    def owner(sandbox: Sandbox, team_id: str) -> Any:
        """Return a Team that has a scenario, instead of the one that asks."""
        return sandbox.accounts[max(sandbox.playbooks) or team_id if sandbox.playbooks else team_id]

    def requests(sandbox: Sandbox, facts: RequestFacts, now: int) -> Any:
        team = owner(sandbox, facts.team_id).team
        return decide_request(sandbox, structs.replace(facts, team_id=team.id, team_name=team.name), now)

    def works(sandbox: Sandbox, caller: Any, *arguments: Any) -> Any:
        account = owner(sandbox, caller.team_id)
        return decide_work(sandbox, dataclasses.replace(caller, account=account), *arguments)

    put(patch, decide_request, requests)
    put(patch, decide_work, works)


@planted_in(scenarios.make_change)
def pause_of_a_team_stops_all(original: Function, sandbox: Sandbox, team_id: str, index: int, now: int) -> None:
    """A Team's scenario pauses the writes of everyone."""
    playbook = sandbox.playbooks[team_id]
    if not isinstance(playbook.scenario.timeline[index].change, AdmissionChange):
        original(sandbox, team_id, index, now)
        return
    with _asking_only(sandbox, {scenarios.EVERYONE: playbook}):
        original(sandbox, scenarios.EVERYONE, index, now)


@planted_in(scenarios.begin)
def scenario_of_everyone_ends_those_of_teams(
    original: Function, sandbox: Sandbox, scenario: Any, now: int, team_id: str = scenarios.EVERYONE
) -> None:
    """When everyone's scenario begins, those of single Teams are gone."""
    for other in [*sandbox.playbooks] if team_id == scenarios.EVERYONE else []:
        scenarios.end(sandbox, other)
    original(sandbox, scenario, now, team_id)


@planted_in(scenarios.decide_request, scenarios.decide_work)
def scenario_of_everyone_goes_first(original: Function, sandbox: Sandbox, *arguments: Any) -> Any:
    """Everyone's scenario is asked before that of the Team."""
    first = {key: playbook for key, playbook in sandbox.playbooks.items() if key == scenarios.EVERYONE}
    with _asking_only(sandbox, first):
        decision = original(sandbox, *arguments)
    if decision.rule is not None:
        return decision
    with _asking_only(sandbox, {key: sandbox.playbooks[key] for key in sandbox.playbooks.keys() - first.keys()}):
        return original(sandbox, *arguments)


@contextmanager
def _asking_only(sandbox: Sandbox, playbooks: dict[str, Playbook]) -> Iterator[None]:
    """Let only some scenarios run for a while."""
    running, sandbox.playbooks = sandbox.playbooks, playbooks
    try:
        yield
    finally:
        sandbox.playbooks = running


# Sandboxes side by side ------------------------------------------------------------------------------------------------


@planted_in(Sandboxes.reset)
def reset_begins_everything_anew(original: Function, sandboxes: Sandboxes, sandbox: Sandbox) -> None:
    """The reset of one sandbox resets all."""
    for other in sandboxes.by_id.values():
        original(sandboxes, other)


@planted_in(Sandboxes.reset)
def reset_keeps_the_keys(original: Function, sandboxes: Sandboxes, sandbox: Sandbox) -> None:
    """After a reset Idempotency-Keys are still bound."""
    records = sandbox.idempotency
    original(sandboxes, sandbox)
    sandbox.idempotency = records


@planted_in(reset_with_scenarios)
def reset_forgets_the_scenarios_of_teams(original: Function, call: Any) -> None:
    """A reset ends the scenarios of single Teams."""
    for team_id in call.sandbox.playbooks.keys() - {scenarios.EVERYONE}:
        del call.sandbox.playbooks[team_id]
    original(call)


@planted_in(Sandboxes.delete)
def keys_of_the_deleted_are_good(original: Function, sandboxes: Sandboxes, sandbox: Sandbox) -> None:
    """The keys of a deleted sandbox are still let in."""
    original(sandboxes, sandbox)
    sandboxes.register(sandbox)


# Failures --------------------------------------------------------------------------------------------------------------


@planted_in(generations.finish_output)
def failed_output_leaves_its_asset(
    original: Function, sandbox: Sandbox, generation_id: str, slot: int, now: int
) -> None:
    """A failed output leaves an Asset behind, although the Generation does not name it."""
    generation = sandbox.store.generations.items[generation_id]
    recipe = generation.plan[slot].picture
    if generation.plan[slot].failure:
        asset = Asset(
            id=sandbox.identifiers.next("ast"),
            team_id=generation.team_id,
            source="generation",
            source_generation_id=generation.id,
            format=recipe.format,
            width=recipe.width,
            height=recipe.height,
            created_at=now,
        )
        sandbox.images.plan(asset.id, recipe)
        sandbox.store.assets.add(asset)
    original(sandbox, generation_id, slot, now)


@planted_in(generations.start_generation)
def ended_generation_is_touched(original: Function, sandbox: Sandbox, generation_id: str, now: int) -> None:
    """A Generation that has ended is said to have changed when the next one of its Team starts."""
    original(sandbox, generation_id, now)
    collection = sandbox.store.generations
    for identifier in collection.ids(collection.items[generation_id].team_id):
        other = collection.items[identifier]
        if other.status in TERMINAL:
            collection.replace(structs.replace(other, updated_at=now))
