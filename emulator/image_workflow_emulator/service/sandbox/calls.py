"""A call of an operation: caller, time and input. Lives as long as its request.

Every operation is a `Handler`: an ordered list of checks, which change nothing, and the
commit, which carries out what they found to be allowed. Nothing happens between the two
that could forbid it.

The caller is the credential behind a key, with its sandbox and its Team's account:
identity only, `admission` decides what it may do. Also picks the key for clients that
have none.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from msgspec import Struct

from image_workflow_emulator.domain.intents import Intent
from image_workflow_emulator.domain.problems import Check
from image_workflow_emulator.domain.recipes import PictureFormat
from image_workflow_emulator.domain.resources import Credential, Scene
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox.sandbox import (
    CredentialAccount,
    Sandbox,
    TeamAccount,
)

# The caller ---------------------------------------------------------------------------


PREFERRED_TEAM: Final = "Demo"
"""The Team whose key a client gets by default."""


@dataclass(slots=True, eq=False)
class Caller:
    """A credential with its sandbox and its Team's account: what one lookup by key
    gives.
    """

    sandbox: Sandbox
    account: TeamAccount
    credential_account: CredentialAccount

    @property
    def credential(self) -> Credential:
        """The credential as it is now."""
        return self.credential_account.credential

    @property
    def team_id(self) -> str:
        """The Team it acts as."""
        return self.account.team.id


def full_keys(
    sandbox: Sandbox,
    team_id: str,
    now: int,
) -> list[str]:
    """Return the keys of a Team's credentials that may write, in the order of their
    creation.
    """
    return [
        credential.key
        for credential in sandbox.credentials_of(team_id)
        if credential.profile == "full" and credential.state_at(now) == "active"
    ]


def key_for_clients(sandbox: Sandbox, now: int) -> str:
    """Return the key that a client gets that brings none: Demo's, else the first that
    may write; "" if there is none.

    If Demo's key is revoked or expired it stays Demo's: the client gets that refusal,
    and no other Team pays.
    """
    teams = [account.team for account in sandbox.accounts.values()]
    teams.sort(key=lambda team: team.name != PREFERRED_TEAM)
    for team in teams:
        keys = full_keys(sandbox, team.id, now)
        if team.name == PREFERRED_TEAM:
            keys += [
                credential.key
                for credential in sandbox.credentials_of(team.id)
                if credential.profile == "full"
            ]
        if keys:
            return keys[0]
    return ""


# The call -----------------------------------------------------------------------------


Result = TypeVar("Result")


class DecodedUpload(Struct, frozen=True):
    """The result of decoding an upload: a normalized picture, or the reason why there
    is none.
    """

    data: bytes = b""
    format: PictureFormat = "png"
    width: int = 0
    height: int = 0
    scene: Scene = "clean"
    refusal: str | None = None


class Call(Struct, eq=False, gc=False):
    """An operation being called. `now` is the instant of the last look at the clock, in
    milliseconds.
    """

    sandbox: Sandbox
    caller: Caller
    now: int
    record: RequestRecord
    resource_id: str = ""
    query: Mapping[str, str] = {}
    intent: Intent = {}
    decoded: DecodedUpload | None = None

    @property
    def team_id(self) -> str:
        """The Team that calls."""
        return self.caller.account.team.id


OwnCheck: TypeAlias = tuple[Check, Callable[[Call, Any], Any]]
"""A check of an operation, and the function that makes it: from the call and what the
check before it found, None at first, to what it found itself. It changes nothing, and
raises Problem."""


class Handler(Struct, frozen=True, kw_only=True):
    """What an operation does: its own checks in the order of D01, and the commit."""

    checks: tuple[OwnCheck, ...] = ()
    commit: Callable[[Call, Any], Any]
    """Carries out what was checked, from the call and what the last check found, and
    returns the result. It cannot fail."""


def found(call: Call, result: Result) -> Result:
    """Commit nothing: the answer of a read is what its last check found."""
    return result
