"""What a run of Schemathesis knows of the emulator: where it is, fresh keys, ids that exist, and one check more.

Loaded by Schemathesis itself, in a process of its own, by SCHEMATHESIS_HOOKS. The emulator is in this process, unless
SERVED_ORIGIN names one that is served. With SERVED_RATE_LIMITS its requests are limited by the minute: then the service
begins anew after each 429 alone, when the wait that this asked for was taken and found long enough. At its end it writes
what was answered to the file that CONTRACT_RUN_REPORT names.
"""

import atexit
import json
import os
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import schemathesis
from schemathesis import Case, CheckContext, HookContext, Response

from emulator.contract import enforcing_unique_items
from tests.contract_runs.seeded_service import SeededService, check_answer
from tests.contract_runs.served_service import ServedService

ORIGIN = os.environ.get("SERVED_ORIGIN")
HAS_RATE_LIMITS = "SERVED_RATE_LIMITS" in os.environ
SERVICE = ServedService(ORIGIN, has_rate_limits=HAS_RATE_LIMITS) if ORIGIN else SeededService()
STATUSES: dict[str, Counter[int]] = defaultdict(Counter)
"""By operation id: how often it answered with which status."""
LET_IN_BETWEEN_LIMITS = [0]
NOT_COUNTED = (401, 405)
"""Answers to requests without a valid credential, or to no operation: no request rate is counted for them (D41)."""


@schemathesis.hook
def before_load_schema(context: HookContext, raw_schema: dict[str, Any]) -> None:
    """Let it know of the rule that the contract tells in an extension field."""
    raw_schema |= enforcing_unique_items(raw_schema)


@schemathesis.hook
def after_load_schema(context: HookContext, schema: Any) -> None:
    """Let requests go straight into the application, if it is here."""
    if not ORIGIN:
        schema.app = SERVICE.emulator.application


@schemathesis.hook
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:
    """Send each case to the same fresh service, past what it is not meant to test."""
    if not HAS_RATE_LIMITS:
        SERVICE.renew()
    SERVICE.direct(case)


@schemathesis.hook
def after_call(context: HookContext, case: Case[Any], response: Response) -> None:
    status = response.status_code
    STATUSES[case.operation.definition.raw["operationId"]][status] += 1
    SERVICE.is_changed |= status < 300 and case.method != "GET"
    if HAS_RATE_LIMITS:
        count(status, response)


def count(status: int, response: Response) -> None:
    """Count the requests that are let in; after a 429, wait as long as it says, see that this is enough, and begin anew."""
    if status != 429:
        LET_IN_BETWEEN_LIMITS[-1] += status not in NOT_COUNTED
        return
    (retry_after,) = response.headers["retry-after"]
    SERVICE.advance(int(retry_after))
    assert SERVICE.get_status("/team") == 200
    SERVICE.is_changed = True
    SERVICE.renew()
    LET_IN_BETWEEN_LIMITS.append(0)


@schemathesis.check
def answers_as_the_contract_says(context: CheckContext, response: Response, case: Case[Any]) -> None:
    """Hold every answer against the contract with the checker that the other tests use."""
    check_answer(response)


@atexit.register
def write_report() -> None:
    """Tell what was reached; the requests after the last limit are not told."""
    report = {"statuses": STATUSES, "let_in_between_limits": LET_IN_BETWEEN_LIMITS[:-1]}
    Path(os.environ["CONTRACT_RUN_REPORT"]).write_text(json.dumps(report))
