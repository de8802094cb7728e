"""Scenario files before they are used: the texts of the library, and what a file means for requests that came."""

from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

import orjson

from emulator.control.calls import ControlCall
from emulator.control.masks import Masks
from emulator.control.scenarios import read_scenario_file
from emulator.documents.complaints import DocumentError
from emulator.domain.problems import Problem
from emulator.domain.resources import Generation
from emulator.scenario.matching import RequestFacts, WorkFacts
from emulator.scenario.reach import warnings_of
from emulator.scenario.scenario import Rule, WorkRule
from emulator.service import scenarios
from emulator.service.record import RequestRecord
from emulator.service.sandbox import Sandbox

MAX_SEARCHED: Final = 1_000
"""How many of the newest requests are tried with the rules of a scenario."""
MAX_TRIALS: Final = 100_000
"""How often a request is tried with a rule, so that a long file costs no more time."""
MAX_SHOWN: Final = 20
"""How many requests are named for each rule."""


def show_library_scenario(call: ControlCall) -> dict[str, Any]:
    """GET /scenarios/{scenario}: the text of a scenario of the library. Raises Problem not_found."""
    name = call.parameters["scenario"]
    try:
        return {"name": name, "text": call.plane.library.text(name)}
    except DocumentError as error:
        raise Problem("not_found", str(error.complaints[0])) from None


async def check_scenario(call: ControlCall) -> dict[str, Any]:
    """POST /scenario/check: read a scenario without using it; name the recent requests that its rules match, or nearly do.

    Raises:
        Problem: invalid_scenario, with line and column.
    """
    scenario = await read_scenario_file(call, "")
    sandbox, masks = call.sandbox, Masks(call.sandbox.credentials)
    tried = min(MAX_SEARCHED, MAX_TRIALS // max(1, len(scenario.rules)))
    recent = [
        (record.sequence, _request_facts(sandbox, record), _work_facts(sandbox, record))
        for record in islice(sandbox.journal.newest_first(), tried)
    ]
    rules = [{"name": rule.name, "line": rule.line, **_compared(rule, recent, masks)} for rule in scenario.rules]
    return {
        "scenario": scenario.name,
        "rules": rules,
        "warnings": list(warnings_of(scenario, sandbox.rate_limits)),
    }


def _compared(rule: Rule, recent: Iterable[tuple[int, Any, Any]], masks: Masks) -> dict[str, list[Any]]:
    """Return the requests that a rule matches, whatever its `when` says, and those of its kind that miss one condition."""
    is_of_work = isinstance(rule, WorkRule)
    facts = {number: of_work if is_of_work else of_request for number, of_request, of_work in recent}
    misses = {number: list(islice(rule.match.misses(known), 2)) for number, known in facts.items() if known is not None}
    nearly = {number: one[0] for number, one in misses.items() if len(one) == 1 and not one[0].is_kind}
    return {
        "requests": [number for number, some in misses.items() if not some][:MAX_SHOWN],
        "nearly": [
            {"request": number, "reason": masks.of_text(str(miss))}
            for number, miss in islice(nearly.items(), MAX_SHOWN)
        ],
    }


def _request_facts(sandbox: Sandbox, record: RequestRecord) -> RequestFacts:
    """Return what a rule may know of a request that was recorded."""
    return scenarios.request_facts(
        sandbox,
        record.team,
        "" if record.credential is None else record.credential.key,
        next((part for part in record.path.split("/") if sandbox.identifiers.place_of(part) is not None), ""),
        record.query,
        operation=record.operation,
        body=orjson.loads(record.request_body) if record.request_body else None,
        idempotency_key=record.idempotency_key or "",
        bytes=record.byte_surface,
    )


def _work_facts(sandbox: Sandbox, record: RequestRecord) -> WorkFacts | None:
    """Return what a rule may know of the work that a request admitted; None if it admitted none that still exists."""
    store, work_id = sandbox.store, record.work_id or ""
    work = store.generations.items.get(work_id) or store.operations.items.get(work_id)
    if record.team is None or record.operation is None or work is None:
        return None
    name, outputs = (work.workflow, len(work.outputs)) if isinstance(work, Generation) else (work.type, 1)
    return WorkFacts(name, record.team.id, record.team.name, record.operation, outputs)
