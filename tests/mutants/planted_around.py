"""Faults to be planted around the service: in its clock, in what goes wrong on request, between Teams and sandboxes.

Like those of `planted_faults`, which lists them with its own.
"""

import dataclasses
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

import pytest
from emulator.web.road import Road

from emulator.domain import lifecycles
from emulator.domain.idempotency import IdempotencyRecords
from emulator.domain.problems import CATALOGUE, Problem
from emulator.http import responses
from emulator.http.responses import Response
from emulator.scenario.changes import AdmissionChange
from emulator.service import engine, generations, scenarios
from emulator.service.accounts import Caller
from emulator.service.images import ImageStore
from emulator.service.sandbox import Sandbox
from emulator.service.sandboxes import Sandboxes
from emulator.web import faults, operations, road
from emulator.web.operations import Call, Reply

# The auto clock --------------------------------------------------------------------------------------------------------


def poll_takes_no_wait(patch: pytest.MonkeyPatch) -> None:
    """An auto clock stands still when work is polled, and yet asks for no wait."""
    _change_advance(patch, "emulator.web.operations.engine", lambda sandbox, instant: 0)


def poll_waits_too_long(patch: pytest.MonkeyPatch) -> None:
    """A poll on an auto clock takes a second more than it should."""
    _change_advance(
        patch, "emulator.web.operations.engine", lambda sandbox, instant: engine.advance(sandbox, instant + 1000)
    )


def poll_waits_for_the_end(patch: pytest.MonkeyPatch) -> None:
    """A poll on an auto clock waits until everything unfinished is done."""

    def advance(sandbox: Sandbox, instant: int) -> int:
        return engine.advance(sandbox, max(instant, engine.idle_at(sandbox) or 0))

    _change_advance(patch, "emulator.web.operations.engine", advance)


def refusal_takes_no_wait(patch: pytest.MonkeyPatch) -> None:
    """An auto clock does not take the wait of a 429 or 503."""
    _change_advance(patch, "emulator.web.road.engine", lambda sandbox, instant: 0)


def refusal_asks_for_a_wait_already_taken(patch: pytest.MonkeyPatch) -> None:
    """A client is asked to wait although an auto clock has taken the wait."""
    original = responses.problem_response

    def problem_response(problem: Problem, request_id: str, retry_after: int | None) -> Response:
        return original(problem, request_id, problem.retry_after)

    patch.setattr(road, "problem_response", problem_response)


def list_is_a_poll(patch: pytest.MonkeyPatch) -> None:
    """Reading a list of Operations moves an auto clock."""
    original = operations.HANDLERS["listOperations"]

    def list_operations(call: Call) -> Reply:
        if call.caller.sandbox.clock.takes_waits:
            engine.advance(call.caller.sandbox, call.now + 1000)
        return original(call)

    patch.setitem(operations.HANDLERS, "listOperations", list_operations)


def pause_is_waited_for_too_long(patch: pytest.MonkeyPatch) -> None:
    """A pause is waited for twice as long as it lasts."""
    original = Caller.check_pause

    def check_pause(caller: Caller, now: int) -> None:
        try:
            original(caller, now)
        except Problem as problem:
            problem.retry_wait_ms *= 2
            raise

    patch.setattr(Caller, "check_pause", check_pause)


# Problems on request ---------------------------------------------------------------------------------------------------


def fault_header_is_heeded_twice(patch: pytest.MonkeyPatch) -> None:
    """The problem that a write asked for comes to the next write of its credential as well."""
    original, left = Caller.before_commit, dict[str, Problem]()

    def before_commit(caller: Caller) -> None:
        if caller.problem_due is None and caller.credential.key in left:
            raise left.pop(caller.credential.key)
        if caller.problem_due is not None:
            left[caller.credential.key] = caller.problem_due
        original(caller)

    patch.setattr(Caller, "before_commit", before_commit)


def fault_header_is_counted_by_the_scenario(patch: pytest.MonkeyPatch) -> None:
    """A scenario counts the requests that ask for a problem themselves."""
    original = Road._ask_scenario

    async def ask_scenario(road: Road, passage: Any, route: Any, call: Call) -> None:
        if faults.FAULT_HEADER in passage.request.headers:
            scenarios.decide_request(call.caller, route.operation.id, None, call.now)
        await original(road, passage, route, call)

    patch.setattr(Road, "_ask_scenario", ask_scenario)


def fault_header_takes_any_code(patch: pytest.MonkeyPatch) -> None:
    """A request can ask for a code that its operation cannot return."""
    original = faults.requested_fault
    patch.setattr(faults, "requested_fault", lambda header, codes: original(header, frozenset(CATALOGUE)))


