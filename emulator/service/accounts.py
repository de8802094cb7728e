"""Who acts in a sandbox: a credential with its sandbox and its Team's account, as a caller is found."""

from dataclasses import dataclass

from emulator.domain.admission import TEAM_REQUESTS_PER_MINUTE, RateWindow
from emulator.domain.problems import Problem, count_of
from emulator.domain.resources import Credential
from emulator.kernel.timestamps import SECOND_MS, format_timestamp, seconds_up
from emulator.service.sandbox import Sandbox
from emulator.service.store import Owned
from emulator.service.teams import CredentialAccount, TeamAccount


@dataclass(slots=True)
class Caller:
    """A credential with its sandbox and its Team's account: what one dict lookup by key gives."""

    sandbox: Sandbox
    account: TeamAccount
    credential_account: CredentialAccount
    problem_due: Problem | None = None
    """What a scenario lets go wrong with the write at hand, once all that the service checks has been passed."""

    @property
    def credential(self) -> Credential:
        """The credential as it is now."""
        return self.credential_account.credential

    @property
    def rate(self) -> RateWindow:
        """The requests that the credential was let in with."""
        return self.credential_account.rate

    @property
    def team_id(self) -> str:
        """The Team it acts as."""
        return self.account.team.id

    def remedy_for_absent(self, item: Owned | None, otherwise: str) -> str:
        """Say what to do about a resource that this Team cannot see: another Team's is only seen by that Team's keys."""
        owner = None if item is None or item.team_id is None else self.sandbox.accounts.get(item.team_id)
        if owner is None or owner is self.account:
            return otherwise
        return f"send it with a credential of the Team {owner.team.name!r}, which owns it"

    def _remedy_by_credential(self, now: int, only_full: bool = False) -> str:
        """Name a credential of the same Team that would be let in."""
        for credential in self.sandbox.credentials_of(self.team_id):
            is_good = credential.state == "active" and now < credential.expires_at
            if is_good and (credential.profile == "full" or not only_full):
                return f"use the Team's credential {credential.name!r}"
        profile = "full " if only_full else ""
        return f"create a {profile}credential of the Team {self.account.team.name!r}: it has none that is good"

    def check_credential(self, now: int) -> None:
        """Let in a credential that is neither revoked nor past its expiry (section 5, rule 5).

        Raises:
            Problem: credential_revoked, credential_expired.
        """
        if self.credential.state == "revoked":
            raise Problem(
                "credential_revoked",
                f"Authorization: found the credential {self.credential.name!r}, which was revoked; expected an active one",
                remedy=self._remedy_by_credential(now),
            )
        if now >= self.credential.expires_at:
            expiry = format_timestamp(self.credential.expires_at)
            raise Problem(
                "credential_expired",
                f"Authorization: found the credential {self.credential.name!r}, which expired at {expiry}; "
                "expected one that has not",
                remedy=self._remedy_by_credential(now),
            )

    def check_rate(self, now: int) -> None:
        """Count the request against the credential's and the Team's limit, or refuse it (section 8, D41, D42).

        Raises:
            Problem: rate_limited.
        """
        limit = self.account.team.requests_per_minute
        wait_ms = self.rate.wait_ms(now, limit)
        team_wait_ms = self.account.rate.wait_ms(now, TEAM_REQUESTS_PER_MINUTE)
        if wait_ms or team_wait_ms:
            whose = (
                f"this credential: found {count_of(limit, 'request')}"
                if wait_ms >= team_wait_ms
                else f"this Team: found {TEAM_REQUESTS_PER_MINUTE} requests"
            )
            wait_ms = max(wait_ms, team_wait_ms)
            raise Problem(
                "rate_limited",
                f"{whose} within 60 s; expected a wait of {wait_ms} ms",
                retry_after=seconds_up(wait_ms),
                retry_wait_ms=wait_ms,
                remedy=f"wait {wait_ms} ms",
            )
        self.rate.admit(now)
        self.account.rate.admit(now)

    def forget_request(self, code: str) -> None:
        """Take back the count of a request that is refused for its rate after all: it does not count (D41)."""
        if code == "rate_limited" and self.sandbox.rate_limits:
            self.rate.take_back()
            self.account.rate.take_back()

    def before_commit(self) -> None:
        """Called by every write when nothing of its own can refuse it any more, and nothing has happened yet.

        Raises:
            Problem: what a scenario asked for (interfaces, section 7).
        """
        if self.problem_due is not None:
            raise self.problem_due

    def check_profile(self, now: int) -> None:
        """Let only a full credential write (section 5, rule 2).

        Raises:
            Problem: permission_denied.
        """
        if self.credential.profile != "full":
            raise Problem(
                "permission_denied",
                f"Authorization: found a {self.credential.profile} credential; expected a full one, for a write",
                remedy=self._remedy_by_credential(now, only_full=True),
            )

    def check_pause(self, now: int) -> None:
        """Let new writes in unless admission is paused, for all or for this Team (section 7).

        Raises:
            Problem: service_unavailable.
        """
        for pause in (self.sandbox.pause, self.account.pause):
            if pause.paused:
                where = "all Teams" if pause is self.sandbox.pause else f"the Team {self.account.team.name!r}"
                raise Problem(
                    "service_unavailable",
                    f"{where}: found new writes paused; expected a wait until they are let in again",
                    retry_after=pause.retry_after,
                    retry_wait_ms=max(pause.retry_after * SECOND_MS, (pause.opens_at or now) - now),
                    remedy="wait until new writes are let in again, and send the same request",
                )

    def check_subscription(self) -> None:
        """Let only a Team with an active Subscription do creative writes (section 5, rule 4; D20).

        Raises:
            Problem: subscription_required.
        """
        if not self.account.team.subscription_active:
            raise Problem(
                "subscription_required",
                f"the Team {self.account.team.name!r}: found an inactive Subscription; expected an active one",
                remedy=f"restore the Subscription of the Team {self.account.team.name!r}",
            )
