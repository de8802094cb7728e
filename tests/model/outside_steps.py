"""What happens to a sandbox from outside, by its control plane: steps drawn from a source of chance."""

from random import Random
from typing import Final

from tests.model.arithmetic import Json
from tests.model.comparison import Comparison
from tests.model.meetable_scenarios import SCENARIOS

SPANS: Final = (0.4, 1, 1, 3, 3, 5, 8, 8, 8, 30, 30)
"""Usual moves of the clock, in seconds."""
LONG_SPANS: Final = (600, 901, 86_399, 86_401)
"""The end of a credential, of an upload window, of the retention of keys."""


class OutsideSteps:
    """The steps, by their names in `STEPS`."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    def let_time_pass(self, chance: Random) -> None:
        """Move the clock."""
        span = {"seconds": chance.choice(SPANS if chance.randrange(10) else LONG_SPANS)}
        self.comparison.advance(chance.choice((span, span, {"next_event": True})))

    def change_clock(self, chance: Random) -> None:
        """Let the clock be `auto`, or `manual` again."""
        self.comparison.set_clock(chance.choice(("auto", "auto", "manual")))

    def change_team(self, chance: Random) -> None:
        """Change what a Team has, more often for the better."""
        choose = chance.choice
        changes: list[Json] = [
            {"credits": choose((0, 1, 2, 12, 20))},
            {"concurrency_limit": choose((0, 1, 3, 6))},
            {"subscription": choose(("active", "inactive"))},
            *[{"credits": 20, "concurrency_limit": 6, "subscription": "active"}] * 2,
        ]
        self.comparison.change_team(choose(("Ash", "Ash", "Birch")), choose(changes))

    def change_credential(self, chance: Random) -> None:
        """Revoke a credential, or make it active again."""
        self.comparison.change_credential(
            chance.choice(("ash_second", "ash_revoked")), chance.choice(("active", "revoked"))
        )

    def change_scenario(self, chance: Random) -> None:
        """Let a scenario begin, or end the one that runs: everyone's, or one Team's, or both."""
        kind = chance.choice(("rules", "rules", "timeline"))
        scenario = chance.choice([one for one in SCENARIOS if kind in one])
        for whose in chance.choice(((None,), (None,), ("Ash",), ("Birch",), (None, "Ash"), ("Birch", None))):
            if chance.randrange(4):
                self.comparison.run_scenario(scenario, whose)
            else:
                self.comparison.end_scenario(whose)

    def save_and_load(self, chance: Random) -> None:
        """Put the emulator away, and take it out again."""
        self.comparison.save_and_load()
