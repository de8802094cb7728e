"""All sandboxes of the process, and how one is found: by key for requests, by id for
links and the control plane.
"""

from collections.abc import Callable, Set
from dataclasses import dataclass, field

from image_workflow_emulator.scenario.scenario import NO_SCENARIO
from image_workflow_emulator.service.records.journal import MAX_REQUESTS
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox import scenarios
from image_workflow_emulator.service.sandbox.calls import Caller
from image_workflow_emulator.service.sandbox.images import MemoryBudget
from image_workflow_emulator.service.sandbox.sandbox import (
    DEFAULT_SANDBOX_ID,
    Sandbox,
    SandboxOptions,
)

MAX_SANDBOXES = 1_000


class SandboxConflictError(Exception):
    """A new sandbox cannot be: its id or one of its keys is taken, or there are too
    many. The text says which.
    """


@dataclass(slots=True, eq=False)
class Sandboxes:
    """The sandboxes by id, and every credential of all of them by key."""

    memory: MemoryBudget
    journal_requests: int = MAX_REQUESTS
    """The bound of each journal."""
    by_id: dict[str, Sandbox] = field(default_factory=dict)
    before_end: list[Callable[[Sandbox], None]] = field(default_factory=list)
    """Called with each sandbox that is about to be reset, replaced or deleted."""
    watchers: list[Callable[[Sandbox, RequestRecord], None]] = field(
        default_factory=list
    )
    """Called with each request that has left, and its sandbox. They must be quick, and
    must not raise."""
    _callers: dict[str, Caller] = field(default_factory=dict)

    @property
    def default(self) -> Sandbox:
        """The sandbox that always exists."""
        return self.by_id[DEFAULT_SANDBOX_ID]

    def find_caller(self, key: str | None) -> Caller | None:
        """Return the credential of a key, with its sandbox; None for a key that no
        sandbox has, and for no key.
        """
        if not key:
            return None
        return self._callers.get(key)

    def is_current(self, caller: Caller) -> bool:
        """Whether a caller that was found before is still the one that its key gives."""
        key = caller.credential.key
        return self._callers.get(key) is caller

    def _accept(self, sandbox: Sandbox) -> None:
        """Set the bound of the journal of a sandbox that has begun, and make its keys
        known.
        """
        sandbox.journal.max_requests = self.journal_requests
        self.register(sandbox)

    def create(self, identifier: str, options: SandboxOptions) -> Sandbox:
        """Make a sandbox. Raises SandboxConflictError."""
        if identifier in self.by_id:
            raise SandboxConflictError(f"the sandbox {identifier!r} exists already")
        if len(self.by_id) >= MAX_SANDBOXES:
            raise SandboxConflictError(
                f"there are {MAX_SANDBOXES} sandboxes; delete one first"
            )
        sandbox = Sandbox(identifier, self.memory, options)
        _begin_scenario(sandbox)
        self._check_keys(sandbox.credentials.keys())
        self.by_id[identifier] = sandbox
        self._accept(sandbox)
        return sandbox

    def reset(self, sandbox: Sandbox) -> None:
        """Reset a sandbox to its start."""
        self._end(sandbox)
        sandbox.begin(sandbox.options)
        _begin_scenario(sandbox)
        sandbox.feed.restart()
        self._accept(sandbox)

    def replace(self, sandbox: Sandbox) -> None:
        """Put a sandbox, as loaded from a state file, in the place of the one with its
        id. Raises SandboxConflictError.
        """
        old = self.by_id.get(sandbox.id)
        if old is None:
            raise SandboxConflictError(
                f"the sandbox {sandbox.id!r} was deleted meanwhile"
            )
        new_keys = sandbox.credentials.keys() - old.credentials.keys()
        self._check_keys(new_keys)
        self._end(old)
        self.by_id[sandbox.id] = sandbox
        sandbox.take_place_of(old)
        self._accept(sandbox)

    def delete(self, sandbox: Sandbox) -> None:
        """Delete a sandbox and free its memory."""
        self._end(sandbox)
        del self.by_id[sandbox.id]
        sandbox.feed.close()

    def register(self, sandbox: Sandbox) -> None:
        """Make the keys of a sandbox's credentials known, unless they are already."""
        for key, held in sandbox.credentials.items():
            if key in self._callers:
                continue
            team_id = held.credential.team_id
            self._callers[key] = Caller(
                sandbox=sandbox,
                account=sandbox.accounts[team_id],
                credential_account=held,
            )

    def _check_keys(self, keys: Set[str]) -> None:
        taken_keys = keys & self._callers.keys()
        if taken_keys:
            first_key = min(taken_keys)
            raise SandboxConflictError(
                f"the key {first_key!r} belongs to another sandbox"
            )

    def _end(self, sandbox: Sandbox) -> None:
        """Keep the counts of a sandbox that is reset, replaced or deleted, and make its
        keys unknown.
        """
        for call in self.before_end:
            call(sandbox)
        for key in sandbox.credentials:
            self._callers.pop(key, None)
        sandbox.end()


def _begin_scenario(sandbox: Sandbox) -> None:
    scenario = sandbox.options.scenario
    if scenario != NO_SCENARIO:
        scenarios.begin(sandbox, scenario, sandbox.began_at)
