"""A service that is asked over HTTP, by the probes: every exchange is kept, as a recording would have it."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from msgspec import structs

from emulator import __version__
from emulator.contract import Contract
from emulator.domain.lifecycles import TERMINAL
from emulator.kernel.clock import host_elapsed_ms, host_now
from emulator.testing.control import reason
from emulator.testing.exchanges import Answer, send
from emulator.traffic.exchanges import RecordedExchange, RecordingError, lower_names

_SECONDS: Final = 60.0
"""How long one request may take."""
_POLLS: Final = 200
"""The most looks at one work."""
_MAX_WAIT_SECONDS: Final = 30


class ProbedService:
    """The service under `base_url`, asked with one credential. `sleep` waits for some seconds."""

    def __init__(self, base_url: str, api_key: str, contract: Contract, sleep: Callable[[float], None]) -> None:
        self.exchanges: list[RecordedExchange] = []
        self._base_url = base_url.rstrip("/")
        self._api_key = api_key
        self._contract = contract
        self._sleep = sleep
        self._run = f"{host_now():x}"

    def call(
        self, operation: str, body: Mapping[str, Any] | None = None, key: str | None = None, **parameters: str | int
    ) -> Answer:
        """Call an operation. `parameters` are those of its path, and of its query. Raises RecordingError."""
        contract = self._contract.operations[operation]
        path = contract.path.format_map(parameters)
        query = {name: value for name, value in parameters.items() if f"{{{name}}}" not in contract.path}
        headers = {"Authorization": f"Bearer {self._api_key}", "Accept": "application/json"}
        if contract.takes_key:
            headers["Idempotency-Key"] = f"probe-{self._run}-{key or len(self.exchanges)}"
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        url = f"{self._base_url}{path}" + (f"?{urlencode(query)}" if query else "")
        return self.send(contract.method, url, headers, data)

    def finished(self, admitted: Answer) -> dict[str, Any]:
        """Look at admitted work until it has ended, as often as it asks for, and return how it was last seen."""
        shown = admitted.json
        kind = "operation" if shown.get("object") == "operation" else "generation"
        for _ in range(_POLLS):
            if not shown.get("id") or shown.get("status") in TERMINAL:
                break
            reply = self.call(f"get{kind.capitalize()}", **{f"{kind}_id": shown["id"]})
            shown = reply.json or shown
            hint = reply.headers.get("retry-after", "1")
            if shown.get("status") not in TERMINAL:
                self._sleep(min(int(hint) if hint.isdecimal() else 1, _MAX_WAIT_SECONDS))
        return shown

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> Answer:
        """Send one request, and keep the exchange. Raises RecordingError if the service cannot be reached."""
        sent = {"User-Agent": f"image-workflow-emulator/{__version__} drift", **headers}
        reply, exchange = exchanged(method, url, sent, body)
        self.exchanges.append(structs.replace(exchange, where=f"request {len(self.exchanges) + 1}"))
        return reply


def exchanged(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> tuple[Answer, RecordedExchange]:
    """Send a request, and return the answer and the exchange; redirects are not followed. Raises RecordingError."""
    at, began_ms = host_now(), host_elapsed_ms()
    try:
        reply = send(method, url, headers, body, _SECONDS)
    except (OSError, ValueError) as error:
        raise RecordingError(f"{urlsplit(url).netloc}: {reason(error)}") from None
    sent, took_ms = lower_names(headers.items()), host_elapsed_ms() - began_ms
    return reply, RecordedExchange("", at, took_ms, method, url, sent, body, reply.status, reply.headers, reply.body)
