"""The seeded service of the contract runs behind a real server, with a twin in this process that is in the same state.

Whoever makes requests asks the twin what exists; the requests go over the wire. State files carry the state between them.
"""

from typing import Any

import httpx

from emulator.service import state
from tests.contract_runs.seeded_service import SeededService
from tests.support.emulator_client import FULL

TIME_LIMIT_SECONDS = 60


class ServedService(SeededService):
    """A seeded service that is served by another process."""

    def __init__(self, origin: str, *, has_rate_limits: bool = False) -> None:
        super().__init__()
        self._http = httpx.Client(base_url=origin, timeout=TIME_LIMIT_SECONDS, trust_env=False)
        sandbox = self.emulator.sandbox
        sandbox.rate_limits = has_rate_limits
        self._beginning = b"".join(state.save(sandbox, self.emulator.now()))
        self._become(self._beginning)

    def get_status(self, path: str) -> int:
        return self._http.get(f"/v1{path}", headers={"Authorization": f"Bearer {FULL}"}).status_code

    def advance(self, seconds: float) -> None:
        self._ask("POST", "/clock/advance", json={"seconds": seconds})
        self._follow(self._ask("GET", "/state"))

    def close(self) -> None:
        self._http.close()
        super().close()

    def _become(self, content: bytes) -> None:
        self._ask("PUT", "/state", content=content)
        self._follow(content)

    def _follow(self, content: bytes) -> None:
        """Bring the twin to a state; its own requests are not counted."""
        super()._become(content)
        self.emulator.sandbox.rate_limits = False

    def _ask(self, method: str, path: str, **options: Any) -> bytes:
        return self._http.request(method, f"/_emulator{path}", **options).raise_for_status().content