def fault_header_is_ignored(patch: pytest.MonkeyPatch) -> None:
    """The header Emulator-Fault does nothing."""
    patch.setattr(faults, "FAULT_HEADER", b"x-no-such-header")


def asked_problem_never_comes(patch: pytest.MonkeyPatch) -> None:
    """A write that asks for a problem is carried out, if nothing else is wrong with it."""
    patch.setattr(Caller, "before_commit", lambda caller: None)


def injected_402_frees_the_key(patch: pytest.MonkeyPatch) -> None:
    """A 402 does not bind its key."""
    patch.setattr("emulator.web.road.KEY_BINDING_CODES", frozenset())


# Scenarios of one Team -------------------------------------------------------------------------------------------------


def rules_of_a_team_hit_all(patch: pytest.MonkeyPatch) -> None:
    """The rules of a Team's scenario act on the requests and the work of every Team."""
    patch.setattr("emulator.scenario.playbook.is_team", lambda wanted, team_id, team_name: True)
    patch.setattr(scenarios, "_playbooks", lambda caller: list(caller.sandbox.playbooks.values()))


def changes_of_a_team_hit_all(patch: pytest.MonkeyPatch) -> None:
    """The timeline of a Team's scenario changes whatever Team it names."""
    original = scenarios._affected
    patch.setattr(scenarios, "_affected", lambda sandbox, team_id, name: original(sandbox, "", name))


def pause_of_a_team_stops_all(patch: pytest.MonkeyPatch) -> None:
    """A Team's scenario pauses the writes of everyone."""
    original = scenarios._apply

    def apply(sandbox: Sandbox, team_id: str, change: Any, now: int, opens_at: int | None) -> None:
        original(sandbox, "" if isinstance(change, AdmissionChange) else team_id, change, now, opens_at)

    patch.setattr(scenarios, "_apply", apply)


def scenario_of_everyone_ends_those_of_teams(patch: pytest.MonkeyPatch) -> None:
    """When everyone's scenario begins, those of single Teams are gone."""
    original = scenarios.begin

    def begin(sandbox: Sandbox, scenario: Any, now: int, team_id: str = scenarios.EVERYONE) -> None:
        if team_id == scenarios.EVERYONE:
            for other in [*sandbox.playbooks]:
                scenarios.end(sandbox, other)
        original(sandbox, scenario, now, team_id)

    patch.setattr(scenarios, "begin", begin)


def scenario_of_everyone_goes_first(patch: pytest.MonkeyPatch) -> None:
    """Everyone's scenario is asked before that of the Team."""
    original = scenarios._playbooks
    patch.setattr(scenarios, "_playbooks", lambda caller: original(caller)[::-1])


# Sandboxes side by side ------------------------------------------------------------------------------------------------


def sandboxes_share_their_keys(patch: pytest.MonkeyPatch) -> None:
    """An Idempotency-Key that was used in one sandbox is taken in all of them."""
    records = IdempotencyRecords()
    _change_becoming(patch, lambda sandbox: setattr(sandbox, "idempotency", records))


def sandboxes_share_a_clock(patch: pytest.MonkeyPatch) -> None:
    """Time that passes in one sandbox has passed in all."""
    _share_the_first(patch, "clock")


def sandboxes_share_their_identifiers(patch: pytest.MonkeyPatch) -> None:
    """What is made in one sandbox uses up the ids of the others."""
    _share_the_first(patch, "identifiers")


def sandboxes_share_a_scenario(patch: pytest.MonkeyPatch) -> None:
    """A scenario that begins in one sandbox runs in all."""
    playbooks: dict[str, Any] = {}
    _change_becoming(patch, lambda sandbox: setattr(sandbox, "playbooks", playbooks))


def sandboxes_share_their_pictures(patch: pytest.MonkeyPatch) -> None:
    """A picture that was deleted in one sandbox is missing in all."""
    pictures: dict[str, Any] = {}
    _change_becoming(patch, lambda sandbox: setattr(sandbox.images, "pictures", pictures))


def reset_begins_everything_anew(patch: pytest.MonkeyPatch) -> None:
    """The reset of one sandbox resets all."""
    original = Sandboxes.reset

    def reset(sandboxes: Sandboxes, sandbox: Sandbox) -> None:
        for other in sandboxes.by_id.values():
            original(sandboxes, other)

    patch.setattr(Sandboxes, "reset", reset)


