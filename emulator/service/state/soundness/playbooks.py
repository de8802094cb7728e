"""Running scenarios."""

from emulator.service.sandbox import Sandbox
from emulator.service.state.soundness.rows import expect, numbered


def check_playbooks(sandbox: Sandbox) -> None:
    """Check running scenarios. Raises StateError."""
    now = sandbox.clock.now()
    for row in numbered("/playbooks", sandbox.playbooks.values()):
        playbook = row.item
        is_of_team = playbook.team is None or playbook.team in sandbox.accounts
        row.expect(is_of_team, "team", "null or the id of a Team")
        row.expect(playbook.seed == sandbox.seed, "seed/value", "the seed of the sandbox")
        row.expect(playbook.began_at <= now, "began_at", "an instant that has come")
        for awaited in playbook.awaited:
            is_past = (awaited.done_at or 0) <= now
            expect(is_past, f"{row.where}/awaited", awaited.done_at, "null or an instant that has come")
        for name, counts in playbook.counts.items():
            where = f"{row.where}/counts/{name}/fired"
            expect(counts.fired <= counts.matched, where, counts.fired, "no more than matched")
