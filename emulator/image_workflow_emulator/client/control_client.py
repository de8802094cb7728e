"""The client of the control plane: a request to `/_emulator`, its answer or its refusal.

The command line, `testing`, `sweep` and `drift` use it. It owns how a path of a sandbox is
written, the control token and the wording of its failures. What takes more than one
request, or sends a file, is here too; it does not know what any other path does.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from json import dumps, loads  # by name: a test may replace them in their module
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias
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
"""The members of a body, or the parameters of a query, by name."""
STATE_SECONDS: Final = 600.0
"""How long the emulator may be silent over a state file of any size."""
JSON: Final = "application/json"
YAML: Final = "application/yaml"
ZIP: Final = "application/zip"
DEFAULT_SANDBOX: Final = "default"
MAX_REQUESTS: Final = 1000
"""The largest number of requests in one answer of the journal."""
_LARGEST_SEQUENCE: Final = 2**53 - 1
"""The largest sequence number that the contract allows."""
_MAX_KEYS_NAMED: Final = 20
"""The largest number of keys that the refusal of an unknown one names."""


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
        if not isinstance(value, dict):
            return {}
        return value


def lower_names(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return headers by their names in lower case.

    The values of a repeated header are joined by commas, as HTTP allows.
    """
    headers: dict[str, str] = {}
    for name, value in pairs:
        key = name.lower()
        if key in headers:
            headers[key] += f", {value}"
        else:
            headers[key] = value
    return headers


def send(
    method: str,
    url: str,
    headers: Mapping[str, str],
    content: bytes | None,
    seconds: float,
) -> Answer:
    """Send a request over a connection of its own and return the answer.

    `seconds` bounds each silence. Redirects and proxies are not followed. Raises OSError
    or ValueError if there is no answer.
    """
    answer = exchange(method, url, headers, content, seconds)
    return Answer(answer.status, lower_names(answer.headers), answer.body)


class Transport(Protocol):
    """Sends the requests of a client."""

    def __call__(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | None,
        seconds: float,
    ) -> Answer:
        """Return the answer to a request.

        `seconds` is the longest silence. Raises OSError or ValueError if there is no
        answer in time.
        """


