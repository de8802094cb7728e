"""What a run of Schemathesis over a real server knows of it: where it is, fresh keys, ids that exist, and one check more.

Loaded by Schemathesis itself, by SCHEMATHESIS_HOOKS. With SERVED_RATE_LIMITS, requests are limited by the minute: then the
service begins anew after each 429 alone, when the wait that this asked for was taken and found long enough. At its end it
writes what was answered to the file that SERVED_REPORT names.
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
from tests.clients.served_service import ServedService
from tests.contract_runs.directed_cases import check_answer, direct

HAS_RATE_LIMITS = "SERVED_RATE_LIMITS" in os.environ
SERVICE = ServedService(os.environ["SERVED_ORIGIN"], has_rate_limits=HAS_RATE_LIMITS)
STATUSES: dict[str, Counter[int]] = defaultdict(Counter)
LET_IN_BETWEEN_LIMITS: list[int] = []
NOT_COUNTED = (401, 405)
"""Answers to requests without a valid credential, or to no operation: no request rate is counted for them (D41)."""

let_in = 0


@schemathesis.hook
def before_load_schema(context: HookContext, raw_schema: dict[str, Any]) -> None:
    """Let it know of the rule that the contract tells in an extension field."""
    raw_schema |= enforcing_unique_items(raw_schema)


@schemathesis.hook
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:
    """Send each case to the same fresh service, past what it is not meant to test."""
    if not HAS_RATE_LIMITS:
        SERVICE.renew()
    direct(case, SERVICE, SERVICE.resolved_path)


@schemathesis.hook
def after_call(context: HookContext, case: Case[Any], response: Response) -> None:
    """Take note of what was answered, and of a change."""
    status = response.status_code
    STATUSES[case.operation.definition.raw["operationId"]][status] += 1
    SERVICE.is_changed |= status < 300 and case.method != "GET"
    if HAS_RATE_LIMITS:
        count(status, response)


def count(status: int, response: Response) -> None:
    """Count the requests that are let in; after a 429, wait as long as it says, see that this is enough, and begin anew."""
    global let_in  # noqa: PLW0603  # a run of Schemathesis has no other place for it
    if status != 429:
        let_in += status not in NOT_COUNTED
        return
    LET_IN_BETWEEN_LIMITS.append(let_in)
    (retry_after,) = response.headers["retry-after"]
    SERVICE.served.advance(int(retry_after))
    assert SERVICE.served.get_served("/team").status == 200
    SERVICE.is_changed = True
    SERVICE.renew()
    let_in = 0


@schemathesis.check
def answers_as_the_contract_says(context: CheckContext, response: Response, case: Case[Any]) -> None:
    """Hold every answer against the contract with the checker that the other tests use."""
    check_answer(response)


@atexit.register
def write_report() -> None:
    """Tell what was reached."""
    statuses = {operation: dict(sorted(counts.items())) for operation, counts in sorted(STATUSES.items())}
    report = {"statuses": statuses, "let_in_between_limits": LET_IN_BETWEEN_LIMITS}
    Path(os.environ["SERVED_REPORT"]).write_text(json.dumps(report))
