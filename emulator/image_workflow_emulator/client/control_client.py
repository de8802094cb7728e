"""The client of the control plane, which the command line uses too: one request to `/_emulator`, its answer or its
refusal.

Owns how a path of a sandbox is written, the control token and the wording of its failures. What takes more than one
request, or sends a file, is here for both; it does not know what any other path does.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from json import dumps, loads  # a test may replace these in `json`
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import quote, urlencode, urlsplit

from msgspec import Struct

from image_workflow_emulator.client.connections import exchange
from image_workflow_emulator.client.local_files import (
    NO_ANSWER,
    EmulatorError,
    UnusableFileError,
    is_refusal,
    read_file,
)
from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.control import PREFIX, REQUEST_ID_KIND
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.documents.document import read_document
from image_workflow_emulator.kernel.wording import first_of
from image_workflow_emulator.scenario.named_files import scenario_file
from image_workflow_emulator.settings import parse_url

__tracebackhide__ = is_refusal

Fields: TypeAlias = Mapping[str, Any]
STATE_SECONDS: Final = 600.0
"""How long the emulator may be silent over a state file of any size."""
JSON: Final = "application/json"
YAML: Final = "application/yaml"
ZIP: Final = "application/zip"
DEFAULT_SANDBOX: Final = "default"
MAX_REQUESTS: Final = 1000
"""How many requests the journal answers at once."""


class Answer(Struct, frozen=True):
    """A whole answer. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        """The JSON object of the answer; empty if it is none."""
        try:
            value = loads(self.body or b"null")
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