@dataclass(frozen=True, slots=True)
class ControlClient:
    """A client of the control plane at `url`, for one sandbox; None means `default`."""

    url: str
    """The address of the emulator, without a slash at its end."""
    token: str | None = None
    sandbox: str | None = None
    transport: Transport = send
    """Connects directly: proxies of the environment are not for one's own machine."""

    def of(self, sandbox: str | None) -> "ControlClient":
        """Return the client for another sandbox, or for None, for the whole process."""
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
        """Send a request to a path below the sandbox and return the parsed answer.

        An empty answer is an empty object. Values of `query` that are None are left out.
        `seconds`: how long the emulator may be silent; moving a clock may fire hours of
        work. Raises EmulatorError: nothing answers, or the emulator refuses.
        """
        content = None
        if body is not None:
            content = dumps(body).encode()
        answer = self.exchange(
            method,
            path,
            content,
            JSON,
            query=query,
            seconds=seconds,
        )
        fields: dict[str, Any] = loads(answer or "{}")
        return fields

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
        """Send bytes to a path below the sandbox, and return the bytes of the answer.

        Raises as `call` does.
        """
        headers = {"Accept": JSON}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if content is not None:
            headers["Content-Type"] = content_type
        url = self._address_of(path, query or {})
        try:
            answer = self.transport(method, url, headers, content, seconds)
        except OSError as error:
            reason = error.strerror or str(error) or type(error).__name__
            raise self._no_answer(reason) from error
        except ValueError as error:
            raise self._no_answer(str(error)) from error
        request_id = answer.headers.get("request-id", "")
        if not request_id.startswith(REQUEST_ID_KIND):
            reason = f"something else answers there, with status {answer.status}"
            raise self._no_answer(reason)
        if answer.status >= 400:
            problem = answer.json
            raise EmulatorError(
                code=str(problem.get("code")),
                detail=str(problem.get("detail")),
                status=answer.status,
            )
        return answer.body

    # Calls of more than one request, or with a file -----------------------------------

    def recorded(self, query: Fields, limit: int | None = None) -> list[Any]:
        """Return the recorded requests that a query selects, as JSON, oldest first.

        `limit`: only the newest of them, so many.
        """
        newest_first: list[Any] = []
        before: int | None = None
        while limit is None or len(newest_first) < limit:
            size = MAX_REQUESTS
            if limit is not None:
                size = min(size, limit - len(newest_first))
            page_query = {**query, "before": before, "limit": size}
            answer = self.call("GET", "requests", query=page_query)
            page = answer["data"]
            newest_first += page
            if len(page) < size:
                break
            before = page[-1]["sequence"]
        return newest_first[::-1]

    def last_sequence(self) -> int:
        """Return the sequence number of the newest recorded request; 0 if there is none.

        The emulator reads no part of the journal for it.
        """
        query = {"since": _LARGEST_SEQUENCE, "limit": 1}
        answer = self.call("GET", "requests", query=query)
        return int(answer["last_sequence"])

    def explained(self, identifier: str) -> Any:
        """Return a request with its explanation, as JSON.

        `identifier`: `last`, a Request-Id or a sequence number. Raises EmulatorError
        (`not_found`) for a request that the journal does not have.
        """
        if identifier == "last":
            before_last = max(0, self.last_sequence() - 1)
            newest = self.recorded({"since": before_last}, limit=1)
            if not newest:
                reason = "the journal is empty: no request has come yet"
                raise EmulatorError("not_found", reason)
            identifier = str(newest[0]["sequence"])
        return self.call("GET", f"requests/{path_step(identifier)}")

    def credential(self, key: str) -> dict[str, Any]:
        """Return the credential of a key, in the sandbox's form or the world's.

        Raises EmulatorError (`not_found`) for a key that the sandbox does not have.
        """
        credentials: dict[str, dict[str, Any]] = {}
        for team in self.call("GET", "teams")["data"]:
            for credential in team["credentials"]:
                credentials[credential["key"]] = credential
        sandbox = self.sandbox or DEFAULT_SANDBOX
        for form in (key, f"{key}_{sandbox}"):
            if form in credentials:
                return credentials[form]
        keys = first_of(credentials, _MAX_KEYS_NAMED)
        raise EmulatorError(
            "not_found",
            f"{key!r}: the sandbox {sandbox!r} has no such key; it has {keys}",
        )

    def use_scenario(
        self,
        scenario: str | Path | Mapping[str, Any],
        team: str | None = None,
    ) -> dict[str, Any]:
        """Run another scenario from now on, as `Sandbox.use` does.

        Returns what the emulator shows of it.
        """
        query: Fields = {"team": team}
        if isinstance(scenario, Mapping):
            return self.call("PUT", "scenario", scenario, query=query)
        file = scenario_file(scenario)
        if file is not None:
            text = read_file(file)
            query = {**query, "file": file}
        elif "\n" in str(scenario):
            text = str(scenario).encode()
        else:
            return self.call("PUT", "scenario", {"use": scenario}, query=query)
        answer = self.exchange("PUT", "scenario", text, YAML, query=query)
        return dict(loads(answer))

    def create_sandbox(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Make a sandbox as `Emulator.sandbox` does.

        An option that is None is left out, except that `scenario` is then null: the
        sandbox has none. Returns what the control plane answers. Raises ValueError for a
        datetime without a time zone.
        """
        body: dict[str, Any] = {}
        for name, value in options.items():
            if value is not None or name == "scenario":
                body[name] = _option(name, value)
        scenario = body.get("scenario")
        file = None
        if isinstance(scenario, str | PathLike):
            file = scenario_file(scenario)
        if file is not None:
            body["scenario"] = read_file(file).decode("utf-8", "replace")
        return self.of(None).call("POST", "sandboxes", body, query={"file": file})

    def _address_of(self, path: str, query: Fields) -> str:
        """Return the address of a path below the sandbox."""
        address = self.url + PREFIX
        if self.sandbox:
            address += f"/sandboxes/{path_step(self.sandbox)}"
        if path:
            address += f"/{path}"
        parameters = {
            name: _query_text(value)
            for name, value in query.items()
            if value is not None
        }
        if parameters:
            address += f"?{urlencode(parameters)}"
        return address

    def _no_answer(self, reason: str) -> EmulatorError:
        start = "start one: image-workflow-emulator serve"
        detail = f"no emulator answers at {self.url} ({reason}); {start}"
        return EmulatorError(NO_ANSWER, detail)


def emulator_address(text: str) -> str:
    """Read the address of a running emulator, of its page, or its base URL.

    Raises ValueError.
    """
    url = parse_url(text)
    _ = urlsplit(url).port  # which raises for one that is no number
    return url.removesuffix(PREFIX).removesuffix(BASE_PATH)


def mode_of(clock: Mapping[str, Any]) -> str:
    """Return how a clock runs, as an option names it.

    `clock` is what the control plane shows of it.
    """
    if clock["rate"] == 1:
        return str(clock["mode"])
    return f"x{clock['rate']:g}"


def path_step(text: str) -> str:
    """Return a text as one step of a path."""
    return quote(text, safe="")


def timestamp_text(moment: datetime) -> str:
    """Return an aware `datetime` as the emulator writes it.

    Raises ValueError for a naive one.
    """
    if moment.tzinfo is None:
        raise ValueError(
            f"{moment!r} has no time zone; expected an aware datetime, such as one "
            "with timezone.utc"
        )
    return moment.isoformat(timespec="milliseconds")


def _query_text(value: Any) -> str:
    """Return a value of a query as the contract writes it: `true`, not `True`."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _option(name: str, value: Any) -> Any:
    """Return an option of a new sandbox as JSON.

    Files of a world or of readings are read, and a datetime is written as a timestamp.
    Raises UnusableFileError with the place, ValueError for a datetime without a time zone.
    """
    if isinstance(value, datetime):
        try:
            return timestamp_text(value)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    try:
        if name == "world" and isinstance(value, str | PathLike):
            document = read_document(read_file(value), fspath(value))
            return document.data
        if name == "readings":
            return _readings(value)
    except DocumentError as error:
        raise UnusableFileError("invalid_request", str(error)) from None
    return value


def _readings(value: Any) -> Any:
    """Return readings by decision where a file says them. Raises as `_option` does."""
    from image_workflow_emulator.domain.readings import by_decision
    from image_workflow_emulator.scenario.readings import file_of_readings, readings_of

    file = value
    if isinstance(value, str):
        file = file_of_readings(value)
    if not isinstance(file, PathLike):
        return value
    document = read_document(read_file(file), fspath(file))
    return by_decision(readings_of(document))
