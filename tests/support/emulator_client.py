"""The client of the tests: one interface to all surfaces of an emulator.

It holds every answer of `/v1` against the contract, and those of the control plane
against their form. How a request is sent is left to those that derive from `Client`:
`tests/support/emulator_under_test.py` has the one for an emulator in the process of the
tests, and `tests/support/served_client.py` the one for an emulator that is served.
"""

import json as json_text
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from tests.support.contract_check import (
    ContractChecker,
    ControlChecker,
    Exchange,
    read_contract,
    shipped_checker,
)
from tests.support.pictures import picture

FULL: Final = "iwe_demo_full"
READ_ONLY: Final = "iwe_demo_read"
EXPIRED: Final = "iwe_demo_expired"
REVOKED: Final = "iwe_demo_revoked"
OTHER: Final = "iwe_other_full"
LAPSED: Final = "iwe_lapsed_full"
BROKE: Final = "iwe_broke_full"

OWN: Final = "(the client's own key)"
HOST: Final = "emulator.test"
FRESH: Final = "(a fresh key)"
START: Final = "2026-01-01T00:00:00.000Z"
"""The emulator's time at the start of a test, unless it says otherwise."""
TERMINAL: Final = ("completed", "failed")
FROM_ROOT: Final = ("/v1", "/files", "/direct-uploads", "/_emulator")
"""How a target begins that is not below the base URL."""

CONTROL: Final = f"http://{HOST}/_emulator"
CONTROL_PREFIX: Final = re.compile("^/_emulator(/sandboxes/[^/]+(?=/))?")
"""The beginning of a path that its route does not name: that of a sandbox, or of none."""
FOR_PEOPLE: Final = re.compile("/?|/reference|/page/.*")
"""Routes of the control plane's page, which its contract leaves out."""

Json = dict[str, Any]

UPLOAD: Final[Json] = {"content_type": "image/png", "size_bytes": 5}
"""A body that opens an Upload Session."""
UPLOAD_CONTENT: Final = json_text.dumps(UPLOAD).encode()
JSON: Final = {"Content-Type": "application/json"}
GHOST: Final = "ast_" + "0" * 26
"""An id of an Asset that does not exist."""
INVALID_INPUT: Final = (422, "invalid_input")
INVALID_REFERENCE: Final = (422, "invalid_reference")
FOLLOWED: Final = {
    "Sec-Fetch-Site": "cross-site",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Dest": "document",
}
"""What a browser adds to its request when somebody follows a link from another site."""

INGREDIENT_PATHS: Final = {
    "photography_style": "/photography-styles",
    "background": "/backgrounds",
    "pose": "/poses",
    "fashion_model": "/fashion-models",
}
LISTS: Final = (
    "/assets",
    "/products",
    *INGREDIENT_PATHS.values(),
    "/operations",
    "/generations",
)
KINDS: Final = tuple(INGREDIENT_PATHS)
SOURCES: Final = {
    "photography_style": 3,
    "background": 1,
    "pose": 1,
    "fashion_model": 1,
}
"""How many Assets each kind is made from (the least, where it is a range)."""


def source_fields(kind: str, asset_ids: Sequence[str]) -> Json:
    if kind in {"background", "pose"}:
        return {"asset_id": asset_ids[0]}
    return {"asset_ids": list(asset_ids)}


def ingredient_body(kind: str, asset_ids: Sequence[str]) -> Json:
    """Return a body that creates an ingredient, with the required fields alone."""
    body: Json = {"name": "New"}
    if kind == "background":
        body["kind"] = "backdrop"
    if kind == "fashion_model":
        body["age_range"] = "25-35"
        body["gender"] = "neutral"
    return body | source_fields(kind, asset_ids)


