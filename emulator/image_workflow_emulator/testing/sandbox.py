"""One sandbox of a running emulator, as a test sees it: its keys, clock, scenario, Teams and journal.

Every property asks the emulator, so its value is current. Everything here is synchronous, and raises EmulatorError
where the emulator refuses or does not answer.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self, TypeAlias, TypedDict, Unpack

import orjson
from msgspec import Struct, convert

from image_workflow_emulator.client import control_client
from image_workflow_emulator.client.control_client import (
    STATE_SECONDS,
    YAML,
    ZIP,
    ControlClient,
)
from image_workflow_emulator.client.exports import saved_sandbox
from image_workflow_emulator.client.local_files import (
    EmulatorError,
    is_refusal,
    read_file,
    read_state_file,
    write_file,
)
from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.examiner.findings import Conduct
from image_workflow_emulator.kernel.timestamps import parse_duration_ms

__tracebackhide__ = is_refusal


Resource: TypeAlias = dict[str, Any]
"""A resource as `/v1` shows it."""


class Filters(TypedDict, total=False):
    """The filters of recorded requests, as `Sandbox.requests` takes them. None is no filter."""

    operation: str | None
    status: int | str | None
    code: str | None
    team: str | None
    idempotency_key: str | None
    since: int | None


class TeamChanges(TypedDict, total=False):
    """The fields of a Team that can be changed, as `Team.set` takes them."""

    credits: int
    subscription: str
    concurrency_limit: int
    requests_per_minute: int


def _shown(field: str) -> Any:
    """Return the property that is a field of what the control plane shows of a sandbox, a clock or a Team."""
    return property(lambda thing: thing.show()[field])


class Sandbox:
    """A sandbox: a whole service of its own. As a context manager it is deleted at the end, unless it is `default`.

    `Emulator.sandbox(...)` makes one; `Emulator.default` and `app.sandbox` are the one that always exists.

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
        if self.id != control_client.DEFAULT_SANDBOX:
            self.delete()

    # Where it is, and its keys --------------------------------------------------------------------------------------

    base_url: str = _shown("base_url")
    """The base URL of clients, such as `http://127.0.0.1:8038/v1`: the same for all sandboxes."""
    env: dict[str, str] = _shown("env")
    """The environment variables by which a program or the command line finds this sandbox."""

    @property
    def api_key(self) -> str:
        """The key of Demo's full credential; where there is no such Team, the first full one that can be used; else
        empty.
        """
        return self.env["IMAGE_WORKFLOW_API_KEY"]

    def key(self, key: str) -> str:
        """Return this sandbox's form of a `key` of the world. Raises EmulatorError (`not_found`) for one that it does
        not have.

        >>> create_app().emulator.sandbox(id="checkout").key("iwe_demo_read")
        'iwe_demo_read_checkout'
        """
        return str(self.credential(key)["key"])

    def credential(self, key: str) -> Mapping[str, Any]:
        """Return a credential by its `key`, in this sandbox's form or the world's: `id`, `key`, `name`, `profile`,
        `state` and others.

        Raises EmulatorError (`not_found`) for a key that the sandbox does not have.

            >>> create_app().sandbox.credential("iwe_demo_revoked")["state"]
            'revoked'
        """
        return self._plane.credential(key)

    # The scenario ---------------------------------------------------------------------------------------------------

    def use(
        self, scenario: "str | Mapping[str, Any] | Path", *, team: str | None = None
    ) -> None:
        """Run another scenario from now on.

        `scenario`: the name of one in the library, a file, or a whole one, as a mapping or as YAML. `team`: the name or
        id of the only Team that it is for.

        Raises EmulatorError (`invalid_scenario`) for a bad one, which changes nothing; `detail` has file, line and
        column.

            >>> sandbox = create_app().sandbox
            >>> sandbox.use("rate-limited")
            >>> sandbox.scenario
            'rate-limited'
        """
        self._plane.use_scenario(scenario, team)

    def no_scenario(self, *, team: str | None = None) -> None:
        """End the scenario. What it has changed, such as a pause, stays changed until a reset.

        `team`: the name or id of the Team whose own scenario ends. Raises EmulatorError (`not_found`) for an unknown
        one.

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
    def rules(self) -> "list[Rule]":
        """The rules of the running scenario, each with how often it `matched` and `fired`."""
        return convert(self._plane.call("GET", "scenario")["rules"], list[Rule])

    readings: list[str] = _shown("readings")
    """The readings of the specification that are not plain, such as `D26=always-a-cursor`."""

    # Teams ----------------------------------------------------------------------------------------------------------

    def team(self, name_or_id: str) -> "Team":
        """Return the Team with this `name_or_id`. Raises EmulatorError (`not_found`) if there is none.

        >>> create_app().sandbox.team("Demo").credits
        100
        """
        team = Team(self, self._plane, name_or_id)
        team.id  # noqa: B018 (asks for it, so that a misspelt name is refused here)
        return team

    def teams(self) -> list[Mapping[str, Any]]:
        """Return all Teams with their credentials, as the control plane shows them."""
        return list(self._plane.call("GET", "teams")["data"])

    # The journal ----------------------------------------------------------------------------------------------------

    def requests(self, **filters: Unpack[Filters]) -> list[RecordedRequest]:
        """Return the recorded requests, oldest first, that all given `filters` select.

        `operation`: an operation id. `status`: a number, or a class such as `4xx`. `code`: a problem code. Each of
        these can be `none`, for a request that has none. `team`: a name or id. `idempotency_key`: the key that it was
        sent with. `since`: a sequence number; the requests after it.

        Raises EmulatorError for a value that cannot be a filter, and for an unknown Team.

            >>> from starlette.testclient import TestClient
            >>> app = create_app()
            >>> answer = TestClient(app, headers={"Authorization": "Bearer iwe_demo_revoked"}).get("/v1/team")
            >>> [request.code for request in app.sandbox.requests(status="4xx")]
            ['credential_revoked']
        """
        return convert(self._plane.recorded(filters), list[RecordedRequest])

    def conduct(self, *, ended: bool = True) -> Conduct:
        """Return what the clients of this sandbox did wrong, as far as its journal shows it.

        `ended`: count what was left undone as if no more requests would come; else only what was left undone for ten
        minutes of emulator time.

        Raises EmulatorError where the emulator does not answer.

            >>> from starlette.testclient import TestClient
            >>> app = create_app()
            >>> answer = TestClient(app).get(f"/v1/team?api_key={app.sandbox.api_key}")
            >>> [finding.rule for finding in app.sandbox.conduct().findings]
            ['credential-in-request']
        """
        return convert(
            self._plane.call("GET", "conduct", query={"ended": ended}), Conduct
        )

    def coverage(self) -> dict[str, Any]:
        """Return the coverage of the contract by the clients of this sandbox, as far as its journal shows it.

        Raises EmulatorError where the emulator does not answer.

            >>> create_app().sandbox.coverage()["percent"]
            0.0
        """
        return self._plane.call("GET", "coverage")

    def explain(self, which: "str | int | RecordedRequest" = "last") -> "Explanation":
        """Explain a recorded request.

        `which`: `last`, a Request-Id, a sequence number, or one of `requests()`. Raises EmulatorError (`not_found`)
        where the journal does not have it.

            >>> from starlette.testclient import TestClient
            >>> app = create_app()
            >>> answer = TestClient(app, headers={"Authorization": "Bearer iwe_demo_revoked"}).get("/v1/team")
            >>> app.sandbox.explain("last").remedy
            "use the Team's credential 'Full'"
        """
        identifier = which.sequence if isinstance(which, RecordedRequest) else which
        found = self._plane.explained(str(identifier))
        return convert({**found["explanation"], "request": found}, Explanation)

    # All of it ------------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Reset it to its start: same seed, same world, empty journal, the scenario from its beginning."""
        self._plane.call("POST", "reset")

    def save(self, path: str | Path) -> None:
        """Write all of it to a state file at `path`. Raises UnusableFileError if it cannot be written; what was there
        stays.

        If the name ends in `.json`, it is a session: what the page shows of the sandbox, for its `Open file`.

        >>> sandbox = create_app().sandbox
        >>> sandbox.team("Demo").set(credits=5)
        >>> sandbox.save("five.zip")
        """
        write_file(path, saved_sandbox(self._plane, str(path)))

    def load(self, path: str | Path) -> None:
        """Replace it by what the state file at `path` holds. Raises EmulatorError if the file cannot be used; nothing
        changes.

        >>> sandbox = create_app().sandbox
        >>> sandbox.save("start.zip")
        >>> sandbox.team("Demo").set(credits=5)
        >>> sandbox.load("start.zip")
        >>> sandbox.team("Demo").credits
        100
        """
        self._plane.exchange(
            "PUT", "state", read_state_file(path), ZIP, seconds=STATE_SECONDS
        )

    def delete(self) -> None:
        """Delete it, with all that it holds. Raises EmulatorError for the default sandbox, which always exists."""
        self._plane.of(None).call("DELETE", f"sandboxes/{self.id}")

    def show(self) -> dict[str, Any]:
        """Return all of it, as the control plane shows it."""
        return self._plane.call("GET")


