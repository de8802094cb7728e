"""The caller behind a key: a credential with its sandbox and its Team's account.

Identity only; `admission` decides what a caller may do.
"""

from dataclasses import dataclass

from emulator.domain.admission import RateWindow
from emulator.domain.resources import Credential
from emulator.service.sandbox import Sandbox
from emulator.service.teams import CredentialAccount, TeamAccount


@dataclass(slots=True, eq=False)
class Caller:
    """A credential with its sandbox and its Team's account: what one lookup by key gives."""

    sandbox: Sandbox
    account: TeamAccount
    credential_account: CredentialAccount

    @property
    def credential(self) -> Credential:
        """The credential as it is now."""
        return self.credential_account.credential

    @property
    def rate(self) -> RateWindow:
        """The admitted requests of the credential."""
        return self.credential_account.rate

    @property
    def team_id(self) -> str:
        """The Team it acts as."""
        return self.account.team.id
