"""One sandbox of an emulator, as clients with keys of the world file reach it, and its control plane."""

from typing import Any

from emulator.service.sandbox import DEFAULT_SANDBOX_ID, Sandbox
from tests.model.arithmetic import Json
from tests.support.emulator_client import Answer, Call, EmulatorUnderTest, control_call


class SandboxClient:
    """A sandbox, by its name; `keys` in calls are those of the world file."""

    def __init__(self, emulator: EmulatorUnderTest, name: str) -> None:
        self.emulator = emulator
        self.name = name

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox itself, to look at what no answer shows."""
        return self.emulator.application.sandboxes.by_id[self.name]

    @property
    def is_default(self) -> bool:
        """Whether it is the one that always exists, and that answers whom no sandbox knows."""
        return self.name == DEFAULT_SANDBOX_ID

    def now(self) -> int:
        """Its time, in milliseconds since the epoch."""
        return self.sandbox.clock.now()

    def key(self, world_key: str) -> str:
        """Return its own form of a key."""
        return world_key + self._suffix

    def world_key(self, key: str) -> str:
        """Return the key of the world file that one of its own was made from."""
        return key.removesuffix(self._suffix)

    @property
    def _suffix(self) -> str:
        return "" if self.is_default else f"_{self.name}"

    def send(self, call: Call) -> Answer:
        """Send a request to `/v1`, or to a link."""
        return self.together(call)[0]

    def together(self, *calls: Call) -> list[Answer]:
        """Send requests at the same time, in this order, and wait for all answers."""
        for call in calls:
            call.key = None if call.key is None else self.key(call.key)
        return self.emulator.together(*calls)

    def items(self, target: str, world_key: str) -> list[Json]:
        """Return all items of a list, page by page."""
        return self.emulator.items(target, self.key(world_key))

    def control(self, method: str, path: str, json: Any = None, content: bytes | None = None) -> Call:
        """Return a request to its control plane."""
        return control_call(method, path, json, sandbox=self.name, content=content)

    def told(self, method: str, path: str, json: Any = None, content: bytes | None = None) -> Any:
        """Send a request to its control plane that must succeed, and return what it answers."""
        answer = self.emulator.send(self.control(method, path, json, content))
        assert answer.status in (200, 201, 204), answer.body
        return answer.json if answer.body else None

    def saved(self) -> bytes:
        """Return all that it holds, as a state file."""
        return self.emulator.send(self.control("GET", "/state")).body
