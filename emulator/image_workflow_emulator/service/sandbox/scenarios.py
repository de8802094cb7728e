"""The running scenarios of a sandbox: one for all its Teams, and one for any single Team.

Owns how a scenario begins and ends, which requests it is asked about, how the changes of its timeline and world are
made (in the same state that a real cause would change), and the problems that it asks for, with the answer that the
service itself would give now (D42, D47).
"""

from urllib.parse import parse_qsl

from msgspec import structs

from image_workflow_emulator.domain.credit_changes import CreditReason
from image_workflow_emulator.domain.limits import NOTHING_DUE_MS, AdmissionPause
from image_workflow_emulator.domain.problems import CATALOGUE, Cause, Problem
from image_workflow_emulator.kernel.timestamps import SECOND_MS, seconds_up
from image_workflow_emulator.scenario.matching import Facts
from image_workflow_emulator.scenario.playbook import (
    NOTHING_HAPPENS,
    Decision,
    Playbook,
    RuleCounts,
)
from image_workflow_emulator.scenario.scenario import Scenario
from image_workflow_emulator.scenario.timeline import AdmissionChange
from image_workflow_emulator.scenario.world import World, WorldCredential, WorldTeam
from image_workflow_emulator.service.records.record import RequestRecord, json_or_none
from image_workflow_emulator.service.sandbox.calls import Caller
from image_workflow_emulator.service.sandbox.sandbox import (
    CredentialAccount,
    Sandbox,
    TeamAccount,
)

CHANGE_EVENT = "scenario_change"
EVERYONE = ""
"""The key of the scenario that is not limited to one Team."""


def begin(
    sandbox: Sandbox, scenario: Scenario, now: int, team_id: str = EVERYONE
) -> None:
    """Start a scenario now; it replaces the one that ran for the same Teams."""
    _stop(sandbox, team_id)
    playbook = Playbook(scenario, now, sandbox.seed, team_id or None)
    sandbox.playbooks[team_id] = playbook
    for due, index in playbook.scheduled():
        sandbox.timeline.schedule(due, CHANGE_EVENT, team_id, index)
    sandbox.feed.note("scenario", team_id)


def end(sandbox: Sandbox, team_id: str = EVERYONE) -> None:
    """Stop a scenario: its rules, and the changes it still has to make. What it changed stays changed."""
    _stop(sandbox, team_id)
    sandbox.feed.note("scenario", team_id)


def _stop(sandbox: Sandbox, team_id: str) -> None:
    ended = sandbox.playbooks.pop(team_id, None)
    if ended is not None:
        count_rules(sandbox.past_rules, ended)
    sandbox.timeline.remove(team_id)
    pause = sandbox.accounts[team_id].pause if team_id else sandbox.pause
    pause.opens_at = None  # the change that would have ended it is gone


def count_rules(rules: dict[tuple[str, str], RuleCounts], playbook: Playbook) -> None:
    """Add the counts of a scenario, by its name and the rule's; a shipped scenario's rules count only when they
    fired.
    """
    for row in playbook.rules_report():
        if row["fired"] or not playbook.scenario.is_shipped:
            counts = rules.setdefault(
                (playbook.scenario.name, row["name"]), RuleCounts()
            )
            counts.matched += row["matched"]
            counts.fired += row["fired"]


def decide(sandbox: Sandbox, facts: Facts, now: int) -> Decision:
    """Ask once what happens to a request or to work.

    The Team's own scenario is asked, and if it decides nothing, that of all Teams.
    """
    for playbook in _playbooks_of(sandbox, facts):
        decision = playbook.decide(facts, now)
        if decision.rule is not None:
            return decision
    return NOTHING_HAPPENS


def decide_after_commit(sandbox: Sandbox, facts: Facts, now: int) -> Decision:
    """Ask once what happens to the answer to a request that was carried out."""
    for playbook in _playbooks_of(sandbox, facts):
        decision = playbook.decide_after_commit(facts, now)
        if decision.rule is not None:
            return decision
    return NOTHING_HAPPENS


def _playbooks_of(sandbox: Sandbox, facts: Facts) -> list[Playbook]:
    """Return the running scenarios of a Team: its own first, then that of all Teams."""
    return [
        sandbox.playbooks[team_id]
        for team_id in (facts.team_id, EVERYONE)
        if team_id in sandbox.playbooks
    ]


