"""The client of the control plane, which the command line uses too: one request to `/_emulator`, its answer or its refusal.

Owns how a path of a sandbox is written, the control token and the wording of its failures. Must not know what any path does.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http.client import HTTPException
from typing import Any, Final, TypeAlias
from urllib.parse import quote, urlencode, urlsplit

from emulator.contract import BASE_PATH
from emulator.control import PREFIX, REQUEST_ID_KIND
from emulator.settings import parse_url
from emulator.testing.errors import NO_ANSWER, EmulatorError, is_refusal
from emulator.testing.exchanges import Answer, send

__tracebackhide__ = is_refusal

ANSWER_SECONDS: Final = 30.0
"""How long an answer may take: moving a clock may fire hours of work."""
STATE_SECONDS: Final = 600.0
"""How long the emulator may be silent over a state file of any size."""
JSON: Final = "application/json"
YAML: Final = "application/yaml"
ZIP: Final = "application/zip"


Transport: TypeAlias = Callable[[str, str, Mapping[str, str], bytes | None, float], Answer]
"""Sends a request: its method, address, headers and content; each silence may last for some seconds.

Raises OSError, HTTPException or ValueError if there is no answer in time.
"""


@dataclass(frozen=True, slots=True)
class ControlClient:
    """A client of the control plane at `url`, for one sandbox; None stands for `default`."""

    url: str
    """The address of the emulator, without a slash at its end."""
    token: str | None = None
    sandbox: str | None = None
    transport: Transport = send
    """Connects straight to the address: proxies of the environment are not for one's own machine."""

    def of(self, sandbox: str | None) -> "ControlClient":
        """Return the client for another sandbox of the same emulator; for None, that for the whole process."""
        return replace(self, sandbox=sandbox)

    def call(
        self,
        method: str,
        path: str = "",
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        seconds: float = ANSWER_SECONDS,
    ) -> Any:
        """Send a request to a path below the sandbox and return the parsed answer, None for an empty one.

        Values of `query` that are None are left out. Raises EmulatorError: nothing answers, or the emulator refuses.
        """
        content = None if body is None else json.dumps(body).encode()
        answer = self.exchange(method, path, content, JSON, query=query, seconds=seconds)
        return json.loads(answer) if answer else None

    def exchange(
        self,
        method: str,
        path: str,
        content: bytes | None = None,
        content_type: str = JSON,
        *,
        query: Mapping[str, Any] | None = None,
        seconds: float = ANSWER_SECONDS,
    ) -> bytes:
        """Send bytes to a path below the sandbox, and return the bytes that are answered. Raises as `call` does."""
        headers = {"Accept": JSON}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if content is not None:
            headers["Content-Type"] = content_type
        try:
            answer = self.transport(method, self.url + self._target(path, query), headers, content, seconds)
        except (OSError, HTTPException, ValueError) as error:
            raise self._no_answer(reason(error)) from error
        if not answer.headers.get("request-id", "").startswith(REQUEST_ID_KIND):
            raise self._no_answer(f"something else answers there, with status {answer.status}")
        if answer.status >= 400:
            problem = answer.json
            raise EmulatorError(str(problem.get("code")), str(problem.get("detail")), answer.status)
        return answer.body

    def _target(self, path: str, query: Mapping[str, Any] | None) -> str:
        """Return the path and the query of a request to a path below the sandbox."""
        prefix = f"{PREFIX}/sandboxes/{path_step(self.sandbox)}" if self.sandbox else PREFIX
        given = urlencode({name: _word(value) for name, value in (query or {}).items() if value is not None})
        return "".join((prefix, f"/{path}" if path else "", f"?{given}" if given else ""))

    def health(self, seconds: float) -> None:
        """Ask whether the emulator is ready. Raises EmulatorError with the reason if it is not."""
        self.of(None).call("GET", "health", seconds=seconds)

    def _no_answer(self, why: str) -> EmulatorError:
        start = "start one: image-workflow-emulator serve"
        return EmulatorError(NO_ANSWER, f"no emulator answers at {self.url} ({why}); {start}")


def emulator_address(text: str) -> str:
    """Read the address of a running emulator; that of its page and its base URL stand for it. Raises ValueError."""
    url = parse_url(text)
    _ = urlsplit(url).port
    return url.removesuffix(PREFIX).removesuffix(BASE_PATH)


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def path_step(text: str) -> str:
    """Return a text as one step of a path."""
    return quote(text, safe="")


def reason(error: BaseException) -> str:
    """Say why there was no answer."""
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
