"""The seeded service of the contract runs behind a real server, with a twin in this process that is in the same state.

Whoever makes requests asks the twin what exists; the requests go over the wire. State files carry the state between them.
"""

from typing import Any, cast

import httpx

from emulator.service import state
from tests.contract_runs.seeded_service import SeededService, take_state
from tests.support.emulator_client import FULL, Answer, EmulatorUnderTest

TIME_LIMIT_SECONDS = 60


class ServedEmulator:
    """As much of an emulator under test as the contract runs need, over HTTP."""

    def __init__(self, origin: str, twin: EmulatorUnderTest, *, has_rate_limits: bool) -> None:
        self.origin = origin
        self._twin = twin
        self._has_rate_limits = has_rate_limits
        self._http = httpx.Client(base_url=origin, timeout=TIME_LIMIT_SECONDS, trust_env=False)

    @property
    def sandbox(self) -> Any:
        """The sandbox of the twin."""
        return self._twin.sandbox

    def get(self, target: str, key: str = FULL) -> Answer:
        """GET; where requests are counted, ask the twin, whose are not."""
        return self._twin.get(target, key) if self._has_rate_limits else self.get_served(target, key)

    def get_served(self, target: str, key: str = FULL) -> Answer:
        """GET, over the wire."""
        return self._ask("GET", f"/v1{target}", headers={"Authorization": f"Bearer {key}"})

    def advance(self, seconds: float) -> None:
        """Let time pass, and bring the twin to what has come of it."""
        assert self._ask("POST", "/_emulator/clock/advance", json={"seconds": seconds}).status == 200
        self._load_twin(self._ask("GET", "/_emulator/state").body)

    def become(self, content: bytes) -> None:
        """Put a state in the place of what is."""
        assert self._ask("PUT", "/_emulator/state", content=content).status == 200
        self._load_twin(content)

    def close(self) -> None:
        """End the connection, and the twin."""
        self._http.close()
        self._twin.close()

    def _ask(self, method: str, target: str, **options: Any) -> Answer:
        answer = self._http.request(method, target, **options)
        return Answer(answer.status_code, tuple(answer.headers.multi_items()), answer.content)

    def _load_twin(self, content: bytes) -> None:
        take_state(self._twin, content)
        self.sandbox.rate_limits = False


class ServedService(SeededService):
    """A seeded service that is served by another process."""

    def __init__(self, origin: str, *, has_rate_limits: bool = False) -> None:
        super().__init__()
        sandbox = self.emulator.sandbox
        sandbox.rate_limits = has_rate_limits
        self.beginning = b"".join(state.save(sandbox, self.emulator.now()))
        self.served = ServedEmulator(origin, self.emulator, has_rate_limits=has_rate_limits)
        self.emulator = cast("EmulatorUnderTest", self.served)
        self.is_changed = True
        self.renew()

    def renew(self) -> None:
        """Make everything as at the beginning, here and there."""
        if self.is_changed:
            self.is_changed = False
            self.upload_token = self._seeded_token
            self.served.become(self.beginning)
