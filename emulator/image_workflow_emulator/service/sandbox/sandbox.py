"""A sandbox: a whole service of its own, as one object with no module-level state
behind it.

Owns what exists in it and how it begins: the accounts of its Teams and credentials,
each with all that is counted for it. The other files of this room change it; `engine`
lets its time pass.
"""

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from image_workflow_emulator.domain.idempotency import (
    RETENTIONS_MS,
    IdempotencyRecords,
    Scope,
)
from image_workflow_emulator.domain.limits import (
    AdmissionPause,
    ConcurrencyBudget,
    Ledger,
    RateWindow,
)
from image_workflow_emulator.domain.problems import Cause, Problem
from image_workflow_emulator.domain.readings import NO_READINGS, Readings
from image_workflow_emulator.domain.resources import Credential, Team
from image_workflow_emulator.kernel.clock import Clock, ClockSetting, Timeline
from image_workflow_emulator.kernel.seed import MAX_SEED, Identifiers, Seed, Signer
from image_workflow_emulator.kernel.timestamps import DAY_MS, LATEST_INSTANT
from image_workflow_emulator.scenario.playbook import Playbook, RuleCounts
from image_workflow_emulator.scenario.scenario import NO_SCENARIO, Scenario
from image_workflow_emulator.scenario.world import (
    CREDENTIAL_NAMES,
    NEW_TEAM,
    Timings,
    World,
    WorldCredential,
    WorldTeam,
)
from image_workflow_emulator.service.records.feed import Feed
from image_workflow_emulator.service.records.journal import Journal
from image_workflow_emulator.service.sandbox.images import ImageStore, MemoryBudget
from image_workflow_emulator.service.sandbox.premade import add_premade_ingredients
from image_workflow_emulator.service.sandbox.previous_values import (
    PreviousCredentialValue,
    PreviousTeamValue,
)
from image_workflow_emulator.service.sandbox.store import Store

# The accounts -------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class TeamAccount:
    """A Team and all that is counted for it."""

    team: Team
    ledger: Ledger = field(default_factory=Ledger)
    budget: ConcurrencyBudget = field(default_factory=ConcurrencyBudget, init=False)
    rate: RateWindow = field(default_factory=RateWindow)
    pause: AdmissionPause = field(default_factory=AdmissionPause)
    """A pause of this Team's writes alone."""
    previous_values: dict[str, PreviousTeamValue] = field(default_factory=dict)
    """By field: what goes back when a change of a timeline ends."""


@dataclass(slots=True, eq=False)
class CredentialAccount:
    """A credential and its admitted requests."""

    credential: Credential
    rate: RateWindow = field(default_factory=RateWindow)
    previous_values: dict[str, PreviousCredentialValue] = field(default_factory=dict)
    """By field: what goes back when a change of a timeline ends."""


# The sandbox --------------------------------------------------------------------------


_LOGGER = logging.getLogger("image_workflow_emulator.service")
DEFAULT_SANDBOX_ID = "default"
EVERYONE = ""
"""The key of the scenario that is not limited to one Team."""
CREDENTIAL_LIFETIME_MS = 365 * DAY_MS
"""The expiry of a credential whose world names none."""

MEMORY_RETRY_SECONDS = 60
"""The Retry-After of a refusal for lack of memory; only deleting something or a reset
helps."""

_PREFIX_LENGTH = 8
_EVOLVED_ROUNDS = 8
"""How often the premade ingredients are added with evolution: they then fill more than
one page of the default length."""


@dataclass(slots=True, eq=False)
class HeldAdmission:
    """A request that a scenario holds in admission."""

    due: int
    """The instant at which it goes on."""
    scope: Scope | None
    """Its Idempotency-Key, which is in progress until the request is admitted; None for
    a request that has none."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set to let it go on."""


class RuleKey(NamedTuple):
    """What tells one rule of a scenario from all others."""

    scenario: str
    rule: str
    is_shipped: bool
    """Whether the scenario is of the library."""


class Beginning(Struct, frozen=True, kw_only=True):
    """How a sandbox begins, its scenario aside. None: the scenario's value, else the
    default.
    """

    seed: Annotated[int, Meta(ge=0, le=MAX_SEED)] | None
    clock: ClockSetting | None
    start: Annotated[int, Meta(ge=0, le=LATEST_INSTANT)] | None
    rate_limits: bool
    world: World
    own_world: World = World()
    """What the creation named of a world, where the scenario is that of the run: it overrides the scenario's world."""
    evolution: bool = False
    """Whether what v1 may add is there (D68)."""
    readings: Readings | None = None
    found_readings: Readings = NO_READINGS
    """Those of a file that was found: where neither an option nor the scenario has
    any."""


