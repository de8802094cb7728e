"""Faults to be planted in the emulator, one at a time: each a small change to what runs, such as a slip would make.

A planted fault is a function of a MonkeyPatch; the emulator must be made after it was called. Its docstring says what is
wrong then. `PLANTED_FAULTS` lists them all, those of `planted_around` as well. They reach into the emulator on purpose, and
know nothing of the tests.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, Final

import pytest

from emulator.contract import Contract
from emulator.domain.admission import ConcurrencyBudget
from emulator.domain.idempotency import IdempotencyRecords, Scope
from emulator.domain.ledger import Ledger
from emulator.domain.pagination import PageRequest, paginate
from emulator.domain.pricing import generation_charge
from emulator.domain.problems import KEY_BINDING_CODES
from emulator.domain.resources import Product
from emulator.http.responses import Response
from emulator.kernel.timeline import Timeline
from emulator.service import authoring, generations, uploads, work
from emulator.service.accounts import Caller
from emulator.service.images import ImageStore
from emulator.service.store import Collection, Store
from emulator.web import operations, rendering, road
from emulator.web.operations import Call, Reply
from tests.mutants.planted_around import PLANTED_AROUND

PlantedFault = Callable[[pytest.MonkeyPatch], None]


# What the contract forbids ---------------------------------------------------------------------------------------------


def undeclared_status(patch: pytest.MonkeyPatch) -> None:
    """A Product is created with 200 instead of 201."""

    def create_product(call: Call) -> Reply:
        return operations.create_product(call)._replace(status=200)

    patch.setitem(operations.HANDLERS, "createProduct", create_product)


def missing_request_id(patch: pytest.MonkeyPatch) -> None:
    """Answers with a resource have no Request-Id."""
    _change_response(patch, "json_response", lambda response: _without(response, b"request-id"))


def wrong_content_type(patch: pytest.MonkeyPatch) -> None:
    """Problems come as plain JSON."""

    def change(response: Response) -> Response:
        headers = (b"content-type", b"application/json"), *_without(response, b"content-type").headers
        return response._replace(headers=headers)

    _change_response(patch, "problem_response", change)


def missing_retry_after(patch: pytest.MonkeyPatch) -> None:
    """A 429 does not say how long to wait."""

    def change(response: Response) -> Response:
        return _without(response, b"retry-after") if response.status == 429 else response

    _change_response(patch, "problem_response", change)


def missing_location(patch: pytest.MonkeyPatch) -> None:
    """The 202 of an ingredient does not say where its Operation is."""
    _change_response(patch, "json_response", lambda response: _without(response, b"location"))


def wrong_nullability(patch: pytest.MonkeyPatch) -> None:
    """What is not reached yet is an empty text instead of null."""
    original = rendering._instant
    patch.setattr(rendering, "_instant", lambda instant: original(instant) or "")


def null_instead_of_nothing(patch: pytest.MonkeyPatch) -> None:
    """Texts of a Product that were never given are null instead of left out."""
    original = rendering._RENDERERS[Product]

    def render(product: Any, links: Any) -> dict[str, Any]:
        return {"description": None, "dimensions": None, **original(product, links)}

    patch.setitem(rendering._RENDERERS, Product, render)


def accepted_bad_word(patch: pytest.MonkeyPatch) -> None:
    """A Background may be of any kind."""
    original = Contract.violations

    def violations(contract: Contract, schema_name: str, value: object, first_only: bool = False) -> list[Any]:
        found = original(contract, schema_name, value, first_only)
        return [violation for violation in found if violation.where != "/kind" or violation.found is None]

    patch.setattr(Contract, "violations", violations)


def unbounded_page_limit(patch: pytest.MonkeyPatch) -> None:
    """A page may be of any size."""
    patch.setattr("emulator.web.requests._check_parameter", lambda parameter, value: None)
    patch.setattr("emulator.web.operations.page_limit", lambda query: int(query.get("limit", "25")))


# Who may do what -------------------------------------------------------------------------------------------------------


def ignored_credential_state(patch: pytest.MonkeyPatch) -> None:
    """Expired and revoked credentials are let in."""
    patch.setattr(Caller, "check_credential", lambda caller, now: None)


def ignored_profile(patch: pytest.MonkeyPatch) -> None:
    """A read-only credential may write."""
    patch.setattr(Caller, "check_profile", lambda caller, now: None)


def ignored_subscription(patch: pytest.MonkeyPatch) -> None:
    """Creative writes go on after the Subscription has lapsed."""
    patch.setattr(Caller, "check_subscription", lambda caller: None)


def other_team_is_visible(patch: pytest.MonkeyPatch) -> None:
    """Whoever knows an id sees the resource, whosever it is."""
    patch.setattr(Collection, "visible", lambda collection, team_id, identifier: collection.items.get(identifier))


def premade_may_be_deleted(patch: pytest.MonkeyPatch) -> None:
    """Premade ingredients can be changed and deleted."""
    patch.setattr(authoring, "_changeable", authoring.get)


# What stays and what goes ----------------------------------------------------------------------------------------------


def use_after_delete(patch: pytest.MonkeyPatch) -> None:
    """A deleted Product is no longer listed, but still answers under its id."""
    original = Collection.remove

    def remove(collection: Collection[Any], resource: Any) -> None:
        original(collection, resource)
        if resource.id.startswith("prd"):
            collection.items[resource.id] = resource

    patch.setattr(Collection, "remove", remove)


def primary_not_reassigned(patch: pytest.MonkeyPatch) -> None:
    """A Product keeps its Primary when that photo leaves."""
    patch.setattr("emulator.service.library.primary_of", lambda asset_ids, preferred: preferred)


def source_in_use_is_deleted(patch: pytest.MonkeyPatch) -> None:
    """An Asset can be deleted while an Operation works from it."""
    original = Store.index_operation

    def index_operation(store: Store, operation: Any) -> None:
        original(store, operation)
        for asset_id in operation.outcome.source_keys:
            store.operations_on_source.pop(asset_id, None)

    patch.setattr(Store, "index_operation", index_operation)


def failure_leaves_ingredient(patch: pytest.MonkeyPatch) -> None:
    """An ingredient whose making failed is there all the same."""
    original = authoring.finish_operation

    def finish_operation(sandbox: Any, operation_id: str, now: int) -> None:
        operation = sandbox.store.operations.items[operation_id]
        if operation.outcome.failure:
            authoring._commit(sandbox, operation, now)
        original(sandbox, operation_id, now)

    patch.setattr(authoring, "finish_operation", finish_operation)


def terminal_work_changes(patch: pytest.MonkeyPatch) -> None:
    """Reading a finished Generation touches it."""
    original = generations.get

    def get(caller: Caller, generation_id: str) -> Any:
        generation = original(caller, generation_id)
        touched = dataclasses.replace(generation, updated_at=caller.sandbox.clock.now())
        caller.sandbox.store.generations.replace(touched)
        return touched

    patch.setattr(generations, "get", get)


def pictures_of_the_deleted_are_held(patch: pytest.MonkeyPatch) -> None:
    """The bytes of a deleted picture are never freed."""

    def withdraw(images: ImageStore, key: str) -> None:
        images.pictures[key].is_public = False

    patch.setattr(ImageStore, "withdraw", withdraw)


def upload_window_never_closes(patch: pytest.MonkeyPatch) -> None:
    """A session can be completed whenever one likes."""
    patch.setattr(uploads, "check_window", lambda session, now: None)


def state_file_loses_the_future(patch: pytest.MonkeyPatch) -> None:
    """What was to come when a state was saved never comes after it was loaded."""
    patch.setattr(Timeline, "restore", lambda timeline, events, sequence: None)


# Idempotency -----------------------------------------------------------------------------------------------------------


def replay_executed_twice(patch: pytest.MonkeyPatch) -> None:
    """A repeated request is carried out once more."""
    patch.setattr(IdempotencyRecords, "find", lambda records, scope, now: None)


def reused_key_accepted(patch: pytest.MonkeyPatch) -> None:
    """A key that was used for something else gets the answer of that."""
    patch.setattr("emulator.web.checks.fingerprint", lambda body_name, intent: b"")


def keys_shared_between_credentials(patch: pytest.MonkeyPatch) -> None:
    """A key is taken once one credential of the service has used it."""
    patch.setattr("emulator.web.checks.KeyScope", lambda credential, method, path, key: Scope("", method, path, key))


def key_not_held_in_admission(patch: pytest.MonkeyPatch) -> None:
    """A key is not marked as in use while its request is being admitted."""
    patch.setattr(IdempotencyRecords, "hold", lambda records, scope: None)


def refusal_binds_key(patch: pytest.MonkeyPatch) -> None:
    """A 429 is repeated for ever."""
    patch.setattr("emulator.web.road.KEY_BINDING_CODES", KEY_BINDING_CODES | {"concurrency_limit_reached"})


# Lists -----------------------------------------------------------------------------------------------------------------


def cursor_of_another_filter(patch: pytest.MonkeyPatch) -> None:
    """A cursor is good for any filters of its list."""

    def page_request(limit: int, after: str | None, binding: tuple[str, ...]) -> PageRequest:
        return PageRequest(limit, after, binding[:2])

    patch.setattr("emulator.web.operations.PageRequest", page_request)


def page_skips_an_item(patch: pytest.MonkeyPatch) -> None:
    """The first item of each further page is left out."""

    def skipping(sections: Any, load: Any, request: PageRequest, signer: Any) -> Any:
        page = paginate(sections, load, request, signer)
        return page if request.after is None else dataclasses.replace(page, items=page.items[1:])

    patch.setattr("emulator.web.operations.paginate", skipping)


# Credits and the budget ------------------------------------------------------------------------------------------------


def leaked_credit(patch: pytest.MonkeyPatch) -> None:
    """Failed work keeps one of the Credits that were reserved for it."""
    original = Ledger.settle

    def settle(ledger: Ledger, at: int, work_id: str, charge: int) -> None:
        original(ledger, at, work_id, charge)
        if charge == 0 and ledger.available:
            ledger.granted -= 1

    patch.setattr(Ledger, "settle", settle)


def output_never_charged(patch: pytest.MonkeyPatch) -> None:
    """The last completed output is free."""

    def too_little(workflow: str, intent: Any, completed: int, slots: int) -> int:
        return generation_charge(workflow, intent, max(completed - 1, 0), slots)

    patch.setattr("emulator.service.generations.generation_charge", too_little)


def failed_output_charged(patch: pytest.MonkeyPatch) -> None:
    """Failed outputs cost as much as completed ones."""

    def too_much(workflow: str, intent: Any, completed: int, slots: int) -> int:
        return generation_charge(workflow, intent, slots, slots)

    patch.setattr("emulator.service.generations.generation_charge", too_much)


def place_not_given_back(patch: pytest.MonkeyPatch) -> None:
    """Work that cost nothing keeps its place in the concurrency budget."""

    def finish(account: Any, work_id: str, charge: int, now: int) -> None:
        account.ledger.settle(now, work_id, charge)
        if charge:
            account.budget.give_back(work_id)

    patch.setattr(work, "finish", finish)


def budget_one_too_large(patch: pytest.MonkeyPatch) -> None:
    """One piece of work more than the budget has places is let in."""
    original = work.check_budget

    def check_budget(caller: Caller, now: int) -> None:
        budget: ConcurrencyBudget = caller.account.budget
        if budget.used != caller.account.team.concurrency_limit:
            original(caller, now)

    patch.setattr(work, "check_budget", check_budget)


def _without(response: Response, name: bytes) -> Response:
    return response._replace(headers=tuple(header for header in response.headers if header[0] != name))


def _change_response(patch: pytest.MonkeyPatch, renderer: str, change: Callable[[Response], Response]) -> None:
    original = getattr(road, renderer)
    patch.setattr(road, renderer, lambda *arguments: change(original(*arguments)))


PLANTED_FAULTS: Final[dict[str, PlantedFault]] = {
    fault.__name__: fault
    for fault in (
        *PLANTED_AROUND,
        undeclared_status,
        missing_request_id,
        wrong_content_type,
        missing_retry_after,
        missing_location,
        wrong_nullability,
        null_instead_of_nothing,
        accepted_bad_word,
        unbounded_page_limit,
        ignored_credential_state,
        ignored_profile,
        ignored_subscription,
        other_team_is_visible,
        premade_may_be_deleted,
        use_after_delete,
        primary_not_reassigned,
        source_in_use_is_deleted,
        failure_leaves_ingredient,
        terminal_work_changes,
        pictures_of_the_deleted_are_held,
        upload_window_never_closes,
        state_file_loses_the_future,
        replay_executed_twice,
        reused_key_accepted,
        keys_shared_between_credentials,
        key_not_held_in_admission,
        refusal_binds_key,
        cursor_of_another_filter,
        page_skips_an_item,
        leaked_credit,
        output_never_charged,
        failed_output_charged,
        place_not_given_back,
        budget_one_too_large,
    )
}
