"""What a run of Schemathesis knows of the emulator: where it is, fresh keys, ids that exist, and one check more.

Loaded by Schemathesis itself, in a process of its own, by SCHEMATHESIS_HOOKS. At its end it writes which statuses each
operation answered, by operation id, to the file that CONTRACT_RUN_REPORT names.
"""

import atexit
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import schemathesis
from schemathesis import Case, CheckContext, HookContext, Response

from emulator.contract import enforcing_unique_items
from tests.contract_runs.directed_cases import check_answer, direct
from tests.contract_runs.seeded_service import SeededService

SERVICE = SeededService()
STATUSES: dict[str, set[int]] = defaultdict(set)


@schemathesis.hook
def before_load_schema(context: HookContext, raw_schema: dict[str, Any]) -> None:
    """Let it know of the rule that the contract tells in an extension field."""
    raw_schema |= enforcing_unique_items(raw_schema)


@schemathesis.hook
def after_load_schema(context: HookContext, schema: Any) -> None:
    """Let requests go straight into the application."""
    schema.app = SERVICE.emulator.application


@schemathesis.hook
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:
    """Send each case to the same fresh service, past what it is not meant to test."""
    SERVICE.renew()
    direct(case, SERVICE, SERVICE.resolved_path)


@schemathesis.hook
def after_call(context: HookContext, case: Case[Any], response: Response) -> None:
    """Take note of what was answered, and of a change."""
    operation_id = case.operation.definition.raw["operationId"]
    STATUSES[operation_id].add(response.status_code)
    SERVICE.is_changed |= response.status_code < 300 and case.method != "GET"


@schemathesis.check
def answers_as_the_contract_says(context: CheckContext, response: Response, case: Case[Any]) -> None:
    """Hold every answer against the contract with the checker that the other tests use."""
    check_answer(response)


@atexit.register
def write_report() -> None:
    """Tell what was reached."""
    report = {operation: sorted(statuses) for operation, statuses in sorted(STATUSES.items())}
    Path(os.environ["CONTRACT_RUN_REPORT"]).write_text(json.dumps(report))