class SandboxOptions(Beginning, frozen=True, kw_only=True):
    """How a sandbox begins; its reset begins it so again."""

    scenario: Scenario = NO_SCENARIO


@dataclass(
    slots=True,
    kw_only=True,
    eq=False,
)
class SandboxState:
    """The whole state of a sandbox except pictures: what a state file contains, and
    from which everything else is rebuilt.

    Fields with `init=False` are no part of it: their classes fill them again. Of the
    journal, only the last number is.
    """

    options: SandboxOptions
    signing_name: str
    """Part of the signatures of links, tokens and cursors: the id of the sandbox where
    this state began."""
    seed: Seed
    clock: Clock
    began_at: int
    rate_limits: bool
    timings: Timings
    readings: Readings
    pause: AdmissionPause = field(default_factory=AdmissionPause)
    counters: dict[str, int] = field(default_factory=dict)
    """By prefix: how many identifiers there are of each kind."""
    timeline: Timeline = field(default_factory=Timeline)
    journal: Journal = field(default_factory=Journal)
    accounts: dict[str, TeamAccount] = field(default_factory=dict)
    credentials: dict[str, CredentialAccount] = field(default_factory=dict)
    """By key."""
    playbooks: dict[str, Playbook] = field(default_factory=dict)
    """By Team id, and under an empty one for every Team: the running scenarios."""
    store: Store = field(default_factory=Store)
    idempotency: IdempotencyRecords = field(init=False)

    def __post_init__(self) -> None:
        self.idempotency = IdempotencyRecords(
            RETENTIONS_MS[self.readings.key_retention]
        )


