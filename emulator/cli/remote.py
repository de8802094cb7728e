"""The commands that speak to a running emulator: `wait`, `clock` and `reset`. Each is a call of its control plane.

The connection goes straight to the address: proxies of the environment are not for a server on one's own machine.
"""

import http.client
import json
import time
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, Any
from urllib.parse import quote, urlsplit

from emulator.cli.arguments import PROGRAM
from emulator.cli.errors import CommandError
from emulator.control import PREFIX, REQUEST_ID_KIND
from emulator.kernel.clock import host_elapsed_ms
from emulator.kernel.timestamps import format_timestamp, parse_duration_ms, parse_timestamp
from emulator.settings import DEFAULT_URL, SettingError, UsageError, parse_url

ANSWER_SECONDS = 30.0
"""How long an answer may take: moving a clock may fire hours of work."""
POLL_MS = 50


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Run the command and return its exit status. Raises UsageError and CommandError."""
    control = control_plane(options, environment)
    match options.command:
        case "wait":
            return _wait(control, options.timeout)
        case "clock":
            return _clock(control, options.action, options.value)
        case _:
            control.call("POST", "reset")
            print("reset")
            return 0


class RefusalError(CommandError):
    """The emulator answered with a problem; the text is its own."""

    def __init__(self, status: int, content: Any) -> None:
        problem = content if isinstance(content, dict) else {}
        detail = problem.get("detail") or problem.get("title") or "the request was refused"
        super().__init__(f"{detail} ({status} {problem.get('code', '')}".rstrip() + ")")
        self.is_about_content = status in (400, 413, 422)


@dataclass(frozen=True, slots=True)
class FileBody:
    """A file that is sent as it is, of a size that was looked at before."""

    file: IO[bytes]
    size_bytes: int


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """The control plane of one sandbox of a running emulator."""

    url: str
    sandbox: str | None
    token: str | None

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a request to a path below the sandbox and return the parsed answer.

        Raises CommandError if no emulator answers, RefusalError if it refuses.
        """
        answer = self._call(method, path, body)
        return json.loads(answer) if answer else None

    def send_file(self, path: str, file: IO[bytes], size_bytes: int) -> None:
        """Put a file at a path below the sandbox, piece by piece. Raises as `call` does."""
        self._call("PUT", path, FileBody(file, size_bytes))

    def fetch_file(self, path: str, receive: Callable[[IO[bytes]], None]) -> None:
        """Fetch a file from a path below the sandbox; `receive` is handed what to read it from. Raises as `call` does."""

        def read(response: http.client.HTTPResponse) -> bytes:
            if response.status >= 400:
                return response.read()
            receive(response)
            return b""

        self._call("GET", path, None, read)

    def _call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | FileBody | None,
        read: Callable[[http.client.HTTPResponse], bytes] = http.client.HTTPResponse.read,
    ) -> bytes:
        prefix = f"{PREFIX}/sandboxes/{quote(self.sandbox, safe='')}" if self.sandbox else PREFIX
        try:
            status, answer = self.exchange(method, f"{prefix}/{path}", body, ANSWER_SECONDS, read)
            if status >= 400:
                raise RefusalError(status, json.loads(answer) if answer else None)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._silence(error) from error
        return answer

    def _silence(self, error: Exception) -> CommandError:
        return CommandError(f"no emulator answers at {self.url} ({_reason(error)}); start one: {PROGRAM} serve")

    def exchange(
        self,
        method: str,
        target: str,
        body: Mapping[str, Any] | FileBody | None,
        seconds: float,
        read: Callable[[http.client.HTTPResponse], bytes] = http.client.HTTPResponse.read,
    ) -> tuple[int, bytes]:
        """Send one request and return status and body, or what else `read` makes of the answer.

        Raises OSError or HTTPException if there is no answer in time, ValueError if it is none of an emulator.
        """
        parts = urlsplit(self.url)
        connect = http.client.HTTPSConnection if parts.scheme.lower() == "https" else http.client.HTTPConnection
        connection = connect(parts.hostname or "", parts.port, timeout=seconds)
        headers = {"Accept": "application/json", "Connection": "close"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        content: IO[bytes] | bytes | None = None
        if isinstance(body, FileBody):
            content, headers["Content-Type"] = body.file, "application/zip"
            headers["Content-Length"] = str(body.size_bytes)
        elif body is not None:
            content, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
        try:
            connection.request(method, parts.path + target, content, headers)
            response = connection.getresponse()
            if not response.headers.get("request-id", "").startswith(REQUEST_ID_KIND):
                raise ValueError(f"something else answers there, with status {response.status}")
            return response.status, read(response)
        finally:
            connection.close()


def _reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__


def control_plane(options: Namespace, environment: Mapping[str, str]) -> ControlPlane:
    """Return the control plane that a command is to speak to. Raises SettingError."""
    name, url = "--url", options.url
    if url is None:
        name, url = "EMULATOR_URL", environment.get("EMULATOR_URL") or DEFAULT_URL
    try:
        url = parse_url(url)
        _ = urlsplit(url).port
    except ValueError:
        raise SettingError(name, url, f"the address of a running emulator, such as {DEFAULT_URL}") from None
    return ControlPlane(url, options.sandbox, options.control_token or environment.get("EMULATOR_CONTROL_TOKEN"))


def _wait(control: ControlPlane, timeout: str) -> int:
    try:
        timeout_ms = parse_duration_ms(timeout)
    except ValueError:
        raise SettingError("--timeout", timeout, "seconds, such as 30 or 0.5") from None
    deadline = host_elapsed_ms() + timeout_ms
    while True:
        complaint = _complaint_about_health(control, deadline - host_elapsed_ms())
        if complaint is None:
            return 0
        if host_elapsed_ms() + POLL_MS >= deadline:
            raise CommandError(f"no emulator is ready at {control.url} after {timeout_ms / 1000:g} s: {complaint}")
        time.sleep(POLL_MS / 1000)  # noqa: TID251 (another process starts meanwhile, in real time)


def _complaint_about_health(control: ControlPlane, patience_ms: float) -> str | None:
    """Why the emulator is not ready, or None if it is."""
    try:
        status, answer = control.exchange("GET", f"{PREFIX}/health", None, max(patience_ms, POLL_MS) / 1000)
        health = json.loads(answer)
    except (OSError, http.client.HTTPException, ValueError) as error:
        return _reason(error)
    ready = status == 200 and isinstance(health, dict) and health.get("status") == "ok"
    return None if ready else f"something else answers there, with status {status}"


def _clock(control: ControlPlane, action: str, value: str | None) -> int:
    move = _move(action, value)
    clock = control.call("GET", "clock") if move is None else control.call("POST", "clock/advance", move)
    if move is not None:
        print(f"fired    {clock['fired']}")
    mode = clock["mode"] if clock["rate"] in (None, 1) else f"{clock['mode']}, x{clock['rate']:g}"
    print(f"now      {clock['now']}")
    print(f"mode     {mode}")
    print(f"pending  {clock['pending']}")
    if clock["next_event_at"]:
        print(f"next     {clock['next_event_at']}")
    return 0


def _move(action: str, value: str | None) -> dict[str, Any] | None:
    """The body of the request that moves the clock, or None where it is only looked at. Raises UsageError."""
    if action in ("advance", "to") and value is None:
        raise UsageError(f"clock {action}: expected {_VALUES[action]} after it")
    if action not in ("advance", "to") and value is not None:
        raise UsageError(f"clock {action}: found {value!r}, expected nothing after it")
    try:
        match action:
            case "advance":
                return {"seconds": parse_duration_ms(value or "") / 1000}
            case "to":
                return {"to": format_timestamp(parse_timestamp(value or ""))}
            case "next":
                return {"next_event": True}
            case "idle":
                return {"until_idle": True}
            case _:
                return None
    except ValueError:
        raise SettingError(f"clock {action}", value or "", _VALUES[action]) from None


_VALUES = {
    "advance": "a span such as 90s, 250ms, 2m or 1h",
    "to": "a timestamp such as 2026-01-01T00:01:00.000Z",
}
