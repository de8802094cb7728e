"""Scenarios before they are used: those of the library, and the check of a file against
the requests that came.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from image_workflow_emulator.control import JsonObject
from image_workflow_emulator.control.endpoint import ControlCall, in_slices
from image_workflow_emulator.control.scenario_reading import read_scenario_file
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.resources import Operation
from image_workflow_emulator.scenario.matching import Facts
from image_workflow_emulator.scenario.scenario import Rule
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox import scenarios
from image_workflow_emulator.service.sandbox.sandbox import EVERYONE, Sandbox

MAX_SEARCHED: Final = 1_000
"""How many of the newest requests are tried with the rules of a scenario."""
MAX_TRIALS: Final = 100_000
"""How often a request is tried with a rule, so that a long file costs no more time."""
MAX_NAMED: Final = 20
"""How many requests are named for each rule."""


def list_scenarios(call: ControlCall) -> JsonObject:
    """GET /scenarios."""
    return {"data": call.plane.library.entries}


def get_library_scenario(call: ControlCall) -> JsonObject:
    """GET /scenarios/{scenario}: the text of a scenario of the library.

    Raises:
        Problem: not_found.
    """
    name = call.parameters["scenario"]
    try:
        return {"name": name, "text": call.plane.library.text(name)}
    except DocumentError as error:
        raise Problem("not_found", str(error.complaints[0])) from None


async def check_scenario(call: ControlCall) -> JsonObject:
    """POST /scenario/check: read a scenario without using it; name the recent requests
    that its rules match.

    Raises:
        Problem: invalid_scenario, with line and column.
    """
    scenario = await read_scenario_file(call, EVERYONE)
    number_of_rules = max(1, len(scenario.rules))
    most_tried = min(MAX_SEARCHED, MAX_TRIALS // number_of_rules)
    newest_first = call.sandbox.journal.newest_first()
    tried = islice(newest_first, most_tried)
    recent = [_recent_request(call.sandbox, record) for record in tried]
    rules = await in_slices(scenario.rules, lambda rule: _describe_rule(rule, recent))
    return {"scenario": scenario.name, "rules": rules}


class _RecentRequest(Struct, frozen=True):
    """What rules may know of a request that was recorded."""

    sequence: int
    request: Facts
    work: Facts | None
    """The same of the work that it admitted; None if it admitted none that still
    exists."""


def _describe_rule(rule: Rule, recent: Sequence[_RecentRequest]) -> JsonObject:
    """Return a rule with the newest requests that it matches, whatever its `when`
    says.
    """
    newest_matching = islice(_matching(rule, recent), MAX_NAMED)
    return {
        "name": rule.name,
        "line": rule.line,
        "requests": list(newest_matching),
    }


def _matching(rule: Rule, recent: Sequence[_RecentRequest]) -> Iterator[int]:
    """Iterate over the sequence numbers of the requests that a rule matches."""
    for record in recent:
        facts: Facts | None = record.request
        if rule.match.kind == "work":
            facts = record.work
        if facts is not None and rule.match.matches(facts):
            yield record.sequence


def _recent_request(sandbox: Sandbox, record: RequestRecord) -> _RecentRequest:
    resource_id = _resource_id(sandbox, record.path)
    return _RecentRequest(
        sequence=record.sequence,
        request=scenarios.request_facts(
            sandbox,
            record,
            resource_id,
            record.request_body,
        ),
        work=_work_facts(sandbox, record),
    )


def _resource_id(sandbox: Sandbox, path: str) -> str:
    """Return the first step of a path that is an id of the sandbox; empty if none is."""
    for step in path.split("/"):
        if sandbox.identifiers.place_of(step) is not None:
            return step
    return ""


def _work_facts(sandbox: Sandbox, record: RequestRecord) -> Facts | None:
    work = sandbox.store.find_work(record.work_id or "")
    team = record.team
    if team is None or record.operation is None or work is None:
        return None
    if isinstance(work, Operation):
        name: str = work.type
        outputs = 1
    else:
        name = work.workflow
        outputs = len(work.outputs)
    return Facts(
        kind="work",
        name=name,
        team_id=team.id,
        team_name=team.name,
        outputs=outputs,
    )
