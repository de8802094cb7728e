"""One sandbox of a running emulator, as a test sees it.

Every property asks the emulator, so its value is current. Everything here is synchronous,
and raises EmulatorError where the emulator refuses or does not answer.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TypedDict, Unpack

from msgspec import convert

from image_workflow_emulator.client.control_client import (
    DEFAULT_SANDBOX,
    STATE_SECONDS,
    ZIP,
    ControlClient,
)
from image_workflow_emulator.client.exports import saved_sandbox
from image_workflow_emulator.client.local_files import (
    is_refusal,
    read_state_file,
    write_file,
)
from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.examiner.findings import Conduct
from image_workflow_emulator.testing.answers import Explanation, Rule
from image_workflow_emulator.testing.clock import Clock
from image_workflow_emulator.testing.seeding import Given
from image_workflow_emulator.testing.team import Team

__tracebackhide__ = is_refusal


class Filters(TypedDict, total=False):
    """The filters of recorded requests, as `Sandbox.requests` takes them.

    None is no filter.
    """

    operation: str | None
    status: int | str | None
    code: str | None
    rule: str | None
    team: str | None
    idempotency_key: str | None
    since: int | None


class Sandbox:
    """A sandbox: a whole service of its own.

    As a context manager it is deleted at the end, unless it is `default`.
    `Emulator.sandbox(...)` makes one; `Emulator.default` and `app.sandbox` are the one
    that always exists.

    Everything here raises EmulatorError where the emulator refuses or does not answer.

        >>> sandbox = create_app(clock="manual").sandbox
        >>> sandbox.base_url, sandbox.api_key
        ('http://testserver/v1', 'iwe_demo_full')
    """

    def __init__(self, plane: ControlClient, identifier: str) -> None:
        self._plane = plane
        self.id = identifier
        self.clock = Clock(plane)
        self.given = Given(plane)
        """Makes Products, ingredients and photoshoots before the client comes."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self.id != DEFAULT_SANDBOX:
            self.delete()

    # Where it is, and its keys --------------------------------------------------------

    @property
    def base_url(self) -> str:
        """The base URL of clients, such as `http://127.0.0.1:8038/v1`.

        It is the same for all sandboxes.
        """
        return str(self.show()["base_url"])

    @property
    def env(self) -> dict[str, str]:
        """The environment variables that lead to this sandbox.

        A program or the command line finds it by them.
        """
        return dict(self.show()["env"])

    @property
    def api_key(self) -> str:
        """The key of Demo's full credential.

        Where there is no such Team, the first full one that can be used; else empty.
        """
        return self.env["IMAGE_WORKFLOW_API_KEY"]

    def key(self, key: str) -> str:
        """Return this sandbox's form of a `key` of the world.

        Raises EmulatorError (`not_found`) for a key that the sandbox does not have.

            >>> sandbox = create_app().emulator.sandbox(id="checkout")
            >>> sandbox.key("iwe_demo_read")
            'iwe_demo_read_checkout'
        """
        return str(self.credential(key)["key"])

    def credential(self, key: str) -> Mapping[str, Any]:
        """Return a credential by its `key`, in this sandbox's form or the world's.

        It has `id`, `key`, `name`, `profile`, `state` and others. Raises EmulatorError
        (`not_found`) for a key that the sandbox does not have.

            >>> create_app().sandbox.credential("iwe_demo_revoked")["state"]
            'revoked'
        """
        return self._plane.credential(key)

    # The scenario ---------------------------------------------------------------------

    def use(
        self,
        scenario: "str | Mapping[str, Any] | Path",
        *,
        team: str | None = None,
    ) -> None:
        """Run another scenario from now on.

        `scenario`: the name of one in the library, a file, or a whole one, as a mapping
        or as YAML. `team`: the name or id of the only Team that it is for.

        Raises EmulatorError (`invalid_scenario`) for a bad one, which changes nothing;
        `detail` has file, line and column.

            >>> sandbox = create_app().sandbox
            >>> sandbox.use("rate-limited")
            >>> sandbox.scenario
            'rate-limited'
        """
        self._plane.use_scenario(scenario, team)

    def no_scenario(self, *, team: str | None = None) -> None:
        """End the scenario.

        What it has changed, such as a pause, stays changed until a reset. `team`: the
        name or id of the Team whose own scenario ends. Raises EmulatorError (`not_found`)
        for an unknown one.

            >>> sandbox = create_app(scenario="rate-limited").sandbox
            >>> sandbox.no_scenario()
            >>> sandbox.scenario is None
            True
        """
        self._plane.call("DELETE", "scenario", query={"team": team})

    @property
    def scenario(self) -> str | None:
        """The name of the running scenario; None if there is none."""
        name: str | None = self._plane.call("GET", "scenario")["scenario"]
        return name

    @property
    def rules(self) -> list[Rule]:
        """The rules of the running scenario, each with how often it acted."""
        running = self._plane.call("GET", "scenario")
        return convert(running["rules"], list[Rule])

    @property
    def readings(self) -> list[str]:
        """The readings of the specification that are not plain.

        They are texts such as `D26=always-a-cursor`.
        """
        return list(self.show()["readings"])

    # Teams ----------------------------------------------------------------------------

    def team(self, name_or_id: str) -> Team:
        """Return the Team with this `name_or_id`.

        Raises EmulatorError (`not_found`) if there is none.

            >>> create_app().sandbox.team("Demo").credits
            100
        """
        team = Team(self._plane, name_or_id)
        team.show()  # so that a misspelt name is refused here
        return team

    def teams(self) -> list[Mapping[str, Any]]:
        """Return all Teams with their credentials, as the control plane shows them."""
        return list(self._plane.call("GET", "teams")["data"])

    # The journal ----------------------------------------------------------------------

    def requests(
        self,
        *,
        limit: int | None = None,
        **filters: Unpack[Filters],
    ) -> list[RecordedRequest]:
        """Return the recorded requests that all `filters` select, oldest first.

        `operation`: an operation id. `status`: a number, or a class such as `4xx`.
        `code`: a problem code. `rule`: the name of the rule of a scenario that acted on
        it. Each of these can be `none`, for a request that has none.
        `team`: a name or id. `idempotency_key`: the key that it was sent with. `since`: a
        sequence number; the requests after it. `limit`: only the newest of these, so many.

        Raises EmulatorError for a value that cannot be a filter, and for an unknown Team.

            >>> from starlette.testclient import TestClient
            >>> app = create_app()
            >>> headers = {"Authorization": "Bearer iwe_demo_revoked"}
            >>> answer = TestClient(app, headers=headers).get("/v1/team")
            >>> [request.code for request in app.sandbox.requests(status="4xx")]
            ['credential_revoked']
        """
        recorded = self._plane.recorded(filters, limit)
        return convert(recorded, list[RecordedRequest])

    @property
    def last_sequence(self) -> int:
        """The sequence number of the newest recorded request; 0 if there is none.

        `requests(since=...)` returns what comes after it. A reset begins at 0 again.
        """
        return self._plane.last_sequence()

    def conduct(self, *, ended: bool = True) -> Conduct:
        """Return what the clients of this sandbox did wrong, by its journal.

        `ended`: count what was left undone as if no more requests would come; else only
        what was left undone for ten minutes of emulator time.

        Raises EmulatorError where the emulator does not answer.

            >>> from starlette.testclient import TestClient
            >>> app = create_app()
            >>> path = f"/v1/team?api_key={app.sandbox.api_key}"
            >>> answer = TestClient(app).get(path)
            >>> [finding.rule for finding in app.sandbox.conduct().findings]
            ['credential-in-request']
        """
        answer = self._plane.call("GET", "conduct", query={"ended": ended})
        return convert(answer, Conduct)

    def coverage(self) -> dict[str, Any]:
        """Return the coverage of the contract by the clients of this sandbox.

        It is as far as the journal shows it. Raises EmulatorError where the emulator does
        not answer.

            >>> create_app().sandbox.coverage()["percent"]
            0.0
        """
        return self._plane.call("GET", "coverage")

    def explain(self, which: "str | int | RecordedRequest" = "last") -> Explanation:
        """Explain a recorded request.

        `which`: `last`, a Request-Id, a sequence number, or one of `requests()`. Raises
        EmulatorError (`not_found`) where the journal does not have it.

            >>> from starlette.testclient import TestClient
            >>> app = create_app()
            >>> headers = {"Authorization": "Bearer iwe_demo_revoked"}
            >>> answer = TestClient(app, headers=headers).get("/v1/team")
            >>> app.sandbox.explain("last").remedy
            "use the Team's credential 'Full'"
        """
        identifier = which
        if isinstance(which, RecordedRequest):
            identifier = which.sequence
        request = self._plane.explained(str(identifier))
        explanation = {**request["explanation"], "request": request}
        return convert(explanation, Explanation)

    # All of it ------------------------------------------------------------------------

    def reset(self) -> None:
        """Reset it to its start.

        It has the same seed and world again, an empty journal, and the scenario from its
        beginning.
        """
        self._plane.call("POST", "reset")

    def save(self, path: str | Path) -> None:
        """Write all of it to a state file at `path`.

        If the name ends in `.json`, it is a session: what the page shows of the sandbox,
        for its `Open file`. Raises UnusableFileError if it cannot be written; what was
        there stays.

            >>> sandbox = create_app().sandbox
            >>> sandbox.team("Demo").set(credits=5)
            >>> sandbox.save("five.zip")
        """
        content = saved_sandbox(self._plane, str(path))
        write_file(path, content)

    def load(self, path: str | Path) -> None:
        """Replace it by what the state file at `path` holds.

        Raises EmulatorError if the file cannot be used; nothing changes.

            >>> sandbox = create_app().sandbox
            >>> sandbox.save("start.zip")
            >>> sandbox.team("Demo").set(credits=5)
            >>> sandbox.load("start.zip")
            >>> sandbox.team("Demo").credits
            100
        """
        content = read_state_file(path)
        self._plane.exchange("PUT", "state", content, ZIP, seconds=STATE_SECONDS)

    def delete(self) -> None:
        """Delete it, with all that it holds.

        Raises EmulatorError for the default sandbox, which always exists.
        """
        process = self._plane.of(None)
        process.call("DELETE", f"sandboxes/{self.id}")

    def show(self) -> dict[str, Any]:
        """Return all of it, as the control plane shows it."""
        return self._plane.call("GET")