class Clock:
    """The clock of a sandbox, which governs every timestamp, expiry, window and Retry-After in it.

    Each move returns how many events fired, and raises EmulatorError for a move that cannot be made, such as one
    backwards.

        >>> clock = create_app(clock="manual").sandbox.clock
        >>> clock.advance("90s")
        0
        >>> clock.now.isoformat()
        '2026-01-01T00:01:30+00:00'
    """

    def __init__(self, plane: ControlClient) -> None:
        self._plane = plane

    @property
    def now(self) -> datetime:
        """The emulator's time, aware (UTC)."""
        return datetime.fromisoformat(self.show()["now"])

    @property
    def mode(self) -> str:
        """How it runs: `real`, `manual`, `auto`, or a rate such as `x60`. It can be set."""
        return control_client.mode_of(self.show())

    @mode.setter
    def mode(self, mode: str) -> None:
        self._plane.call("PUT", "clock", {"mode": mode})

    pending: int = _shown("pending")
    """The number of events that are due later."""

    @property
    def next_event_at(self) -> datetime | None:
        """When the next of them is due; None if there is none."""
        due = self.show()["next_event_at"]
        return None if due is None else datetime.fromisoformat(due)

    def advance(self, span: "float | str | timedelta") -> int:
        """Move forward by a `span`: seconds, a text such as `90s`, `250ms` or `2m`, or a timedelta. It can stand in for
        `time.sleep`.

        Raises EmulatorError for a span that cannot be read, or is negative.

            >>> clock = create_app(clock="manual").sandbox.clock
            >>> clock.advance(1.5)
            0
        """
        try:
            seconds = parse_duration_ms(span) / 1000 if isinstance(span, str) else span
        except ValueError as error:
            raise EmulatorError("invalid_request", f"clock.advance: {error}") from None
        return self._move(
            {
                "seconds": seconds.total_seconds()
                if isinstance(seconds, timedelta)
                else seconds
            }
        )

    def to(self, moment: datetime | str) -> int:
        """Move forward to a `moment`: an aware datetime, or a timestamp.

        Raises EmulatorError for a moment in the past, ValueError for a datetime without a time zone.

            >>> clock = create_app(clock="manual").sandbox.clock
            >>> clock.to("2026-01-01T00:15:00.000Z")
            0
        """
        return self._move(
            {
                "to": control_client.timestamp_text(moment)
                if isinstance(moment, datetime)
                else moment
            }
        )

    def next(self) -> int:
        """Move forward to the next event."""
        return self._move({"next_event": True})

    def idle(self) -> int:
        """Move forward until no work is unfinished, except what a scenario stalls."""
        return self._move({"until_idle": True})

    def show(self) -> dict[str, Any]:
        """Return all of it, as the control plane shows it."""
        return self._plane.call("GET", "clock")

    def _move(self, move: Mapping[str, Any]) -> int:
        return int(self._plane.call("POST", "clock/advance", move)["fired"])


