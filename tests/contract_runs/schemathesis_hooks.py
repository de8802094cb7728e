"""What a run of Schemathesis knows of the emulator: where it is, fresh keys, ids that exist, and one check more.

Loaded by Schemathesis itself, in a process of its own, by SCHEMATHESIS_HOOKS. At its end it writes what was answered to
the file that CONTRACT_RUN_REPORT names.
"""

import atexit
import json
import os
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import schemathesis
from schemathesis import Case, CheckContext, HookContext, Response

from image_workflow_emulator.contract import enforcing_unique_items
from tests.contract_runs.seeded_service import SeededService, check_answer

SERVICE = SeededService()
STATUSES: dict[str, Counter[int]] = defaultdict(Counter)
"""By operation id: how often it answered with which status."""


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
    SERVICE.direct(case)


@schemathesis.hook
def after_call(context: HookContext, case: Case[Any], response: Response) -> None:
    STATUSES[case.operation.definition.raw["operationId"]][response.status_code] += 1
    SERVICE.is_changed |= response.status_code < 300 and case.method != "GET"


@schemathesis.check
def answers_as_the_contract_says(context: CheckContext, response: Response, case: Case[Any]) -> None:
    """Hold every answer against the contract with the checker that the other tests use."""
    check_answer(response)


@atexit.register
def write_report() -> None:
    """Tell what was reached."""
    Path(os.environ["CONTRACT_RUN_REPORT"]).write_text(json.dumps(STATUSES))
