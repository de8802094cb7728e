"""The accounts of Teams and of credentials: each with all that is counted for it. Plain data."""

from dataclasses import dataclass, field

from emulator.domain.admission import AdmissionPause, ConcurrencyBudget, RateWindow
from emulator.domain.ledger import Ledger
from emulator.domain.resources import Credential, Team


@dataclass(slots=True, eq=False)
class TeamAccount:
    """A Team and all that is counted for it."""

    team: Team
    ledger: Ledger = field(default_factory=Ledger)
    budget: ConcurrencyBudget = field(default_factory=ConcurrencyBudget, init=False)
    rate: RateWindow = field(default_factory=RateWindow)
    pause: AdmissionPause = field(default_factory=AdmissionPause)
    """A pause of this Team's writes alone."""


@dataclass(slots=True, eq=False)
class CredentialAccount:
    """A credential and its admitted requests."""

    credential: Credential
    rate: RateWindow = field(default_factory=RateWindow)
