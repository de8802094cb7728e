"""Sandboxes side by side in one emulator, each with a model and with clients of its own: none may notice another.

They have one seed, so the same ids mean different things in each: whoever looks something up by its id alone is found out.
What nobody touched must stay as it is to the last byte of its state file.
"""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from random import Random
from typing import Final

from image_workflow_emulator.service.sandbox.sandbox import DEFAULT_SANDBOX_ID
from tests.model.client_steps import STEPS, ClientSteps
from tests.model.comparison import OBSERVERS, WORLD, Comparison
from tests.model.sandbox_client import SandboxClient
from tests.support.emulator_client import Call, EmulatorUnderTest, settings_of

ANOTHER: Final = "another"
"""The sandbox beside the default one."""


class SandboxesSideBySide:
    """An emulator with its sandboxes. To be closed."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self.say = say
        self.emulator = EmulatorUnderTest(settings_of(folder, world=WORLD, rate_limits=False))
        self.clients: dict[str, ClientSteps] = {}
        """By the name of their sandbox."""
        self._saved: dict[str, bytes] = {}
        """The state of each sandbox, as it was left."""
        self._at_start: dict[str, bytes] = {}
        """The state of each sandbox, as it began."""

    def close(self) -> None:
        self.emulator.close()

    def begin(self, clock: str = "manual") -> None:
        """Let clients come to the default sandbox, and set its clock."""
        self._settle_in(DEFAULT_SANDBOX_ID)
        self.clients[DEFAULT_SANDBOX_ID].comparison.set_clock(clock)

    def play(self, step: "Step", chance: Random) -> None:
        """Take a step, in any of the sandboxes; then all that can be seen must be as it should."""
        names = list(self.clients)
        name = chance.choice(names)
        if len(names) > 1:
            self.say(f"in the sandbox {name}:")
        step(self, name, chance)
        self.look(name)

    def look(self, acting: str) -> None:
        """Hold what can be seen against the models, after what was done in one sandbox."""
        if acting in self.clients:
            self.clients[acting].comparison.look()
        for name, clients in self.clients.items():
            if len(self.clients) > 1:
                saved = clients.comparison.client.saved()
                assert name == acting or saved == self._saved.get(name, saved), f"{name} has changed by itself"
                self._saved[name] = saved
        sandboxes = self.emulator.application.sandboxes
        held = sum(sandbox.images.held_bytes for sandbox in sandboxes.by_id.values())
        assert sandboxes.memory.held_bytes == held, "bytes are counted that nobody holds, or not counted"

    def _settle_in(self, name: str) -> None:
        """Let clients come to a sandbox that is as it began, and begin."""
        client = SandboxClient(self.emulator, name)
        assert self._at_start.setdefault(name, client.saved()) == client.saved(), (
            "a sandbox began otherwise than before"
        )
        self.clients[name] = ClientSteps(Comparison(client, self.say))
        self.clients[name].comparison.look()
        self.clients[name].begin()
        self.clients[name].comparison.look()

    # Steps ------------------------------------------------------------------------------------------------------------

    def open_another(self, name: str, chance: Random) -> None:
        if ANOTHER in self.clients:
            self._delete(ANOTHER)
            return
        self.say(f"the sandbox {ANOTHER} is made")
        self.emulator.told("POST", "/sandboxes", {"id": ANOTHER})
        self._settle_in(ANOTHER)

    def _delete(self, name: str) -> None:
        """Delete a sandbox: its keys and links lead nowhere, and certainly not into another."""
        self.say(f"the sandbox {name} is deleted")
        comparison = self.clients.pop(name).comparison
        self._saved.pop(name, None)
        comparison.client.told("DELETE", "")
        links = [str(known["url"]) for known in comparison.opaque.values() if "url" in known]
        assert all(self.emulator.fetch(link).status == 404 for link in links[-2:])
        self._saved.clear()  # a key that no sandbox knows is noted in the journal of the default one
        refused = comparison.client.send(Call("GET", "/team", key=OBSERVERS["Ash"]))
        assert refused.outcome == (401, "authentication_required")

    def reset(self, name: str, chance: Random) -> None:
        """Reset a sandbox: it starts again, byte by byte, and its scenarios with it."""
        self.say(f"the sandbox {name} is reset")
        old = self.clients[name].comparison
        for whose in [*old.scenarios] if chance.randrange(2) else []:
            old.end_scenario(whose)
        old.client.told("POST", "/reset")
        if not old.scenarios:
            self._settle_in(name)
            return
        comparison = Comparison(old.client, self.say)
        self.clients[name] = ClientSteps(comparison)
        for whose, scenario in sorted(old.scenarios.items(), key=lambda row: row[0] is not None):
            comparison.scenarios[whose] = scenario
            comparison.model.run_scenario(scenario, whose)
        comparison.model.advance(comparison.client.now())


Step = Callable[[SandboxesSideBySide, str, Random], None]
"""What may happen: in a sandbox, by chance."""


def within(step: Callable[[ClientSteps, Random], None]) -> Step:
    """Return the step that clients take in one sandbox."""

    @wraps(step)
    def taken(sandboxes: SandboxesSideBySide, name: str, chance: Random) -> None:
        sandboxes.say(f"-- {step.__name__}")
        step(sandboxes.clients[name], chance)

    return taken


ALL_STEPS: Final[dict[Step, int]] = {
    **{within(step): weight for step, weight in STEPS.items()},
    SandboxesSideBySide.open_another: 1,
    SandboxesSideBySide.reset: 1,
}
"""All steps, with how often each is taken compared to the others."""