def make_change(sandbox: Sandbox, team_id: str, index: int, now: int) -> None:
    """Make one change of a running scenario's timeline."""
    playbook = sandbox.playbooks[team_id]
    timed = playbook.scenario.timeline[index]
    cause = Cause(playbook.scenario.file, timed.line, now)
    match timed.change:
        case AdmissionChange() as change:
            change_admission(
                sandbox, change, team_id, playbook.opens_at(index, now), cause
            )
        case WorldCredential(key) as change:
            held = sandbox.credentials.get(key) or sandbox.credentials.get(
                sandbox.key_of(key)
            )
            if held is not None and (not team_id or held.credential.team_id == team_id):
                change_credential(sandbox, held, change, cause)
        case WorldTeam() as change:  # pragma: no branch (there is no other change)
            for account in _affected(sandbox, team_id, change.name):
                change_team(sandbox, account, change, now, "scenario", cause)
    sandbox.feed.note("scenario", team_id)


def awaits_answer(sandbox: Sandbox) -> bool:
    """Tell whether a running scenario has a change to make right after some request."""
    return any(
        awaited.done_at is None
        for playbook in sandbox.playbooks.values()
        for awaited in playbook.awaited.values()
    )


def note_answer(sandbox: Sandbox, facts: Facts, now: int) -> None:
    """Make the changes that scenarios make right after the answer to a request like this."""
    for key in (facts.team_id, EVERYONE):
        if key in sandbox.playbooks:
            for index in sandbox.playbooks[key].answered(facts, now):
                make_change(sandbox, key, index, now)


def request_facts(
    sandbox: Sandbox, record: RequestRecord, identifier: str, body: bytes | None
) -> Facts:
    """Return what a rule may know of a request; one on a byte surface is of the Team that owns the resource."""
    team, store = record.team, sandbox.store
    owned = store.uploads.items.get(identifier) or store.assets.items.get(identifier)
    if team is None and owned is not None:
        team = sandbox.accounts[owned.team_id].team
    key = "" if record.credential is None else record.credential.key
    return Facts(
        "operation" if record.byte_surface is None else "bytes",
        record.byte_surface or record.operation or "",
        team_id="" if team is None else team.id,
        team_name="" if team is None else team.name,
        body=None if record.operation is None else json_or_none(body),
        credential=key,
        credential_name=key.removesuffix(sandbox.key_of("")),
        resource_id=identifier,
        resource_place=place_of(sandbox, identifier),
        query=dict(parse_qsl(record.query.decode("latin-1"), keep_blank_values=True)),
        idempotency_key=record.idempotency_key or "",
    )


def place_of(sandbox: Sandbox, identifier: str) -> int | None:
    """Return which of its kind a resource is in the order of creation, premade ones not counted; None if it is none."""
    place = sandbox.identifiers.place_of(identifier)
    if place is None:
        return None
    prefix = identifier.partition("_")[0] + "_"
    kinds = sandbox.store.ingredients.values()
    premade = sum(
        known.startswith(prefix)
        for kind in kinds
        for known in kind.ids_by_team.get(None, ())
    )
    return place - premade if place > premade else None


def change_world(
    sandbox: Sandbox, changes: World, now: int, team_id: str = EVERYONE
) -> None:
    """Make a scenario's changes to the world at once: Teams it names are changed, others are opened."""
    for change in changes.teams:
        accounts = _affected(sandbox, team_id, change.name)
        for account in accounts:
            change_team(sandbox, account, change, now, "scenario")
            for credential in change.credentials:
                held = sandbox.credentials.get(sandbox.key_of(credential.key))
                if held is None:
                    sandbox.add_credential(account, credential, now)
                else:
                    change_credential(sandbox, held, credential)
        if not accounts and not team_id and change.credentials:
            sandbox.add_team(change, now)
    sandbox.timings = structs.replace(sandbox.timings, **changes.timings)


def change_team(
    sandbox: Sandbox,
    account: TeamAccount,
    change: WorldTeam,
    now: int,
    reason: CreditReason,
    cause: Cause | None = None,
) -> None:
    """Set the values of a Team that a change names.

    `reason` is noted with a change of its Credits. `cause` is the place of the change in a timeline.
    """
    values = change.values()
    for name in values:
        _note_cause(sandbox, name, account.team.id, cause)
    if "credits" in values:
        difference = values.pop("credits") - account.ledger.available
        account.ledger.grant(difference, now, reason)
    account.team = structs.replace(account.team, **values)
    sandbox.feed.note("team", account.team.id)