def lower_names(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return headers by their names in lower case; the values of a repeated one are joined, as HTTP allows."""
    headers: dict[str, str] = {}
    for name, value in pairs:
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return headers


def send(
    method: str,
    url: str,
    headers: Mapping[str, str],
    content: bytes | None,
    seconds: float,
) -> Answer:
    """Send a request and return the answer; `seconds` bounds each silence. Redirects and proxies are not followed.

    Raises OSError or ValueError if there is none.
    """
    status, pairs, body = exchange(method, url, headers, content, seconds)
    return Answer(status, lower_names(pairs), body)


Transport: TypeAlias = Callable[
    [str, str, Mapping[str, str], bytes | None, float], Answer
]
"""Sends a request: its method, address, headers and content; each silence may last for some seconds.

Raises OSError or ValueError if there is no answer in time.
"""


@dataclass(frozen=True, slots=True)
class ControlClient:
    """A client of the control plane at `url`, for one sandbox; None means `default`."""

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
        body: Fields | None = None,
        *,
        query: Fields | None = None,
        seconds: float = 30,
    ) -> dict[str, Any]:
        """Send a request to a path below the sandbox and return the parsed answer; of an empty one, an empty object.

        Values of `query` that are None are left out. `seconds`: how long the emulator may be silent; moving a clock may
        fire hours of work. Raises EmulatorError: nothing answers, or the emulator refuses.
        """
        content = None if body is None else dumps(body).encode()
        answer: dict[str, Any] = loads(
            self.exchange(method, path, content, JSON, query=query, seconds=seconds)
            or "{}"
        )
        return answer

    def exchange(
        self,
        method: str,
        path: str,
        content: bytes | None = None,
        content_type: str = JSON,
        *,
        query: Fields | None = None,
        seconds: float = 30,
    ) -> bytes:
        """Send bytes to a path below the sandbox, and return the bytes that are answered. Raises as `call` does."""
        headers = {"Accept": JSON}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if content is not None:
            headers["Content-Type"] = content_type
        below = (
            f"{PREFIX}/sandboxes/{path_step(self.sandbox)}" if self.sandbox else PREFIX
        )
        given = {
            name: str(value).lower() if value is True or value is False else value
            for name, value in (query or {}).items()
            if value is not None
        }
        url = "".join(
            (
                self.url,
                below,
                f"/{path}" if path else "",
                f"?{urlencode(given)}" if given else "",
            )
        )
        try:
            answer = self.transport(method, url, headers, content, seconds)
        except (OSError, ValueError) as error:
            why = (
                (isinstance(error, OSError) and error.strerror)
                or str(error)
                or type(error).__name__
            )
            raise self._no_answer(why) from error
        if not answer.headers.get("request-id", "").startswith(REQUEST_ID_KIND):
            raise self._no_answer(
                f"something else answers there, with status {answer.status}"
            )
        if answer.status >= 400:
            problem = answer.json
            raise EmulatorError(
                str(problem.get("code")), str(problem.get("detail")), answer.status
            )
        return answer.body

    # Calls of more than one request, or with a file ---------------------------------------------------------------

    def recorded(self, query: Fields) -> list[Any]:
        """Return all recorded requests that a query selects, as JSON, oldest first."""
        found: list[Any] = []
        while True:
            before = found[-1]["sequence"] if found else None
            page = self.call(
                "GET",
                "requests",
                query={**query, "before": before, "limit": MAX_REQUESTS},
            )["data"]
            found += page
            if len(page) < MAX_REQUESTS:
                return found[::-1]

    def explained(self, identifier: str) -> Any:
        """Return a request with its explanation, as JSON: `last`, by Request-Id or by sequence number."""
        if identifier == "last":
            newest = self.call("GET", "requests", query={"limit": 1})["data"]
            if not newest:
                raise EmulatorError(
                    "not_found", "the journal is empty: no request has come yet"
                )
            identifier = str(newest[0]["sequence"])
        return self.call("GET", f"requests/{path_step(identifier)}")

    def credential(self, key: str) -> dict[str, Any]:
        """Return the credential of a key, in the sandbox's form or the world's. Raises EmulatorError `not_found`."""
        sandbox, teams = (
            self.sandbox or DEFAULT_SANDBOX,
            self.call("GET", "teams")["data"],
        )
        credentials: dict[str, dict[str, Any]] = {
            one["key"]: one for team in teams for one in team["credentials"]
        }
        found = credentials.get(key) or credentials.get(f"{key}_{sandbox}")
        if found is None:
            known = first_of(credentials, 20)
            raise EmulatorError(
                "not_found",
                f"{key!r}: the sandbox {sandbox!r} has no such key; it has {known}",
            )
        return found

    def use_scenario(
        self, scenario: str | Path | Mapping[str, Any], team: str | None = None
    ) -> dict[str, Any]:
        """Run another scenario from now on, as `Sandbox.use` does, and return what the emulator shows of it."""
        query = {"team": team}
        if isinstance(scenario, Mapping):
            return self.call("PUT", "scenario", scenario, query=query)
        file = scenario_file(scenario)
        if file is None and "\n" not in str(scenario):
            return self.call("PUT", "scenario", {"use": scenario}, query=query)
        text = str(scenario).encode() if file is None else read_file(file)
        return dict(
            loads(
                self.exchange(
                    "PUT", "scenario", text, YAML, query={**query, "file": file}
                )
            )
        )

    def create_sandbox(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Make a sandbox as `Emulator.sandbox` does, and return what the control plane answers."""
        body = {
            name: _option(name, value)
            for name, value in options.items()
            if value is not None
        }
        scenario = body.get("scenario")
        file = scenario_file(scenario) if isinstance(scenario, str | PathLike) else None
        if file is not None:
            body["scenario"] = read_file(file).decode("utf-8", "replace")
        return self.of(None).call("POST", "sandboxes", body, query={"file": file})

    def _no_answer(self, why: str) -> EmulatorError:
        start = "start one: image-workflow-emulator serve"
        return EmulatorError(
            NO_ANSWER, f"no emulator answers at {self.url} ({why}); {start}"
        )


def emulator_address(text: str) -> str:
    """Read the address of a running emulator, or of its page, or its base URL. Raises ValueError."""
    url = parse_url(text)
    _ = urlsplit(url).port  # which raises for one that is no number
    return url.removesuffix(PREFIX).removesuffix(BASE_PATH)


def mode_of(clock: Mapping[str, Any]) -> str:
    """Return how a clock runs, as an option names it; `clock` is what the control plane shows of it."""
    return str(clock["mode"]) if clock["rate"] == 1 else f"x{clock['rate']:g}"


def path_step(text: str) -> str:
    """Return a text as one step of a path."""
    return quote(text, safe="")


def timestamp_text(moment: datetime) -> str:
    """Return an aware `datetime` as the emulator writes it. Raises ValueError for a naive one."""
    if moment.tzinfo is None:
        raise ValueError(
            f"{moment!r} has no time zone; expected an aware datetime, such as one with timezone.utc"
        )
    return moment.isoformat(timespec="milliseconds")


def _option(name: str, value: Any) -> Any:
    """Return an option of a new sandbox as JSON: what a file of a world or of readings holds, or a timestamp.

    Raises UnusableFileError with the place, ValueError for a datetime without a time zone.
    """
    from image_workflow_emulator.domain.readings import by_decision
    from image_workflow_emulator.scenario.world import file_of_readings, readings_of

    if isinstance(value, datetime):
        return timestamp_text(value)
    named = (
        file_of_readings(value)
        if name == "readings" and isinstance(value, str)
        else value
    )
    try:
        if name == "world" and isinstance(value, str | PathLike):
            return read_document(read_file(value), fspath(value)).data
        if name == "readings" and isinstance(named, PathLike):
            return by_decision(
                readings_of(read_document(read_file(named), fspath(named)))
            )
    except DocumentError as error:
        raise UnusableFileError("invalid_request", str(error)) from None
    return value