class Team:
    """A Team of a sandbox, by its name or id. `Sandbox.team` returns it.

    Everything here raises EmulatorError (`not_found`) where the sandbox has no such Team.
    """

    def __init__(self, sandbox: Sandbox, plane: ControlClient, name_or_id: str) -> None:
        self._sandbox = sandbox
        self._plane = plane
        self._name_or_id = name_or_id

    id: str = _shown("id")
    name: str = _shown("name")
    credits: int = _shown("credits")
    """The Credits that GET /team shows."""
    reserved: int = _shown("reserved")
    """The Credits that are reserved for unfinished work."""
    subscription: str = _shown("subscription")
    """`active` or `inactive`."""
    concurrency_limit: int = _shown("concurrency_limit")
    """How much unfinished work it may have."""
    credentials: list[Mapping[str, Any]] = _shown("credentials")
    """Its credentials: `id`, `key`, `name`, `profile`, `state` and `expires_at`."""

    def set(self, **changes: Unpack[TeamChanges]) -> None:
        """Make the `changes` that are given, from now on.

        `credits`: what it can spend. `subscription`: `active` or `inactive`. `concurrency_limit`: how much unfinished
        work it may have. `requests_per_minute`: how many requests each of its credentials may send.

        Raises EmulatorError for a value that cannot be used, which changes nothing.

            >>> team = create_app().sandbox.team("Demo")
            >>> team.set(credits=5, subscription="inactive")
            >>> team.credits, team.subscription
            (5, 'inactive')
        """
        self._plane.call(
            "PATCH", f"teams/{control_client.path_step(self._name_or_id)}", changes
        )

    def show(self) -> Mapping[str, Any]:
        """Return all of it, as the control plane shows it."""
        found = [
            team
            for team in self._sandbox.teams()
            if self._name_or_id in (team["id"], team["name"])
        ]
        if len(found) != 1:
            many = (
                "more than one Team has this name" if found else "there is no such Team"
            )
            raise EmulatorError("not_found", f"{self._name_or_id!r}: {many}")
        return found[0]


