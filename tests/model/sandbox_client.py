"""One sandbox of an emulator, as clients with keys of the world file reach it, and its control plane."""

from typing import Any

from image_workflow_emulator.service.sandbox.sandbox import DEFAULT_SANDBOX_ID, Sandbox
from tests.support.emulator_client import Answer, Call, Client, EmulatorUnderTest


class SandboxClient(Client):
    """A sandbox, by its name; `keys` in calls are those of the world file."""

    def __init__(self, emulator: EmulatorUnderTest, name: str) -> None:
        super().__init__()
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
        return self.together(call)[0]

    def together(self, *calls: Call) -> list[Answer]:
        for call in calls:
            call.key = None if call.key is None else self.key(call.key)
        return self.emulator.together(*calls)

    def ask(self, method: str, path: str, json: Any = None, **options: Any) -> Answer:
        return self.emulator.ask(method, path, json, sandbox=self.name, **options)

    def saved(self) -> bytes:
        return self.ask("GET", "/state").body
