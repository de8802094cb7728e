"""The request rates (section 8, D41, D42) against the simplest model of them: all instants of a minute, counted."""

from random import Random

import pytest

from tests.support.emulator_client import MakeEmulator

MINUTE = 60_000
OF_CREDENTIAL = 120
OF_TEAM = 600
KEYS = [f"key_{number}" for number in range(7)]
CREDENTIALS = ", ".join(f"{{key: {key}, name: Key, profile: full}}" for key in KEYS)
WORLD = f"teams: {{Ash: {{credentials: [{CREDENTIALS}]}}}}"
REQUESTS = 3_000
BUSY = ([4, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1])
"""How busy each key is, by turns: now one of them comes to its own limit first, now all together to the Team's."""
TURN = 800


class CountedRates:
    def __init__(self) -> None:
        self._let_in: list[tuple[int, str]] = []

    def waits(self, now: int, key: str) -> tuple[int, int]:
        """Return the milliseconds until a request may come, for its key and for its Team; twice 0 lets it in now."""
        recent = [(instant, whose) for instant, whose in self._let_in if instant > now - MINUTE]
        own = [instant for instant, whose in recent if whose == key]
        waits = _wait(now, own, OF_CREDENTIAL), _wait(now, [instant for instant, _ in recent], OF_TEAM)
        if waits == (0, 0):
            self._let_in = [*recent, (now, key)]
        return waits


def _wait(now: int, instants: list[int], limit: int) -> int:
    return instants[-limit] + MINUTE - now if len(instants) >= limit else 0


@pytest.mark.slow
@pytest.mark.parametrize("clock", ["manual", "auto"])
def test_requests_are_let_in_and_refused_as_counted(make_emulator: MakeEmulator, clock: str) -> None:
    """An auto clock skips the wait of each refusal at once, to the millisecond (D42)."""
    emulator = make_emulator(clock=clock, world=WORLD)
    skips_waits = emulator.sandbox.clock.skips_waits
    chance, rates = Random(0), CountedRates()
    refused_for = {"credential": 0, "team": 0}
    for number in range(REQUESTS):
        (key,) = chance.choices(KEYS, BUSY[number // TURN % 2])
        of_credential, of_team = rates.waits(emulator.now(), key)
        wait = max(of_credential, of_team)
        asked_at, answer = emulator.now(), emulator.get("/team", key)
        retry_after = 0 if skips_waits else max(1, -(-wait // 1000))
        assert ((429, retry_after) if wait else (200, None)) == (answer.status, answer.retry_after)
        assert (wait if skips_waits else 0) == emulator.now() - asked_at
        refused_for["credential"] += of_credential > 0
        refused_for["team"] += of_team > 0
        emulator.advance(chance.choice((0, 0, 0, 0.1, 0.25, wait / 1000 if chance.randrange(50) == 0 else 0)))
    assert min(refused_for.values()) > REQUESTS / (100 if skips_waits else 20)
