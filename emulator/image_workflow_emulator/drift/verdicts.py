"""The verdict on each decision, by the evidence of all recordings together."""

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field

from image_workflow_emulator.domain.readings import PLAIN, READINGS
from image_workflow_emulator.drift.observations.observation import Observation

Verdict: TypeAlias = Literal["assumed", "other", "neither", "untold"]
_MAX_PLACES: Final = 20
"""The most exchanges that are named for one decision; a finding names fewer."""
_CLEAR_SHARE: Final = 0.75
"""The share of the evidence that a reading has to explain if not all of it agrees."""


class DecisionRow(Struct, frozen=True, omit_defaults=True):
    """What is known of one decision."""

    decision: str = field(name="id")
    verdict: Verdict
    """`untold`: the recording does not tell. `neither`: no reading explains it."""
    reading: str | None
    """The bare id, `plain` included; None if the verdict is `untold` or `neither`."""
    seen: int
    """How much of the evidence the reading explains; of `neither`, how much says so."""
    of: int
    """How much evidence there is."""
    last: int
    """The instant of the last evidence."""
    where: tuple[str, ...]
    what: str = ""
    """What was observed that no reading explains."""


def decide(
    decision: str,
    usual: str,
    observations: Sequence[Observation],
) -> DecisionRow:
    """Return the verdict on a decision. `usual` is the reading that is assumed."""
    evidence = [
        observation for observation in observations if observation.fits is not None
    ]
    if not evidence:
        return DecisionRow(
            decision=decision,
            verdict="untold",
            reading=None,
            seen=0,
            of=0,
            last=0,
            where=(),
        )
    return _Weighing(decision, usual, evidence).row()


class _Weighing:
    """Weighs the evidence for one decision: the reading that explains most of it, the
    usual one before others.
    """

    def __init__(
        self,
        decision: str,
        usual: str,
        evidence: Sequence[Observation],
    ) -> None:
        self._decision = decision
        self._usual = usual
        self._evidence = evidence
        self._unexplained = [
            observation for observation in evidence if not observation.fits
        ]
        self._counts: dict[str, int] = {}
        """By reading: how much of the evidence it explains."""
        for reading in self._readings():
            self._counts[reading] = len(self._explained_by(reading))
        self._likeliest = max(self._counts, key=self._counts.__getitem__)

    def row(self) -> DecisionRow:
        """Return the outcome."""
        telling = self._telling
        places = dict.fromkeys(observation.call.where for observation in telling)
        reading = None
        if self._is_clear:
            reading = self._likeliest
        return DecisionRow(
            decision=self._decision,
            verdict=self._verdict,
            reading=reading,
            seen=len(telling),
            of=len(self._evidence),
            last=max(observation.call.at for observation in self._evidence),
            where=tuple(places)[:_MAX_PLACES],
            what=self._description,
        )

    def _readings(self) -> Sequence[str]:
        of_decision = [
            reading.id
            for reading in READINGS.values()
            if reading.decision == self._decision
        ]
        return list(dict.fromkeys([self._usual, PLAIN, *of_decision]))

    def _explained_by(self, reading: str) -> Sequence[Observation]:
        return [
            observation
            for observation in self._evidence
            if observation.fits and reading in observation.fits
        ]

    @property
    def _is_clear(self) -> bool:
        if self._unexplained:
            return False
        least = len(self._evidence) * _CLEAR_SHARE
        return self._counts[self._likeliest] >= least

    @property
    def _verdict(self) -> Verdict:
        if not self._is_clear:
            return "neither"
        if self._likeliest == self._usual:
            return "assumed"
        return "other"

    @property
    def _telling(self) -> Sequence[Observation]:
        """The observations that show the verdict."""
        if self._is_clear:
            return self._explained_by(self._likeliest)
        return self._unexplained or self._evidence

    @property
    def _description(self) -> str:
        """What was observed that no reading explains."""
        if self._is_clear:
            return ""
        if self._unexplained:
            return self._unexplained[0].description
        counts = [
            f"{reading} {count} times"
            for reading, count in self._counts.items()
            if count
        ]
        return f"the service does both: {', '.join(counts)}"
