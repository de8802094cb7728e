"""Each decision of the ledger that has readings has an observation."""

from image_workflow_emulator.domain.readings import DECISIONS
from image_workflow_emulator.drift.observations.table import OBSERVATIONS


def test_every_decision_with_readings_has_an_observation() -> None:
    decisions = list(OBSERVATIONS)

    assert decisions == list(DECISIONS)


def test_an_observation_says_which_decision_it_observes() -> None:
    for decision, observe in OBSERVATIONS.items():
        docstring = observe.__doc__ or ""
        assert docstring.startswith(f"{decision}:")
