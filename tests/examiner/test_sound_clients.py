"""Sound clients stay clean, whatever their habits, under every scenario of the library: no rule raises a false alarm."""

from collections.abc import Iterator

import pytest

from emulator.testing import Emulator
from tests.cli.command import ROOT
from tests.examiner.sound_clients import CLIENTS, SoundClient

LIBRARY = sorted(file.stem for file in (ROOT / "scenarios").glob("*.yaml"))


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    with Emulator.start() as emulator:
        yield emulator


CASES = [(scenario, client, clock) for scenario in LIBRARY for client in CLIENTS for clock in ("manual", "auto")]
USUAL = [case for case in CASES[::11] if case[0] != "slow-service"]
"""Every client under a quarter of the library or so; all cases belong to the long verification."""


@pytest.mark.parametrize(
    ("scenario", "make_client", "clock"),
    [pytest.param(*case, marks=() if case in USUAL else pytest.mark.verify) for case in CASES],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_sound_client_is_clean(emulator: Emulator, scenario: str, make_client: type[SoundClient], clock: str) -> None:
    with emulator.sandbox(scenario=scenario, clock=clock) as sandbox:
        make_client(sandbox).tour()
        conduct = sandbox.conduct()
        assert [] == list(map(str, conduct.findings))
