"""The seeded service of the contract runs behind a real server, with a twin in this process that is in the same state.

Whoever makes requests asks the twin what exists; the requests go over the wire. State files carry the state between them.
"""

from emulator.service import state
from tests.contract_runs.seeded_service import SeededService
from tests.support.served_client import ServedClient


class ServedService(SeededService):
    """A seeded service that is served by another process."""

    def __init__(self, origin: str, *, has_rate_limits: bool = False) -> None:
        super().__init__()
        self._client = ServedClient(f"{origin}/v1")
        sandbox = self.emulator.sandbox
        sandbox.rate_limits = has_rate_limits
        self._beginning = b"".join(state.save(sandbox, self.emulator.now()))
        self._become(self._beginning)

    def get_status(self, path: str) -> int:
        return self._client.get(path).status

    def advance(self, seconds: float) -> None:
        self._client.advance(seconds)
        self._follow(self._client.ask("GET", "/state").body)

    def _become(self, content: bytes) -> None:
        self._client.told("PUT", "/state", content=content)
        self._follow(content)

    def _follow(self, content: bytes) -> None:
        """Bring the twin to a state; its own requests are not counted."""
        super()._become(content)
        self.emulator.sandbox.rate_limits = False
