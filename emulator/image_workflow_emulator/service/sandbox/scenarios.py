"""The running scenarios of a sandbox: one for all its Teams, and one for any single
Team.

Owns how a scenario begins and ends, and which requests and work it is asked about.
"""

from urllib.parse import parse_qsl

from image_workflow_emulator.domain.resources import Team
from image_workflow_emulator.scenario.matching import Facts, Kind
from image_workflow_emulator.scenario.playbook import (
    NOTHING_HAPPENS,
    Decision,
    Playbook,
    RuleCounts,
)
from image_workflow_emulator.scenario.scenario import Scenario
from image_workflow_emulator.service.records.record import RequestRecord, json_or_none
from image_workflow_emulator.service.sandbox import changes
from image_workflow_emulator.service.sandbox.sandbox import (
    EVERYONE,
    RuleKey,
    Sandbox,
)
from image_workflow_emulator.service.sandbox.timeline_changes import (
    CHANGE_EVENT,
    make_change,
)


def begin(
    sandbox: Sandbox,
    scenario: Scenario,
    now: int,
    team_id: str = EVERYONE,
) -> None:
    """Start a scenario now; it replaces the one that ran for the same Teams."""
    _stop(sandbox, team_id)
    playbook = Playbook(scenario, now, sandbox.seed, team_id or None)
    sandbox.playbooks[team_id] = playbook
    for due, index in playbook.scheduled():
        sandbox.timeline.schedule(due, CHANGE_EVENT, team_id, index)
    sandbox.feed.note("scenario", team_id)


def end(sandbox: Sandbox, team_id: str = EVERYONE) -> None:
    """Stop a scenario: its rules, and the changes that it still has to make.

    What it has changed stays changed.
    """
    _stop(sandbox, team_id)
    sandbox.feed.note("scenario", team_id)


def _stop(sandbox: Sandbox, team_id: str) -> None:
    ended = sandbox.playbooks.pop(team_id, None)
    if ended is not None:
        count_rules(sandbox.past_rules, ended)
    sandbox.timeline.remove(team_id)
    changes.make_lasting(sandbox, team_id)


def count_rules(rules: dict[RuleKey, RuleCounts], playbook: Playbook) -> None:
    """Add the counts of a scenario's rules to those that were counted before."""
    scenario = playbook.scenario
    for rule_name, counted in playbook.counts.items():
        key = RuleKey(scenario.name, rule_name, scenario.is_shipped)
        counts = rules.setdefault(key, RuleCounts())
        counts.matched += counted.matched
        counts.fired += counted.fired


def decide(
    sandbox: Sandbox,
    facts: Facts,
    now: int,
) -> Decision:
    """Ask once what happens to a request or to work.

    The Team's own scenario is asked, and if it decides nothing, that of all Teams.
    """
    for playbook in _playbooks_of(sandbox, facts):
        decision = playbook.decide(facts, now)
        if decision.rule is not None:
            return decision
    return NOTHING_HAPPENS


def decide_after_commit(
    sandbox: Sandbox,
    facts: Facts,
    now: int,
) -> Decision:
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


def awaits_answer(sandbox: Sandbox) -> bool:
    """Tell whether a running scenario has a change to make right after some request."""
    return any(playbook.awaits_answer for playbook in sandbox.playbooks.values())


def note_answer(
    sandbox: Sandbox,
    facts: Facts,
    now: int,
) -> None:
    """Make the changes that scenarios make right after the answer to such a request."""
    for team_id in (facts.team_id, EVERYONE):
        playbook = sandbox.playbooks.get(team_id)
        if playbook is None:
            continue
        for index in playbook.answered(facts, now):
            make_change(sandbox, team_id, index, now)


def request_facts(
    sandbox: Sandbox,
    record: RequestRecord,
    identifier: str,
    body: bytes | None,
) -> Facts:
    """Return what a rule may know of a request.

    One on a byte surface belongs to the Team that owns the resource.
    """
    team = record.team or _owner_of(sandbox, identifier)
    key = ""
    if record.credential is not None:
        key = record.credential.key
    kind: Kind = "operation"
    if record.byte_surface is not None:
        kind = "bytes"
    team_id = ""
    team_name = ""
    if team is not None:
        team_id = team.id
        team_name = team.name
    json_body = None
    if record.operation is not None:
        json_body = json_or_none(body)
    query_text = record.query.decode("latin-1")
    return Facts(
        kind=kind,
        name=record.byte_surface or record.operation or "",
        team_id=team_id,
        team_name=team_name,
        body=json_body,
        credential=key,
        credential_name=key.removesuffix(sandbox.key_of("")),
        resource_id=identifier,
        resource_place=place_of(sandbox, identifier),
        query=dict(parse_qsl(query_text, keep_blank_values=True)),
        idempotency_key=record.idempotency_key or "",
    )


def _owner_of(sandbox: Sandbox, identifier: str) -> Team | None:
    """Return the Team that owns an Upload Session or an Asset."""
    store = sandbox.store
    upload = store.uploads.items.get(identifier)
    owned = upload or store.assets.items.get(identifier)
    if owned is None:
        return None
    return sandbox.accounts[owned.team_id].team


def place_of(sandbox: Sandbox, identifier: str) -> int | None:
    """Return which of its kind a resource is in the order of creation.

    Premade ones are not counted; None for one of these, and for an unknown id.
    """
    place = sandbox.identifiers.place_of(identifier)
    if place is None:
        return None
    prefix, _, _ = identifier.partition("_")
    premade_count = 0
    for collection in sandbox.store.ingredients.values():
        for premade_id in collection.ids_by_team.get(None, ()):
            premade_count += premade_id.startswith(f"{prefix}_")
    if place <= premade_count:
        return None
    return place - premade_count