class Sandbox(SandboxState):
    """One service: its state, and what is made from it or ends with the process."""

    def __init__(
        self,
        identifier: str,
        memory: MemoryBudget,
        beginning: SandboxOptions | SandboxState,
    ) -> None:
        self.id = identifier
        self.memory = memory
        self.feed = Feed()
        if isinstance(beginning, SandboxState):
            self.become(beginning)
        else:
            self.begin(beginning)
        self.created_with = self.options
        """How it begins without a scenario, or before one changes that."""

    def begin(self, options: SandboxOptions) -> None:
        """Make everything as it is at the start; call `end` before, where the sandbox
        has begun already.
        """
        scenario = options.scenario
        scenario_world = options.world.changed(scenario.world)
        world = scenario_world.changed(options.own_world)
        clock = _first_clock(options)
        state = SandboxState(
            options=options,
            signing_name=self.id,
            seed=_first_seed(options),
            clock=clock,
            began_at=clock.now(),
            rate_limits=options.rate_limits,
            timings=Timings(**world.timings),
            readings=options.readings or scenario.readings or options.found_readings,
        )
        self.become(state)
        for team in world.teams:
            # A scenario of the run may change a Team that this world does not have.
            if team.credentials:
                self.add_team(team, self.began_at)
        if world.premade:
            rounds = 1
            if options.evolution:
                rounds = _EVOLVED_ROUNDS
            add_premade_ingredients(
                self.store,
                self.images,
                self.identifiers,
                self.began_at,
                rounds,
            )

    def become(self, state: SandboxState) -> None:
        """Take a state as this sandbox's own, and make the rest from it."""
        self.options = state.options
        self.signing_name = state.signing_name
        self.seed = state.seed
        self.clock = state.clock
        self.began_at = state.began_at
        self.rate_limits = state.rate_limits
        self.timings = state.timings
        self.readings = state.readings
        self.pause = state.pause
        self.counters = state.counters
        self.timeline = state.timeline
        self.journal = state.journal
        self.accounts = state.accounts
        self.credentials = state.credentials
        self.playbooks = state.playbooks
        self.store = state.store
        self.idempotency = state.idempotency
        self.journal.feed = self.feed
        self.identifiers = Identifiers(
            self.seed.value,
            self.counters,
            is_long=self.options.evolution,
        )
        secret = self.seed.digest("signer", self.signing_name)
        self.signer = Signer(secret)
        self.images = ImageStore(self.memory, self.signer)
        self.held_admissions: dict[str, HeldAdmission] = {}
        self.causes: dict[tuple[str, str], Cause] = {}
        """By field (such as `credits`) and id: the timeline change that set it last."""
        self.opened_at = self.clock.now()
        """When it began, or its state was loaded."""
        self.past_rules: dict[RuleKey, RuleCounts] = {}
        """The counts of scenarios that have ended."""

    def take_place_of(self, old: "Sandbox") -> None:
        """Count the image bytes in the memory budget of another sandbox from now on,
        and notify its watchers.
        """
        self.images.move_to(old.memory)
        self.memory = old.memory
        self.feed = old.feed
        old.feed = old.journal.feed
        self.journal.feed = self.feed
        self.feed.restart()

    def end(self) -> None:
        """Release memory, held requests and watchers.

        Nothing that a request does from now on leads from here back to here: the memory
        of an ended sandbox is then free with its last request, and not only when the
        garbage collector comes by.
        """
        self.journal.feed = Feed()
        self.journal.feed.close()
        self.journal.requests.clear()
        for held in self.held_admissions.values():
            held.ended.set()
        self.held_admissions = {}
        self.images.close()

    def add_team(self, described: WorldTeam, now: int) -> TeamAccount:
        """Open a Team with its Credits and credentials."""
        values = {**NEW_TEAM, **described.values()}
        credits_at_start = values.pop("credits")
        team_id = self.identifiers.next("team")
        team = Team(
            id=team_id,
            name=described.name,
            **values,
        )
        account = TeamAccount(team)
        account.ledger.grant(credits_at_start, now, "start")
        self.accounts[team.id] = account
        self.feed.note("team", team.id)
        for credential in described.credentials:
            self.add_credential(account, credential, now)
        return account

    def add_credential(
        self,
        account: TeamAccount,
        described: WorldCredential,
        now: int,
    ) -> CredentialAccount:
        """Create a credential of a Team, with this sandbox's form of its key."""
        key = self.key_of(described.key)
        profile = described.profile or "full"
        name = described.name
        if name is None:
            name = CREDENTIAL_NAMES[profile]
        expires_at = described.expires_at
        if expires_at is None:
            expires_at = now + CREDENTIAL_LIFETIME_MS
        credential = Credential(
            id=self.identifiers.next("cred"),
            team_id=account.team.id,
            key=key,
            name=name,
            prefix=key[:_PREFIX_LENGTH],
            profile=profile,
            expires_at=expires_at,
            state=described.state or "active",
        )
        self.credentials[key] = CredentialAccount(credential)
        self.feed.note("team", account.team.id)
        return self.credentials[key]

    def credentials_of(self, team_id: str) -> list[Credential]:
        """Return the credentials of a Team, in the order of their creation."""
        credentials = (account.credential for account in self.credentials.values())
        return [
            credential for credential in credentials if credential.team_id == team_id
        ]

    def key_of(self, world_key: str) -> str:
        """Return this sandbox's form of a key in a world file: outside the default
        sandbox, the id is appended.
        """
        if self.id == DEFAULT_SANDBOX_ID:
            return world_key
        return f"{world_key}_{self.id}"

    def find_accounts(self, name_or_id: str | None) -> list[TeamAccount]:
        """Return the Teams of a name or id; all of them for None."""
        return [
            account
            for account in self.accounts.values()
            if name_or_id in (None, account.team.id, account.team.name)
        ]

    def check_memory(self, size_bytes: int = 1) -> None:
        """Refuse what would hold more image bytes than `--max-memory` allows, in all
        sandboxes together (D55).

        Raises:
            Problem: service_unavailable.
        """
        if self.memory.make_room(size_bytes):
            return
        held = self.memory.held_bytes
        limit = self.memory.limit_bytes
        _LOGGER.warning("503: %d image bytes are held, --max-memory is %d", held, limit)
        raise Problem(
            "service_unavailable",
            f"the emulator holds {held} image bytes; {size_bytes} more exceed "
            f"--max-memory {limit}: delete Assets, reset, or raise it",
            retry_after=MEMORY_RETRY_SECONDS,
        )


def _first_clock(options: SandboxOptions) -> Clock:
    setting = options.clock or options.scenario.clock or ClockSetting("real")
    start = options.start
    if start is None:
        start = options.scenario.start
    return Clock(setting, start)


def _first_seed(options: SandboxOptions) -> Seed:
    if options.seed is not None:
        return Seed(options.seed)
    return Seed(options.scenario.seed or 0)
