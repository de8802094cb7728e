"""A Team of a sandbox, as a test looks at it and changes it."""

from collections.abc import Mapping
from typing import Any, TypedDict, Unpack

from image_workflow_emulator.client.control_client import ControlClient, path_step
from image_workflow_emulator.client.local_files import EmulatorError, is_refusal

__tracebackhide__ = is_refusal


class TeamChanges(TypedDict, total=False):
    """The fields of a Team that can be changed, as `Team.set` takes them."""

    credits: int
    subscription: str
    concurrency_limit: int
    requests_per_minute: int


class Team:
    """A Team of a sandbox, by its name or id. `Sandbox.team` returns it.

    Every property asks the emulator. Everything here raises EmulatorError (`not_found`)
    where the sandbox has no such Team.
    """

    def __init__(self, plane: ControlClient, name_or_id: str) -> None:
        self._plane = plane
        self._name_or_id = name_or_id

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.show()["id"])

    @property
    def name(self) -> str:
        """Its name, such as `Demo`."""
        return str(self.show()["name"])

    @property
    def credits(self) -> int:
        """The Credits that GET /team shows."""
        return int(self.show()["credits"])

    @property
    def reserved(self) -> int:
        """The Credits that are reserved for unfinished work."""
        return int(self.show()["reserved"])

    @property
    def subscription(self) -> str:
        """`active` or `inactive`."""
        return str(self.show()["subscription"])

    @property
    def concurrency_limit(self) -> int:
        """How much unfinished work it may have."""
        return int(self.show()["concurrency_limit"])

    @property
    def credentials(self) -> list[Mapping[str, Any]]:
        """Its credentials: `id`, `key`, `name`, `profile`, `state`, `expires_at`."""
        return list(self.show()["credentials"])

    def set(self, **changes: Unpack[TeamChanges]) -> None:
        """Change what `changes` name, from now on.

        `credits`: what it can spend. `subscription`: `active` or `inactive`.
        `concurrency_limit`: how much unfinished work it may have. `requests_per_minute`:
        how many requests each of its credentials may send.

        Raises EmulatorError for a value that cannot be used, which changes nothing.

            >>> team = create_app().sandbox.team("Demo")
            >>> team.set(credits=5, subscription="inactive")
            >>> team.credits, team.subscription
            (5, 'inactive')
        """
        path = f"teams/{path_step(self._name_or_id)}"
        self._plane.call("PATCH", path, changes)

    def show(self) -> Mapping[str, Any]:
        """Return all of it, as the control plane shows it."""
        all_teams: list[Mapping[str, Any]] = self._plane.call("GET", "teams")["data"]
        teams = [
            team for team in all_teams if self._name_or_id in (team["id"], team["name"])
        ]
        if not teams:
            detail = f"{self._name_or_id!r}: there is no such Team"
            raise EmulatorError("not_found", detail)
        if len(teams) > 1:
            detail = f"{self._name_or_id!r}: more than one Team has this name"
            raise EmulatorError("not_found", detail)
        return teams[0]