def _note_cause(
    sandbox: Sandbox, what: str, identifier: str, cause: Cause | None
) -> None:
    """Remember which change of a timeline set something, or that something else did."""
    if cause is None:
        sandbox.causes.pop((what, identifier), None)
    else:
        sandbox.causes[what, identifier] = cause


def change_admission(
    sandbox: Sandbox,
    change: AdmissionChange,
    team_id: str = EVERYONE,
    opens_at: int | None = None,
    cause: Cause | None = None,
) -> None:
    """Pause new writes, or let them in again, for all Teams or one. `opens_at`: when a later change lets them in."""
    pause = AdmissionPause(change.admission == "paused", opens_at=opens_at)
    if change.retry_after is not None:
        pause.retry_after = change.retry_after
    if team_id:
        sandbox.accounts[team_id].pause = pause
    else:
        sandbox.pause = pause
    _note_cause(sandbox, "pause", team_id, cause)


def change_credential(
    sandbox: Sandbox,
    held: CredentialAccount,
    change: WorldCredential,
    cause: Cause | None = None,
) -> None:
    """Set the values of a credential that a change names. `cause` is the place of the change in a timeline."""
    _note_cause(sandbox, "credential", held.credential.id, cause)
    held.credential = structs.replace(held.credential, **change.values())
    sandbox.feed.note("team", held.credential.team_id)


def _affected(
    sandbox: Sandbox, team_id: str, name_or_id: str | None
) -> list[TeamAccount]:
    """Return the Teams that a change names, as far as the scenario may touch them."""
    return [
        account
        for account in sandbox.find_accounts(name_or_id)
        if not team_id or account.team.id == team_id
    ]


# The problems that a scenario asks for --------------------------------------------------------------------------------


_RATE_RETRY_SECONDS = 5
_REFUSED_READ = "wait for Retry-After, then retry"
"""What to do where a pause of new writes, which is what service_unavailable means of itself, would not be the cause."""


def injected_problem(
    sandbox: Sandbox,
    caller: Caller | None,
    now: int,
    code: str,
    detail: str | None,
    retry_after: int | None,
    is_read: bool,
) -> Problem:
    """Return the problem of a code. `detail` and `retry_after` (seconds): None for the service's own."""
    kind, wait_ms = CATALOGUE[code], 0
    if retry_after is None and kind.status in (429, 503):
        wait_ms = _wait_ms(sandbox, caller, now, code)
        retry_after = max(seconds_up(wait_ms), 1)
    recovery = (
        _REFUSED_READ if is_read and code == "service_unavailable" else kind.recovery
    )
    return Problem(
        code,
        detail
        or f"this answer was injected, whatever the state of the service: {recovery}",
        retry_after=retry_after,
        retry_wait_ms=wait_ms,
        active_operation_id=_active_operation_id(sandbox, caller)
        if code == "resource_operation_in_progress"
        else None,
        is_injected=True,
    )


def _wait_ms(sandbox: Sandbox, caller: Caller | None, now: int, code: str) -> int:
    if code == "rate_limited":
        return _RATE_RETRY_SECONDS * SECOND_MS
    if code == "service_unavailable":
        pause = (
            caller.account.pause
            if caller is not None and caller.account.pause.paused
            else sandbox.pause
        )
        return pause.retry_after * SECOND_MS
    return NOTHING_DUE_MS if caller is None else caller.account.budget.wait_ms(now)


def _active_operation_id(sandbox: Sandbox, caller: Caller | None) -> str:
    """Return an Operation to be polled: the Team's newest, an unfinished one first; if it has none, an unknown id."""
    operations = sandbox.store.operations
    found = (
        []
        if caller is None
        else [
            work
            for work in caller.account.budget.finishes_at
            if work in operations.items
        ]
    )
    if not found and caller is not None:
        found = list(operations.ids(caller.team_id)[-1:])
    # An id of a kind of its own, so that those of Operations to come stay what they are (D09).
    return (
        found[-1]
        if found
        else "op" + sandbox.identifiers.next("fault").removeprefix("fault")
    )
