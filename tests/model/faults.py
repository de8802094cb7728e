"""The model's rules of what goes wrong on request: by a scenario's rule, or by the header `Emulator-Fault`.

The check that a code belongs to decides, after all checks before it; what has no check of its own before the commit is
raised right before that, where nothing else can refuse the request any more (D54).
"""

from functools import cache
from typing import Final

from tests.model.arithmetic import SECOND
from tests.model.model_state import Refusal, State
from tests.support.contract_check import shipped_checker

CHECKS: Final = {
    "entrance": {"authentication_required", "credential_expired", "credential_revoked", "rate_limited"},
    "profile": {"permission_denied"},
    "shape": {"invalid_request", "invalid_cursor"},
    "body": {"invalid_input"},
    "idempotency": {"idempotency_in_progress", "idempotency_key_reused"},
    "pause": {"service_unavailable"},
    "subscription": {"subscription_required"},
}
"""The codes that each check decides; all others are decided later (D01)."""
RATE_WAIT: Final = 5 * SECOND


@cache
def codes_of(method: str, path: str) -> frozenset[str]:
    operation, _ = shipped_checker().operation_of(method, path)
    assert operation is not None
    declared = [answer for status, answer in operation["responses"].items() if status != "default"]
    codes = [shipped_checker().resolve(answer).get("x-problem-codes", ()) for answer in declared]
    return frozenset({"internal_error"}.union(*codes))


def raise_at(state: State, check: str, team: str) -> None:
    """Raise what is to go wrong, if it is this check that decides it. Raises Refusal."""
    code = _due(state)
    if code in CHECKS[check]:
        raise problem(state, code, team)


def check_before_commit(state: State, team: str) -> None:
    """Raise what is to go wrong, where nothing has happened yet and nothing else can go wrong. Raises Refusal."""
    code = _due(state)
    if code:
        raise problem(state, code, team)


def check_before_handling(state: State, team: str, *, is_read: bool) -> None:
    """Raise what does not wait for a commit: anything in a read, and what breaks down anywhere. Raises Refusal."""
    code = _due(state)
    if code and (is_read or code == "internal_error"):
        raise problem(state, code, team)


def hidden_by(state: State, team: str) -> Refusal | None:
    fault = state.fault
    return problem(state, fault["problem"], team) if fault.get("at") == "after_commit" else None


def _due(state: State) -> str:
    return "" if state.fault.get("at") == "after_commit" else str(state.fault.get("problem", ""))


def problem(state: State, code: str, team: str) -> Refusal:
    if code == "rate_limited":
        return Refusal(code, wait=RATE_WAIT)
    if code == "service_unavailable":
        pauses = [state.pauses.get(whose, {}) for whose in (team, None)]
        pause = pauses[0] if pauses[0].get("is_paused") else pauses[1]
        return Refusal(code, wait=pause.get("retry_after", 5) * SECOND)
    if code == "concurrency_limit_reached":
        return Refusal(code, wait=state.time_to_next_place(team))
    if code == "resource_operation_in_progress":
        unfinished = {name for name, work in state.work_of(team).items() if work["kind"] == "operation"}
        return Refusal(code, active=unfinished or {one["id"] for one in state.of_team("operation", team)})
    return Refusal(code)


def check_pause(state: State, team: str) -> None:
    """Let no new write in while admission is paused, for all or for the Team (section 7). Raises Refusal.

    Where a scenario says when it opens, an auto clock waits until then (D54).
    """
    for whose in (None, team):
        pause = state.pauses.get(whose, {})
        if pause.get("is_paused"):
            to_come = [timed for timed in state.timeline if timed["whose"] == whose]
            opens_at = [timed["at"] for timed in to_come if timed["set"].get("admission") == "open"]
            seconds = pause["retry_after"]
            wait = max(seconds * SECOND, min(opens_at, default=state.now) - state.now)
            raise Refusal("service_unavailable", wait=wait, retry_after=seconds)