@cache
def control_checker() -> ControlChecker:
    return ControlChecker(read_contract("control-plane.yaml"))


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    raw_headers: tuple[tuple[str, str], ...]
    body: bytes
    pieces_taken: int = 0
    """How many pieces of the request's body had been read when the answer began."""

    @property
    def headers(self) -> dict[str, str]:
        return dict(self.raw_headers)

    @property
    def json(self) -> Any:
        return json_text.loads(self.body)

    @property
    def code(self) -> str:
        return str(self.json["code"])

    @property
    def outcome(self) -> tuple[int, str]:
        """Status and code of a problem, status and the resource's kind otherwise."""
        if self.status >= 400:
            return self.status, self.code
        if not self.body:
            return self.status, ""
        return self.status, str(self.json.get("object", "list"))

    @property
    def id(self) -> str:
        return str(self.json["id"])

    @property
    def retry_after(self) -> int | None:
        seconds = self.headers.get("retry-after")
        if seconds is None:
            return None
        return int(seconds)


@dataclass(slots=True)
class Call:
    """A request to be sent.

    `target` is a path below the base URL, or a path from the root, or a whole URL.

    `json` is written as JSON; `content` is sent as it is; `pieces` are sent one by one
    without a Content-Length, and `disconnects` leaves before the last one was marked as
    such. `None` for `key` or `idempotency_key` leaves it out.
    """

    method: str
    target: str
    json: Any = None
    content: bytes | None = None
    pieces: Sequence[bytes] | None = None
    disconnects: bool = False
    key: str | None = OWN
    idempotency_key: str | None = FRESH
    headers: Sequence[tuple[str, str]] | Mapping[str, str] = field(
        default_factory=tuple
    )
    without: Iterable[str] = ()

    @property
    def body(self) -> bytes | None:
        if self.json is None:
            return self.content
        return json_text.dumps(self.json).encode()


class RuleCount(NamedTuple):
    """How often a rule has matched, and how often it has fired."""

    matched: int
    fired: int


def control_call(
    method: str,
    path: str,
    json: Any = None,
    *,
    sandbox: str | None = None,
    **options: Any,
) -> Call:
    prefix = CONTROL
    if sandbox is not None:
        prefix = f"{CONTROL}/sandboxes/{sandbox}"
    return Call(
        method,
        prefix + path,
        json,
        key=None,
        idempotency_key=None,
        **options,
    )


def advance_call(seconds: float) -> Call:
    """Return a request that moves the clock, to be sent together with others."""
    return control_call("POST", "/clock/advance", {"seconds": seconds})


def completion_call(
    session: Json,
    token: str,
    **options: Any,
) -> Call:
    path = f"/uploads/{session['id']}/complete"
    return Call("POST", path, {"upload_token": token}, **options)


