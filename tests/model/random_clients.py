"""Random clients as a Hypothesis state machine: steps in any order, and the emulator and the model agree after each.

Pictures are not drawn here: a stand-in is (`playing.draw_plainly`), since what they show is another matter.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.model.client_steps import ClientSteps
from tests.model.side_by_side import SandboxesSideBySide, within

CHANCE: Final = st.builds(Random, st.integers(0, 2**24 - 1))
"""Seeds: what a step chooses is spread evenly. A failure shrinks by whole steps; its notes tell what each one did."""


class RandomClients(RuleBasedStateMachine):
    """The emulator, the models and the clients, with a rule for each step. `folder` is where the world file is put."""

    folder: Path

    def __init__(self) -> None:
        super().__init__()
        self.sandboxes = SandboxesSideBySide(self.folder, note)

    def teardown(self) -> None:
        self.sandboxes.close()

    @initialize()
    def begin(self) -> None:
        self.sandboxes.begin()

    # The steps: Hypothesis takes some of them more often than others, and leaves some out, differently in each play.

    @rule(chance=CHANCE)
    def upload(self, chance: Random) -> None:
        self._take(ClientSteps.upload, chance)

    @rule(chance=CHANCE)
    def use_sessions(self, chance: Random) -> None:
        self._take(ClientSteps.use_sessions, chance)

    @rule(chance=CHANCE)
    def create_product(self, chance: Random) -> None:
        self._take(ClientSteps.create_product, chance)

    @rule(chance=CHANCE)
    def change_product(self, chance: Random) -> None:
        self._take(ClientSteps.change_product, chance)

    @rule(chance=CHANCE)
    def author(self, chance: Random) -> None:
        self._take(ClientSteps.author, chance)

    @rule(chance=CHANCE)
    def change_ingredient(self, chance: Random) -> None:
        self._take(ClientSteps.change_ingredient, chance)

    @rule(chance=CHANCE)
    def delete(self, chance: Random) -> None:
        self._take(ClientSteps.delete, chance)

    @rule(chance=CHANCE)
    def photograph(self, chance: Random) -> None:
        self._take(ClientSteps.photograph, chance)

    @rule(chance=CHANCE)
    def edit(self, chance: Random) -> None:
        self._take(ClientSteps.edit, chance)

    @rule(chance=CHANCE)
    def upscale(self, chance: Random) -> None:
        self._take(ClientSteps.upscale, chance)

    @rule(chance=CHANCE)
    def repeat(self, chance: Random) -> None:
        self._take(ClientSteps.repeat, chance)

    @rule(chance=CHANCE)
    def send_twice_at_once(self, chance: Random) -> None:
        self._take(ClientSteps.send_twice_at_once, chance)

    @rule(chance=CHANCE)
    def complete_twice_at_once(self, chance: Random) -> None:
        self._take(ClientSteps.complete_twice_at_once, chance)

    @rule(chance=CHANCE)
    def read(self, chance: Random) -> None:
        self._take(ClientSteps.read, chance)

    @rule(chance=CHANCE)
    def let_time_pass(self, chance: Random) -> None:
        self._take(ClientSteps.let_time_pass, chance)

    @rule(chance=CHANCE)
    def change_team(self, chance: Random) -> None:
        self._take(ClientSteps.change_team, chance)

    @rule(chance=CHANCE)
    def change_credential(self, chance: Random) -> None:
        self._take(ClientSteps.change_credential, chance)

    @rule(chance=CHANCE)
    def change_scenario(self, chance: Random) -> None:
        self._take(ClientSteps.change_scenario, chance)

    @rule(chance=CHANCE)
    def poll(self, chance: Random) -> None:
        self._take(ClientSteps.poll, chance)

    @rule(chance=CHANCE)
    def change_clock(self, chance: Random) -> None:
        self._take(ClientSteps.change_clock, chance)

    @rule(chance=CHANCE)
    def save_and_load(self, chance: Random) -> None:
        self._take(ClientSteps.save_and_load, chance)

    @rule(chance=CHANCE)
    def open_another(self, chance: Random) -> None:
        self.sandboxes.play(SandboxesSideBySide.open_another, chance)

    @rule(chance=CHANCE)
    def reset(self, chance: Random) -> None:
        self.sandboxes.play(SandboxesSideBySide.reset, chance)

    def _take(self, step: Callable[[ClientSteps, Random], None], chance: Random) -> None:
        self.sandboxes.play(within(step), chance)
