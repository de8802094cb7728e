"""What happened in all sandboxes of the process, in numbers: for the report of `exec`.

A sandbox forgets everything when it is reset, loaded or deleted; what it had counted until then is kept here. Only
totals are kept, by names, so that the tally stays small however long the process runs.
"""

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field

from image_workflow_emulator.scenario.playbook import Playbook, RuleCounts
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

RuleTallies = dict[tuple[str, str], RuleCounts]
"""By the names of scenario and rule."""


def count_rules(rules: RuleTallies, playbook: Playbook, sign: int = 1) -> None:
    """Add the counters of a playbook, or take them away; a shipped scenario's rules count only when they fired."""
    for row in playbook.rules_report():
        if playbook.scenario.is_shipped and not row["fired"]:
            continue
        _count_rule(rules, (playbook.scenario.name, row["name"]), sign * row["matched"], sign * row["fired"])


def _count_rule(rules: RuleTallies, key: tuple[str, str], matched: int, fired: int) -> None:
    rule = rules.setdefault(key, RuleCounts())
    rule.matched += matched
    rule.fired += fired


@dataclass(slots=True)
class TeamTally:
    """The Teams of one name: Credits charged, Credits reserved for work that was not finished, and concurrency."""

    credits_charged: int = 0
    credits_reserved: int = 0
    highest_concurrency: int = 0
    concurrency_limit: int = 0


@dataclass(slots=True)
class Tally:
    """The totals. `emulator_ms` is the time that passed on the clocks of all sandboxes together."""

    dropped: int = 0
    """Requests that a journal could not keep."""
    rules: RuleTallies = field(default_factory=dict)
    teams: dict[str, TeamTally] = field(default_factory=dict)
    """By name."""
    emulator_ms: int = 0

    def add(self, sandbox: Sandbox) -> None:
        """Add the counts of a sandbox before it is reset or deleted."""
        self._count(sandbox, 1)
        self.dropped += sandbox.journal.dropped
        for key, past in sandbox.past_rules.items():
            _count_rule(self.rules, key, past.matched, past.fired)
        for account in sandbox.accounts.values():
            team = self._team(account.team.name)
            team.credits_reserved += account.ledger.reserved
            team.highest_concurrency = max(team.highest_concurrency, sandbox.highest_used.get(account.team.id, 0))
            team.concurrency_limit = account.team.concurrency_limit

    def discount(self, sandbox: Sandbox) -> None:
        """Subtract the counts of a loaded state file: they did not happen here."""
        self._count(sandbox, -1)

    def total(self, living: Iterable[Sandbox]) -> "Tally":
        """Return the totals with those of the sandboxes that still exist."""
        total = copy.deepcopy(self)
        for sandbox in living:
            total.add(sandbox)
        return total

    def _count(self, sandbox: Sandbox, sign: int) -> None:
        self.emulator_ms += sign * (sandbox.clock.now() - sandbox.began_at)
        for playbook in sandbox.playbooks.values():
            count_rules(self.rules, playbook, sign)
        for account in sandbox.accounts.values():
            self._team(account.team.name).credits_charged += sign * account.ledger.charged

    def _team(self, name: str) -> TeamTally:
        return self.teams.setdefault(name, TeamTally())