# Seeding ------------------------------------------------------------------------------------------------------------


class Given:
    """Makes resources by the rules of `/v1`. The journal, conduct and coverage do not know of it.

    Work takes its time by the clock of the sandbox, which is moved to its end. Each method returns the resource as
    `/v1` shows it. Its `fields` are more fields of the body under `/v1`.

    Raises EmulatorError with the service's code where the service refuses.

        >>> given = create_app(clock="auto").sandbox.given
        >>> shirt = given.product("Linen shirt", photos=2)
        >>> shoot = given.photoshoot(products=[shirt])
        >>> shoot["status"]
        'completed'
    """

    def __init__(self, plane: ControlClient) -> None:
        self._plane = plane

    def product(self, name: str, *, photos: int = 1, **fields: Any) -> Resource:
        """Make a Product. `name`: what it is called. `photos`: the number of its photos, which are drawn.

        >>> shirt = create_app().sandbox.given.product("Linen shirt", photos=2)
        >>> shirt["name"], len(shirt["asset_ids"])
        ('Linen shirt', 2)
        """
        return self._make("product", name=name, photos=photos, **fields)

    def fashion_model(self, name: str, *, photos: int = 1, **fields: Any) -> Resource:
        """Make a Fashion Model, and return it when it is finished.

        `name`: what it is called. `photos`: the number of its photos, which are drawn.

            >>> create_app(clock="auto").sandbox.given.fashion_model("Ava")["name"]
            'Ava'
        """
        return self._make("fashion_model", name=name, photos=photos, **fields)

    def background(self, name: str, **fields: Any) -> Resource:
        """Make a Background, and return it when it is finished. `name`: what it is called.

        >>> create_app(clock="auto").sandbox.given.background("Beach")["name"]
        'Beach'
        """
        return self._make("background", name=name, **fields)

    def pose(self, name: str, **fields: Any) -> Resource:
        """Make a Pose, and return it when it is finished. `name`: what it is called.

        >>> create_app(clock="auto").sandbox.given.pose("Walking")["supported_camera_distances"]
        ['close', 'medium', 'far']
        """
        return self._make("pose", name=name, **fields)

    def photography_style(self, name: str, **fields: Any) -> Resource:
        """Make a Photography Style, and return it when it is finished. `name`: what it is called.

        >>> create_app(clock="auto").sandbox.given.photography_style("Daylight")["object"]
        'photography_style'
        """
        return self._make("photography_style", name=name, **fields)

    def photoshoot(
        self,
        *,
        products: Sequence[str | Mapping[str, Any]],
        finished: bool = True,
        **fields: Any,
    ) -> Resource:
        """Make a photoshoot, and return its Generation.

        `products`: Products, or their ids. `finished`: whether to move the clock to its end; else it stays queued.

            >>> given = create_app(clock="manual").sandbox.given
            >>> given.photoshoot(products=[given.product("Linen shirt")], finished=False)["status"]
            'queued'
        """
        ids = [
            product if isinstance(product, str) else product["id"]
            for product in products
        ]
        return self._make("photoshoot", products=ids, finished=finished, **fields)

    def file(self, path: str | Path, *, team: str | None = None) -> list[Resource]:
        """Make everything that the file at `path` lists, in order, and return it. `team`: whose it will be, by name or
        id.

        A file with a mistake makes nothing: EmulatorError has its line and column. What the service refuses leaves what
        was made before it.

            >>> from pathlib import Path
            >>> size = Path("shop.yaml").write_text("given: [{product: {name: Linen shirt}}, {pose: {name: Walking}}]")
            >>> made = create_app(clock="auto").sandbox.given.file("shop.yaml", team="Demo")
            >>> [resource["name"] for resource in made]
            ['Linen shirt', 'Walking']
        """
        return self._send(read_file(path), {"file": str(path), "team": team})

    def _make(self, kind: str, /, **fields: Any) -> Resource:
        return self._send(orjson.dumps({"given": [{kind: fields}]}), {})[0]

    def _send(self, content: bytes, query: Mapping[str, Any]) -> list[Resource]:
        answer = self._plane.exchange(
            "POST", "given", content, YAML, query=query, seconds=STATE_SECONDS
        )
        made: list[Resource] = orjson.loads(answer)["data"]
        return made