class Client(ABC):
    """A client of all surfaces of an emulator.

    Its credential is that of one key, where a request names no other.
    """

    host = HOST
    """The header Host; nothing if the connection has its own."""
    base_path = "/v1"

    def __init__(self, key: str = FULL, checker: ContractChecker | None = None) -> None:
        self._key = key
        self._checker = checker or shipped_checker()
        self.keys_used = 0
        """How many fresh Idempotency-Keys were made."""

    @abstractmethod
    def send(self, call: Call) -> Answer:
        """Send a request, and wait for its answer."""

    def get(
        self,
        target: str,
        key: str | None = OWN,
        **options: Any,
    ) -> Answer:
        return self.send(Call("GET", target, key=key, **options))

    def delete(
        self,
        target: str,
        key: str | None = OWN,
        **options: Any,
    ) -> Answer:
        return self.send(Call("DELETE", target, key=key, **options))

    def post(
        self,
        target: str,
        json: Any = None,
        key: str | None = OWN,
        **options: Any,
    ) -> Answer:
        return self.send(Call("POST", target, json, key=key, **options))

    def patch(
        self,
        target: str,
        json: Any = None,
        key: str | None = OWN,
        **options: Any,
    ) -> Answer:
        return self.send(Call("PATCH", target, json, key=key, **options))

    def fetch(
        self,
        url: str,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        call = Call(method, url, key=None, idempotency_key=None)
        if headers is not None:
            call.headers = headers
        return self.send(call)

    def created(self, answer: Answer, status: int = 201) -> Json:
        assert answer.status == status, answer.body
        return dict(answer.json)

    def open_upload(
        self,
        size_bytes: int,
        content_type: str = "image/png",
        key: str = OWN,
    ) -> Json:
        body = {"content_type": content_type, "size_bytes": size_bytes}
        answer = self.post("/uploads", body, key)
        return self.created(answer)

    def send_bytes(
        self,
        session: Json,
        data: bytes,
        **options: Any,
    ) -> Answer:
        """Send bytes to a session's signed URL, with all of its headers."""
        upload = session["upload"]
        options.setdefault("headers", upload["headers"])
        if "pieces" not in options:
            options["content"] = data
        call = Call(
            upload["method"],
            upload["url"],
            key=None,
            idempotency_key=None,
            **options,
        )
        return self.send(call)

    def complete(
        self,
        session: Json,
        token: str,
        key: str = OWN,
        **options: Any,
    ) -> Answer:
        return self.send(completion_call(session, token, key=key, **options))

    def ready_upload(
        self,
        data: bytes = b"",
        content_type: str = "image/png",
        key: str = OWN,
    ) -> tuple[Json, str]:
        """Open an Upload Session and send bytes, or those of a small picture.

        Return the session and its token.
        """
        data = data or picture(content_type)
        session = self.open_upload(len(data), content_type, key)
        sent = self.send_bytes(session, data)
        assert sent.status == 200, sent.body
        return session, str(sent.json["upload_token"])

    def upload(
        self,
        data: bytes,
        content_type: str = "image/png",
        key: str = OWN,
    ) -> Json:
        session, token = self.ready_upload(data, content_type, key)
        answer = self.complete(session, token, key)
        return self.created(answer)

    def assets(self, count: int, key: str = OWN) -> list[str]:
        """Upload some pictures, and return the ids of their Assets."""
        uploaded = [self.upload(picture(), key=key) for _ in range(count)]
        return [str(asset["id"]) for asset in uploaded]

    def product(
        self,
        *asset_ids: str,
        key: str = OWN,
        **fields: Any,
    ) -> Json:
        body = {
            "name": "Shirt",
            "asset_ids": list(asset_ids),
            "primary_asset_id": asset_ids[0],
            **fields,
        }
        answer = self.post("/products", body, key)
        return self.created(answer)

    def author(
        self,
        kind: str,
        /,
        key: str = OWN,
        **fields: Any,
    ) -> Json:
        """Have an ingredient of a kind made, and return it.

        It is made from new Assets, unless `fields` name some.
        """
        path = INGREDIENT_PATHS[kind]
        asset_ids = self.assets(SOURCES[kind], key)
        body = ingredient_body(kind, asset_ids) | fields
        answer = self.post(path, body, key)
        admitted = self.created(answer, 202)
        ended = self.wait_for(admitted, key)
        assert ended["status"] == "completed", ended
        ingredient = self.get(f"{path}/{ended['result']['id']}", key)
        return dict(ingredient.json)

    def photograph(self, key: str = OWN, **fields: Any) -> Answer:
        """Ask for product photography.

        It is a single shot of a new Asset, unless `fields` say otherwise.
        """
        body: Json = {"output_mode": "single_shots"} | fields
        if "asset_ids" not in body and "product_ids" not in body:
            body["asset_ids"] = self.assets(1, key)
        return self.post("/generations/product-photography", body, key)

    def upscale(
        self,
        asset_id: str | None = None,
        key: str = OWN,
        **fields: Any,
    ) -> Answer:
        if asset_id is None:
            (asset_id,) = self.assets(1, key)
        body = {
            "asset_id": asset_id,
            "target_resolution": "2k",
            "output_format": "png",
            **fields,
        }
        return self.post("/generations/upscale", body, key)

    def premade(self, kind: str, name: str | None = None) -> Json:
        """Return a premade ingredient by its name; the first one without a name."""
        path = f"{INGREDIENT_PATHS[kind]}?scope=global"
        for ingredient in self.get(path).json["data"]:
            if name in (None, ingredient["name"]):
                return dict(ingredient)
        raise AssertionError(f"there is no premade {kind} called {name}")

    def wait_for(self, work: Json, key: str = OWN) -> Json:
        """Poll an Operation or Generation until it is terminal.

        The clock is moved as Retry-After says.
        """
        for _ in range(100):
            answer = self.get(f"/{work['object']}s/{work['id']}", key)
            assert answer.status == 200, answer.body
            if answer.json["status"] in TERMINAL:
                return dict(answer.json)
            assert answer.retry_after is not None
            self.advance(answer.retry_after)
        raise AssertionError(f"{work['id']} is still {answer.json['status']}")

    def items(
        self,
        target: str,
        key: str = OWN,
        limit: int = 100,
    ) -> list[Json]:
        separator = "&" if "?" in target else "?"
        first_page = f"{target}{separator}limit={limit}"
        page = self.get(first_page, key).json
        items = list(page["data"])
        while page["page"]["has_more"]:
            cursor = page["page"]["next_cursor"]
            page = self.get(f"{first_page}&after={cursor}", key).json
            items += page["data"]
        return items

    def count(self, target: str, key: str = OWN) -> int:
        return len(self.items(target, key))

    def library_of(self, key: str = OWN) -> Json:
        """Return all that a Team can see, for comparison.

        Its lists, its Credits and its concurrency.
        """
        team = self.get("/team", key).json
        library = {path: self.items(path, key) for path in LISTS}
        library["credits"] = team["credits"]
        library["api_concurrency"] = team["capabilities"]["api_concurrency"]
        return library

    def advance(self, seconds: float) -> None:
        self.told("POST", "/clock/advance", {"seconds": seconds})

    def credits(self, key: str = OWN) -> int:
        team = self.get("/team", key).json
        return int(team["credits"])

    def ask(
        self,
        method: str,
        path: str,
        json: Any = None,
        **options: Any,
    ) -> Answer:
        return self.send(control_call(method, path, json, **options))

    def told(
        self,
        method: str,
        path: str,
        json: Any = None,
        **options: Any,
    ) -> Any:
        """Send a request to the control plane that must succeed.

        Return what it answers.
        """
        answer = self.ask(method, path, json, **options)
        assert answer.status in {200, 201, 204}, answer.body
        if not answer.body:
            return None
        return answer.json

    def refusal(
        self,
        method: str,
        path: str,
        json: Any = None,
        **options: Any,
    ) -> tuple[int, str, str]:
        """Send a request to the control plane that must be refused.

        Return status, code and detail.
        """
        answer = self.ask(method, path, json, **options)
        assert answer.status >= 400, answer.body
        return answer.status, answer.code, str(answer.json["detail"])

    def team(self, name: str = "Demo", sandbox: str | None = None) -> Json:
        teams = self.told("GET", "/teams", sandbox=sandbox)["data"]
        (team,) = [team for team in teams if team["name"] == name]
        return dict(team)

    def clock_now(self, sandbox: str | None = None) -> str:
        clock = self.told("GET", "/clock", sandbox=sandbox)
        return str(clock["now"])

    def admitted_upscale(self, key: str = OWN) -> Json:
        """Admit work that ends 6 s later: 1 s in the queue, 5 s for its output."""
        answer = self.upscale(key=key)
        return self.created(answer, 202)

    def make_sandbox(self, sandbox: str, **fields: Any) -> Json:
        body = {"id": sandbox, **fields}
        made = self.told("POST", "/sandboxes", body)
        return dict(made)

    def reset(self, sandbox: str | None = None) -> Json:
        answer = self.told("POST", "/reset", sandbox=sandbox)
        return dict(answer)

    def rules(self, path: str = "/scenario") -> dict[str, RuleCount]:
        """Return how often each rule has matched and fired, by its name."""
        counts: dict[str, RuleCount] = {}
        for rule in self.told("GET", path)["rules"]:
            count = RuleCount(rule["matched"], rule["fired"])
            counts[rule["name"]] = count
        return counts

    def rule_count(self, name: str = "the rule") -> RuleCount:
        """Return how often a rule has matched and fired."""
        return self.rules()[name]

    def use(self, scenario: Any, path: str = "/scenario") -> Any:
        """Put a scenario in place of the running one, and return what is shown.

        It is an object, or the text of a file.
        """
        if isinstance(scenario, str):
            return self.told("PUT", path, content=scenario.encode())
        return self.told("PUT", path, scenario)

    def rule(
        self,
        match: Json,
        then: Json,
        when: Json | None = None,
        **more: Any,
    ) -> None:
        """Put a scenario of one rule, `the rule`, in place of the running one."""
        rule = {
            "name": "the rule",
            "match": match,
            "then": then,
        }
        if when:
            rule["when"] = when
        scenario = {
            "scenario": "one rule",
            "rules": [rule],
            **more,
        }
        self.use(scenario)

    def without_scenario(self) -> None:
        self.told("DELETE", "/scenario")

    def new_key(self, team: str = "Demo", profile: str = "full") -> str:
        path = f"/teams/{team}/credentials"
        credential = self.told("POST", path, {"profile": profile})
        return str(credential["key"])

    # The wire ------------------------------------------------------------------------

    def place_of(self, call: Call) -> tuple[str, str]:
        """Return the path from the root, and the query."""
        target = urlsplit(call.target)
        if target.netloc or call.target.startswith(FROM_ROOT):
            return target.path, target.query
        return self.base_path + target.path, target.query

    def headers_of(self, call: Call) -> list[tuple[bytes, bytes]]:
        """Return the headers of a request; its own take the place of others."""
        own = list(call.headers)
        if isinstance(call.headers, Mapping):
            own = list(call.headers.items())
        left_out = {name.lower() for name in call.without}
        left_out |= {name.lower() for name, _ in own}
        usual = self._identity_of(call) | _framing_of(call)
        kept = [(name, usual[name]) for name in usual if name not in left_out]
        return [_encoded(name, value) for name, value in kept + own]

    def _identity_of(self, call: Call) -> dict[str, str]:
        """Return the headers that say whom a request goes to, and whose it is."""
        headers = {}
        if self.host:
            headers["host"] = self.host
        if call.key == OWN:
            headers["authorization"] = f"Bearer {self._key}"
        elif call.key is not None:
            headers["authorization"] = f"Bearer {call.key}"
        if call.idempotency_key is not None and call.method in {"POST", "PATCH"}:
            headers["idempotency-key"] = self._used_key(call.idempotency_key)
        return headers

    def _used_key(self, idempotency_key: str) -> str:
        if idempotency_key != FRESH:
            return idempotency_key
        self.keys_used += 1
        return f"key-{self.keys_used}"

    def check(self, call: Call, answer: Answer) -> None:
        """Hold an answer against the contract of its surface.

        Raises ContractViolationError.
        """
        raw_path, _ = self.place_of(call)
        path = _decoded(raw_path)
        exchange = Exchange(
            call.method,
            path.removeprefix("/v1"),
            answer.status,
            answer.raw_headers,
            answer.body,
        )
        if path.startswith("/v1/"):
            self._checker.check(exchange)
        elif path.startswith("/_emulator"):
            assert answer.headers["request-id"]
            path_of_route = CONTROL_PREFIX.sub("", path)
            is_for_people = FOR_PEOPLE.fullmatch(path_of_route)
            if call.method != "HEAD" and not is_for_people:
                of_route = replace(exchange, path=path_of_route)
                control_checker().check(of_route)
        elif answer.status >= 400 and call.method != "HEAD":
            self._checker.check_problem(exchange)


def _encoded(name: str, value: str) -> tuple[bytes, bytes]:
    return name.lower().encode(), value.encode("utf-8", "surrogateescape")


def _decoded(raw_path: str) -> str:
    """Return a path as text; a slash within one of its steps stays as it was sent."""
    steps: list[str] = []
    for raw_step in raw_path.split("/"):
        step = unquote(raw_step)
        steps.append(step.replace("/", "%2F"))
    return "/".join(steps)


def _framing_of(call: Call) -> dict[str, str]:
    """Return the headers that describe the body of a request."""
    headers = {}
    if call.json is not None:
        headers["content-type"] = "application/json"
    if call.pieces is not None:
        headers["transfer-encoding"] = "chunked"
    elif call.body is not None:
        headers["content-length"] = str(len(call.body))
    return headers
