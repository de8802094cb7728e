"""Admission: the checks of every operation that depend on the credential, the Team and
the pause of admission.

In the order of D01. A check raises a Problem or returns; counting a request against its
rate is the only change.
"""

from typing import TypeVar

from msgspec import Struct

from image_workflow_emulator.domain.idempotency import MAX_RECORDS
from image_workflow_emulator.domain.limits import (
    TEAM_REQUESTS_PER_MINUTE,
    AdmissionPause,
)
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.kernel.timestamps import (
    SECOND_MS,
    format_timestamp,
    seconds_up,
)
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.service.sandbox.calls import Call
from image_workflow_emulator.service.sandbox.sandbox import EVERYONE


def check_credential(call: Call) -> None:
    """401: the credential is not revoked and not expired (section 5, rule 5)."""
    credential = call.caller.credential
    state = credential.state_at(call.now)
    if state == "active":
        return
    end = "was revoked"
    if state == "expired":
        end = f"expired at {format_timestamp(credential.expires_at)}"
    detail = f"the credential {credential.name!r} {end}"
    raise _credential_problem(call, f"credential_{state}", detail)


def _credential_problem(
    call: Call,
    code: str,
    detail: str,
    *,
    only_full: bool = False,
) -> Problem:
    credential_id = call.caller.credential.id
    return Problem(
        code,
        detail,
        remedy=_by_another_credential(call, only_full),
        cause=call.sandbox.causes.get(("credential", credential_id)),
    )


def _by_another_credential(call: Call, only_full: bool) -> str:
    """Name a credential of the same Team that would be accepted."""
    for credential in call.sandbox.credentials_of(call.team_id):
        has_profile = credential.profile == "full" or not only_full
        if has_profile and credential.state_at(call.now) == "active":
            return f"use the Team's credential {credential.name!r}"
    kind = "credential"
    if only_full:
        kind = "full credential"
    team = call.caller.account.team
    return f"create a {kind} for the Team {team.name!r}: it has no valid one"


def check_rate(call: Call) -> None:
    """429: count the request against the credential's and the Team's limit, or refuse
    it (section 8, D41, D42).
    """
    if not call.sandbox.rate_limits:
        return
    caller = call.caller
    now = call.now
    rate = caller.credential_account.rate
    team_rate = caller.account.rate
    limit = caller.account.team.requests_per_minute
    wait_ms = rate.wait_ms(now, limit)
    team_wait_ms = team_rate.wait_ms(now, TEAM_REQUESTS_PER_MINUTE)
    if wait_ms < team_wait_ms:
        raise _rate_problem("Team", TEAM_REQUESTS_PER_MINUTE, team_wait_ms)
    if wait_ms:
        raise _rate_problem("credential", limit, wait_ms)
    rate.admitted.append(now)
    team_rate.admitted.append(now)


def _rate_problem(
    owner: str,
    limit: int,
    wait_ms: int,
) -> Problem:
    return Problem(
        "rate_limited",
        f"rate limit of the {owner} reached: {count_of(limit, 'request')} in 60 s; "
        f"retry in {wait_ms} ms",
        retry_after=seconds_up(wait_ms),
        retry_wait_ms=wait_ms,
    )


def forget_request(call: Call) -> None:
    """Take back the count of a request that is refused for its rate after all: it does
    not count (D41).
    """
    if call.sandbox.rate_limits:
        call.caller.credential_account.rate.admitted.pop()
        call.caller.account.rate.admitted.pop()


def check_profile(call: Call) -> None:
    """403: only a full credential writes (section 5, rule 2)."""
    credential = call.caller.credential
    if credential.profile != "full":
        detail = (
            f"the credential {credential.name!r} is {credential.profile}; "
            "a write needs a full one"
        )
        raise _credential_problem(call, "permission_denied", detail, only_full=True)


def check_records(call: Call) -> None:
    """503: one more Idempotency-Key can be remembered (D58)."""
    full_until = call.sandbox.idempotency.full_until(call.now)
    if full_until is not None:
        raise Problem(
            "service_unavailable",
            f"{MAX_RECORDS} Idempotency-Keys were first used in the last 24 hours: no "
            "more can be remembered",
            retry_after=seconds_up(full_until - call.now),
        )


def check_pause(call: Call) -> None:
    """503: new writes are let in, for all Teams and for this one (section 7)."""
    sandbox = call.sandbox
    account = call.caller.account
    if sandbox.pause.paused:
        raise _pause_problem(call, sandbox.pause, "all Teams", EVERYONE)
    if account.pause.paused:
        team = f"the Team {account.team.name!r}"
        raise _pause_problem(call, account.pause, team, account.team.id)


def _pause_problem(
    call: Call,
    pause: AdmissionPause,
    paused: str,
    cause_id: str,
) -> Problem:
    """Return the refusal of a pause.

    `paused` says whose writes it stops, `cause_id` which change of a timeline it is.
    """
    retry_after: int | None = pause.retry_after
    if call.sandbox.readings.pause_hint == "silent":  # D66
        retry_after = None
    retry_wait_ms = pause.retry_after * SECOND_MS
    remedy = None
    if pause.opens_at is not None:
        retry_wait_ms = max(retry_wait_ms, pause.opens_at - call.now)
        remedy = f"wait until {format_timestamp(pause.opens_at)}"
    return Problem(
        "service_unavailable",
        f"new writes are paused for {paused}; retry later",
        retry_after=retry_after,
        retry_wait_ms=retry_wait_ms,
        remedy=remedy,
        cause=call.sandbox.causes.get(("pause", cause_id)),
    )


def check_subscription(call: Call) -> None:
    """403: creative writes need an active Subscription (section 5, rule 4; D20)."""
    team = call.caller.account.team
    if not team.subscription_active:
        raise Problem(
            "subscription_required",
            f"the Team {team.name!r} has no active Subscription",
            cause=call.sandbox.causes.get(("subscription_active", team.id)),
        )


class Order(Struct, frozen=True):
    """What a write asks for: its price in Credits, and its places in the concurrency
    budget, 0 where it admits no work.
    """

    price: int
    places: int


SomeOrder = TypeVar("SomeOrder", bound=Order)


def check_budget(call: Call, order: SomeOrder) -> SomeOrder:
    """429: the Team's concurrency budget has places for more work (section 8, D40,
    D42).
    """
    budget = call.caller.account.budget
    team = call.caller.account.team
    if order.places and budget.used + order.places > team.concurrency_limit:
        wait_ms = budget.wait_ms(call.now)
        pieces = count_of(budget.used, "piece")
        raise Problem(
            "concurrency_limit_reached",
            f"the Team {team.name!r} has {pieces} of creative work in progress; its "
            f"limit is {team.concurrency_limit}",
            retry_after=max(seconds_up(wait_ms), 1),
            retry_wait_ms=wait_ms,
        )
    return order


def check_credits(call: Call, order: SomeOrder) -> SomeOrder:
    """402: the Team can pay the full price (section 4)."""
    account = call.caller.account
    available = account.ledger.available
    missing = order.price - available
    if missing > 0:
        team = account.team
        raise Problem(
            "insufficient_credits",
            f"the Team {team.name!r} has {count_of(available, 'Credit')} available; "
            f"this request costs {order.price}",
            remedy=f"add {count_of(missing, 'Credit')}, then send it with a new "
            "Idempotency-Key",
            missing_credits=missing,
            cause=call.sandbox.causes.get(("credits", team.id)),
        )
    return order


def check_memory(call: Call, _checked: object) -> None:
    """503: there is memory for images (D55)."""
    call.sandbox.check_memory()