def reset_keeps_the_keys(patch: pytest.MonkeyPatch) -> None:
    """After a reset Idempotency-Keys are still bound."""
    original = Sandbox.become

    def become(sandbox: Sandbox, *arguments: Any, **named: Any) -> None:
        records = getattr(sandbox, "idempotency", None)
        original(sandbox, *arguments, **named)
        sandbox.idempotency = records or sandbox.idempotency

    patch.setattr(Sandbox, "become", become)


def reset_forgets_the_scenarios_of_teams(patch: pytest.MonkeyPatch) -> None:
    """A reset ends the scenarios of single Teams."""

    def reset(call: Any) -> None:
        call.plane.sandboxes.reset(call.sandbox)

    patch.setattr("emulator.control.sandboxes.reset_with_scenarios", reset)


def keys_of_the_deleted_are_good(patch: pytest.MonkeyPatch) -> None:
    """The keys of a deleted sandbox are still let in."""
    patch.setattr(Sandboxes, "_forget_keys", lambda sandboxes, sandbox: None)


def bytes_of_the_deleted_are_counted(patch: pytest.MonkeyPatch) -> None:
    """The image bytes of a sandbox that was reset or deleted go on to count against the memory limit."""
    patch.setattr(ImageStore, "close", lambda images: None)


# Failures --------------------------------------------------------------------------------------------------------------


def failed_output_leaves_its_asset(patch: pytest.MonkeyPatch) -> None:
    """A failed output leaves an Asset behind, although the Generation does not name it."""
    original = generations.finish_output

    def finish_output(sandbox: Sandbox, generation_id: str, slot: int, now: int) -> None:
        generation = sandbox.store.generations.items[generation_id]
        if generation.plan[slot].failure:
            generations._add_asset(sandbox, generation, generation.plan[slot].picture, now)
        original(sandbox, generation_id, slot, now)

    patch.setattr(generations, "finish_output", finish_output)


def ended_generation_is_touched(patch: pytest.MonkeyPatch) -> None:
    """A Generation that has ended is said to have changed when the next one of its Team starts."""
    original = generations.start_generation

    def start_generation(sandbox: Sandbox, generation_id: str, now: int) -> None:
        original(sandbox, generation_id, now)
        for identifier in sandbox.store.generations.ids(sandbox.store.generations.items[generation_id].team_id):
            other = sandbox.store.generations.items[identifier]
            if other.status in lifecycles.TERMINAL:
                sandbox.store.generations.replace(dataclasses.replace(other, updated_at=now))

    patch.setattr(generations, "start_generation", start_generation)


def _change_advance(patch: pytest.MonkeyPatch, where: str, advance: Callable[[Sandbox, int], int]) -> None:
    """Let one module move the clock in another way."""
    patch.setattr(where, SimpleNamespace(**{**vars(engine), "advance": advance}))


def _share_the_first(patch: pytest.MonkeyPatch, name: str) -> None:
    """Let all sandboxes have what the first of them has under a name."""
    shared: list[Any] = []

    def share(sandbox: Sandbox) -> None:
        shared.append(getattr(sandbox, name))
        setattr(sandbox, name, shared[0])

    _change_becoming(patch, share)


def _change_becoming(patch: pytest.MonkeyPatch, change: Callable[[Sandbox], None]) -> None:
    """Change every sandbox when it has been emptied, before anything is in it."""
    original = Sandbox.become

    def become(sandbox: Sandbox, *arguments: Any, **named: Any) -> None:
        original(sandbox, *arguments, **named)
        change(sandbox)

    patch.setattr(Sandbox, "become", become)


PLANTED_AROUND: Final = (
    poll_takes_no_wait,
    poll_waits_too_long,
    poll_waits_for_the_end,
    refusal_takes_no_wait,
    refusal_asks_for_a_wait_already_taken,
    list_is_a_poll,
    pause_is_waited_for_too_long,
    fault_header_is_heeded_twice,
    fault_header_is_counted_by_the_scenario,
    fault_header_takes_any_code,
    fault_header_is_ignored,
    asked_problem_never_comes,
    injected_402_frees_the_key,
    rules_of_a_team_hit_all,
    changes_of_a_team_hit_all,
    pause_of_a_team_stops_all,
    scenario_of_everyone_ends_those_of_teams,
    scenario_of_everyone_goes_first,
    sandboxes_share_their_keys,
    sandboxes_share_a_clock,
    sandboxes_share_their_identifiers,
    sandboxes_share_a_scenario,
    sandboxes_share_their_pictures,
    reset_begins_everything_anew,
    reset_keeps_the_keys,
    reset_forgets_the_scenarios_of_teams,
    keys_of_the_deleted_are_good,
    bytes_of_the_deleted_are_counted,
    failed_output_leaves_its_asset,
    ended_generation_is_touched,
)
