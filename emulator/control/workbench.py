"""Scenario files before they are used: the texts of the library, and what a file means for requests that came already."""

from itertools import islice
from typing import Any, Final
from urllib.parse import parse_qsl

import orjson

from emulator.control.calls import ControlCall
from emulator.control.scenarios import read_scenario_file
from emulator.documents.complaints import DocumentError
from emulator.domain.problems import Problem
from emulator.scenario.matching import RequestFacts, WorkFacts
from emulator.scenario.rules import Rule, WorkRule
from emulator.service import scenarios
from emulator.service.record import RequestRecord
from emulator.service.sandbox import Sandbox

MAX_SEARCHED: Final = 1_000
"""How many of the newest requests are tried with the rules of a scenario."""
MAX_MATCHES: Final = 20
"""How many requests are named for each rule."""


def show_library_scenario(call: ControlCall) -> dict[str, Any]:
    """GET /scenarios/{scenario}: the text of a scenario of the library. Raises Problem not_found."""
    name = call.parameters["scenario"]
    try:
        return {"name": name, "text": call.plane.library.text(name)}
    except DocumentError as error:
        raise Problem("not_found", str(error.complaints[0])) from None


def check_scenario(call: ControlCall) -> dict[str, Any]:
    """POST /scenario/check: read a scenario without using it, and name the recent requests that its rules match.

    Raises:
        Problem: invalid_scenario, with line and column.
    """
    scenario, warnings = read_scenario_file(call, "")
    recent = list(islice(call.sandbox.journal.newest_first(), MAX_SEARCHED))
    rules = [
        {"name": rule.name, "line": rule.line, "requests": _matched(call.sandbox, rule, recent)}
        for rule in scenario.rules
    ]
    return {"scenario": scenario.name, "rules": rules, "warnings": warnings}


def _matched(sandbox: Sandbox, rule: Rule, recent: list[RequestRecord]) -> list[int]:
    """Return the sequence numbers of the newest requests that a rule matches, whatever its `when` says."""
    return list(islice((record.sequence for record in recent if _matches(sandbox, rule, record)), MAX_MATCHES))


def _matches(sandbox: Sandbox, rule: Rule, record: RequestRecord) -> bool:
    if isinstance(rule, WorkRule):
        facts = _work_facts(sandbox, record)
        return facts is not None and rule.match.matches(facts)
    return rule.match.matches(_request_facts(sandbox, record))


def _request_facts(sandbox: Sandbox, record: RequestRecord) -> RequestFacts:
    """Return what a rule may know of a request that was recorded."""
    identifier = next((part for part in record.path.split("/") if sandbox.identifiers.place_of(part) is not None), "")
    team = record.team or scenarios.owner_of(sandbox, identifier)
    key = "" if record.credential is None else record.credential.key
    return RequestFacts(
        operation=record.operation,
        team_id="" if team is None else team.id,
        team_name="" if team is None else team.name,
        body=orjson.loads(record.request_body) if record.request_body else None,
        credential=key,
        credential_name=key.removesuffix(sandbox.key_of("")),
        resource_id=identifier,
        resource_place=scenarios.place_of(sandbox, identifier),
        query=dict(parse_qsl(record.query.decode("latin-1"), keep_blank_values=True)),
        idempotency_key=record.idempotency_key or "",
        bytes=record.byte_surface,
    )


def _work_facts(sandbox: Sandbox, record: RequestRecord) -> WorkFacts | None:
    """Return what a rule may know of the work that a request admitted; None if it admitted none that still exists."""
    store, work_id = sandbox.store, record.work_id or ""
    generation, operation = store.generations.items.get(work_id), store.operations.items.get(work_id)
    if record.team is None or record.operation is None or (generation is None and operation is None):
        return None
    team, admitted_by = record.team, record.operation
    if generation is not None:
        return WorkFacts(generation.workflow, team.id, team.name, admitted_by, len(generation.outputs))
    assert operation is not None
    return WorkFacts(operation.type, team.id, team.name, admitted_by)
