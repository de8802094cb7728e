"""Sound clients stay clean, whatever their habits, under every scenario of the library: no rule raises a false alarm."""

import itertools

import pytest

from emulator.testing import Emulator
from tests.examiner.examples import LIBRARY
from tests.examiner.sound_clients import CLIENTS, SoundClient

CASES = list(itertools.product(LIBRARY, CLIENTS, ("manual", "auto")))
USUAL = [case for case in CASES[::11] if case[0] != "slow-service"]
"""Every client under a quarter of the library or so; all cases belong to the long verification."""


@pytest.mark.parametrize(
    ("scenario", "make_client", "clock"),
    [pytest.param(*case, marks=() if case in USUAL else pytest.mark.verify) for case in CASES],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_sound_client_is_clean(server: Emulator, scenario: str, make_client: type[SoundClient], clock: str) -> None:
    with server.sandbox(scenario=scenario, clock=clock) as sandbox:
        make_client(sandbox).tour()
        assert [] == list(map(str, sandbox.conduct().findings))
