"""A call of an operation: caller, time and input. Lives as long as its request.

Every operation is a function from a call to a commit: it checks without changing anything, and returns the function
that carries out what it found to be allowed. Nothing happens between the two that could forbid it.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias, TypeVar

from msgspec import Struct

from emulator.domain.intents import Intent
from emulator.domain.problems import Check
from emulator.domain.recipes import PictureFormat
from emulator.domain.resources import Scene
from emulator.scenario.scenario import WorkRule
from emulator.service.callers import Caller
from emulator.service.sandbox import Sandbox

Result = TypeVar("Result")
Commit: TypeAlias = Callable[[], Result]
"""Carries out what was checked, and returns the result. It cannot fail; a Problem that it returns is the answer."""

_NO_QUERY: Final[Mapping[str, str]] = MappingProxyType({})


class DecodedUpload(Struct, frozen=True):
    """The result of decoding an upload: a normalized picture, or the reason why there is none."""

    data: bytes = b""
    format: PictureFormat = "png"
    width: int = 0
    height: int = 0
    scene: Scene = "clean"
    refusal: str | None = None


class Call(Struct, eq=False, gc=False):
    """An operation being called. `now` is the instant of the last look at the clock, in milliseconds."""

    sandbox: Sandbox
    caller: Caller
    now: int
    passed: list[Check]
    """The checks that the request has passed so far; every check of an operation adds itself."""
    resource_id: str = ""
    operation: str = ""
    """The operation's id."""
    query: Mapping[str, str] = _NO_QUERY
    intent: Intent = {}
    decoded: DecodedUpload | None = None
    work_id: str | None = None
    """The Operation or Generation that this call admitted."""
    work_rule: WorkRule | None = None
    """The rule of a scenario that decided what becomes of it."""

    @property
    def team_id(self) -> str:
        """The Team that calls."""
        return self.caller.account.team.id
