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

from tests.model.side_by_side import ALL_STEPS, SandboxesSideBySide, Step

CHANCE: Final = st.builds(Random, st.integers(0, 2**24 - 1))
"""Seeds: what a step chooses is spread evenly. A failure shrinks by whole steps; its notes tell what each one did."""


class RandomClients(RuleBasedStateMachine):
    """The emulator, the models and the clients, with a rule for each of `ALL_STEPS`. `folder` is where the world file is put."""

    folder: Path

    def __init__(self) -> None:
        super().__init__()
        self.sandboxes = SandboxesSideBySide(self.folder, note)

    def teardown(self) -> None:
        self.sandboxes.close()

    @initialize()
    def begin(self) -> None:
        self.sandboxes.begin()


def _rule_of(step: Step) -> Callable[..., None]:
    def take(clients: RandomClients, chance: Random) -> None:
        clients.sandboxes.play(step, chance)

    return rule(chance=CHANCE)(take)


# Hypothesis takes some steps more often than others, and leaves some out, differently in each play.
for _step in ALL_STEPS:
    setattr(RandomClients, _step.__name__, _rule_of(_step))