# Answers of the control plane as objects ------------------------------------------------------------------------------
# Names are those of its JSON. A field that a newer emulator adds is left out; nested objects and bodies stay as JSON
# has them.


class Explanation(Struct, frozen=True, kw_only=True):
    """Why a request ended as it did. `Sandbox.explain` returns one; as a text, it is its `summary`.

    >>> from starlette.testclient import TestClient
    >>> app = create_app()
    >>> TestClient(app, headers={"Authorization": "Bearer iwe_demo_revoked"}).get("/v1/team").status_code
    401
    >>> app.sandbox.explain("last").remedy
    "use the Team's credential 'Full'"
    """

    request: RecordedRequest
    outcome: str
    summary: str
    checks: list[Mapping[str, Any]]
    """The checks in order, each with `check`, `result` (`passed`, `decided`, `not reached`), `detail` and `source`."""
    decided_by: Mapping[str, Any] | None = None
    remedy: str | None = None
    """The smallest change that would have succeeded; None for a request that was not refused."""
    effects: list[str]
    rules: list[Mapping[str, Any]]
    related: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        return self.summary


class Rule(Struct, frozen=True, kw_only=True):
    """A rule of the running scenario, with its counters. `Sandbox.rules` has them.

    >>> (rule,) = create_app(scenario="some-outputs-fail").sandbox.rules
    >>> rule.name, rule.fired
    ('slots 2 and 4 fail', 0)
    """

    name: str
    matched: int
    """The number of requests (or pieces of work) that it matched."""
    fired: int
    """The number on which it acted."""

    def never_fired(self, scenario: str) -> str:
        """Return a sentence about this rule that never fired. `scenario`: the name of its scenario. Raises nothing.

        >>> create_app(scenario="some-outputs-fail").sandbox.rules[0].never_fired("mine")
        'the rule "slots 2 and 4 fail" of the scenario mine never fired (nothing matched it)'
        """
        matched = {0: "nothing matched it", 1: "it matched once"}.get(
            self.matched, f"it matched {self.matched} times"
        )
        return (
            f'the rule "{self.name}" of the scenario {scenario} never fired ({matched})'
        )
