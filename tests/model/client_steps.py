"""Steps of random clients with several keys of two Teams, drawn by chance.

They are mostly right requests with some flaws, repeated ones, moves of the clock, and
changes from outside. A step says nothing of what must come of it: `Comparison` does.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Final, TypeVar

from tests.model import observation
from tests.model.arithmetic import SECOND, UPLOAD_WINDOW, Json
from tests.model.comparison import OBSERVERS, Comparison
from tests.model.materials import SCENARIOS, RandomBodies, SampleFile, sample_files
from tests.model.meanings import COLLECTIONS, INGREDIENTS, codes_of
from tests.model.model_state import State
from tests.model.service_model import Ask
from tests.support.contract_check import STATUSES
from tests.support.emulator_client import Answer

Query = dict[str, str]
"""Parameters by name."""

WRITERS: Final = (
    "ash_full",
    "ash_full",
    "ash_full",
    "ash_full",
    "ash_second",
    "birch_full",
    "birch_full",
)
CANNOT_WRITE: Final = (
    "ash_read",
    "ash_expiring",
    "ash_revoked",
    "nobody",
)
FIRST_FILES: Final = (
    "plain.png",
    "subject.png",
    "wide.png",
    "plain.webp",
)
"""What Ash uploads at the beginning."""

MAY_SUCCEED_LATER: Final = (402, 403, 429, 500, 503)
"""Statuses of refusals of which a repetition may be admitted."""
MADE_BY_CLIENTS: Final = ("product", "product", *INGREDIENTS)
SUBMITTED: Final = (
    "/products",
    "/poses",
    "/backgrounds",
    "/generations/upscale",
    "/generations/product-photography",
)
"""Paths of the writes that try out a scenario."""
DELETED: Final = (
    "asset",
    "asset",
    "asset",
    "product",
    *INGREDIENTS,
)
GENERATED: Final = (
    "product-photography",
    "product-photography",
    "edit-images",
    "upscale",
)
SCOPE_FILTERS: Final[Sequence[Query]] = (
    {},
    {"scope": "team"},
    {"scope": "global"},
    {"scope": "all"},
)
STATUS_FILTERS: Final[Sequence[Query]] = (
    {"status": "queued"},
    {"status": "processing"},
    {"status": "completed"},
    {"status": "failed"},
)

WRONG_PARAMETERS: Final[Sequence[Query]] = (
    {"limit": "101"},
    {"limit": "0"},
    {"colour": "red"},
    {"after": "made-up"},
    {"after": ""},
)
"""Parameters that no list takes: `after` is an invalid cursor."""
TARGETS: Final[Sequence[Sequence[str | None]]] = (
    (None,),
    (None,),
    ("Ash",),
    ("Birch",),
    (None, "Ash"),
    ("Birch", None),
)
"""Whose scenarios one step changes: those of everyone, of Teams, or of both."""

SPANS: Final = (0.4, 1, 1, 3, 3, 5, 8, 8, 8, 30, 30)
"""Usual moves of the clock, in seconds."""
LONG_SPANS: Final = (600, 901, 86_399, 86_401)
"""The end of a credential, of an upload window, of the retention of keys."""


Option = TypeVar("Option")


class ClientSteps:
    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self._ask = comparison.ask
        self._keys = 0
        self._chance = Random()
        self._forget()

    @property
    def _state(self) -> State:
        return self.comparison.model.state

    def _forget(self) -> None:
        self._sent: list[Ask] = []
        """Requests with a key, to be sent again."""
        self._refused: list[Ask] = []
        """Refused requests of which a repetition may be admitted."""
        self._cursors: list[Ask] = []
        """Requests for a further page."""

    def take(self, step: "Step", chance: Random) -> None:
        """Take a step; all that it leaves open is drawn from `chance`."""
        self._chance = chance
        step(self)

    def begin(self) -> None:
        """Give Ash files, Products and an ingredient of each kind, and Birch a file."""
        files = {file.name: file for file in sample_files()}
        for name in FIRST_FILES:
            self._upload(files[name], "ash_full")
        self._upload(files["plain.png"], "birch_full")
        photos = self._state.ids("asset", "Ash")
        for path, body in first_bodies(photos):
            self._post("ash_full", path, body)
        self.comparison.advance({"seconds": 7})

    # What steps have in common --------------------------------------------------------

    def _choice(self, options: Sequence[Option]) -> Option:
        return self._chance.choice(options)

    def _one_in(self, number: int) -> bool:
        """Return True once in so many draws."""
        return self._chance.randrange(number) == 0

    def _key(self) -> str:
        if self._one_in(10):
            return self._choice(CANNOT_WRITE)
        return self._choice(WRITERS)

    def _fault(self, ask: Ask) -> str | None:
        """Return the problem that the request asks for, by its header.

        It is mostly none, and else mostly one that the operation declares.
        """
        if not self._one_in(8):
            return None
        if self._one_in(8):
            return self._choice([*STATUSES, "no-such-code"])
        declared_codes = sorted(codes_of(ask.method, ask.path))
        return self._choice(declared_codes)

    def _bodies(self, key: str) -> RandomBodies:
        team = self.comparison.team_of(key)
        return RandomBodies(self._chance, self._state, team)

    def _fresh_key(self) -> str:
        self._keys += 1
        return f"key {self._keys}"

    def _post(
        self,
        key: str,
        path: str,
        body: Json,
    ) -> Answer:
        """Send a right POST with a fresh Idempotency-Key."""
        idempotency_key = self._fresh_key()
        return self._ask(Ask(key, "POST", path, body, idempotency_key))

    def _write(
        self,
        method: str,
        path: str,
        key: str = "",
        body: Json | None = None,
    ) -> Answer:
        """Send a POST or PATCH: mostly right, sometimes with one flaw."""
        key = key or self._key()
        idempotency_key = self._choice(("again", "once more"))
        if not self._one_in(6):
            idempotency_key = self._fresh_key()
        ask = Ask(key, method, path, body, idempotency_key)
        bodies = self._bodies(key)
        if body is None:
            ask.body = bodies.body(ask.operation)
        ask.fault = self._fault(ask)

        flaw = self._chance.randrange(16)
        if flaw == 0:
            ask.flaw = "invalid_input"
            ask.body = bodies.spoiled(ask.operation, ask.body)
        elif flaw == 1:
            return self._malformed(ask)

        answer = self._ask(ask)
        may_succeed_later = answer.status in MAY_SUCCEED_LATER
        if ask.flaw is None:
            self._remember(ask, may_succeed_later)
        if may_succeed_later and not self._one_in(2):
            return self._ask(replace(ask, fault=None))
        return answer

    def _remember(self, ask: Ask, may_succeed_later: bool) -> None:
        if may_succeed_later:
            self._refused.append(ask)
        else:
            self._sent.append(ask)

    def _malformed(self, ask: Ask) -> Answer:
        ask.flaw = "invalid_request"
        match self._chance.randrange(4):
            case 0:
                ask.idempotency_key = None
                return self._ask(ask)
            case 1:
                ask.query = {"colour": "red"}
                return self._ask(ask)
            case 2:
                return self._ask(ask, headers={"content-type": "text/plain"})
            case _:
                ask.body = None
                headers = {"content-type": "application/json"}
                return self._ask(ask, content=b'{"name": ', headers=headers)

    def _target(self, key: str, kind: str) -> str:
        """Return the id of a resource: mostly one of the key's Team."""
        own_resources = self._own_resources(key, kind)
        if own_resources and not self._one_in(8):
            resource = self._choice(own_resources)
            return str(resource["id"])
        return self._bodies(key).reference(kind)

    def _own_resources(self, key: str, kind: str) -> list[Json]:
        team = self.comparison.team_of(key)
        return self._state.of_team(kind, team)

    # Uploads --------------------------------------------------------------------------

    def upload(self) -> None:
        file = self._choice(sample_files())
        key = self._choice(WRITERS)
        self._upload(file, key)

    def _upload(self, file: SampleFile, key: str) -> None:
        answer = self._post(key, "/uploads", file.announced)
        if answer.status != 201:
            return
        token = self.comparison.send_bytes(answer.id, file)
        path = f"/uploads/{answer.id}/complete"
        self._post(key, path, {"upload_token": token})

    def use_sessions(self) -> None:
        file = self._choice(sample_files())
        self._write("POST", "/uploads", body=file.announced)
        for _ in range(self._chance.randrange(4)):
            session_ids = list(self.comparison.sessions)
            if not session_ids:
                continue
            session_id = self._choice(session_ids[-3:])
            step = self._choice((self._send_bytes, self._complete))
            step(session_id)

    def _session(self, session_id: str) -> Json:
        return self._state.resources["upload"][session_id]

    def _send_bytes(self, session_id: str) -> None:
        files = sample_files()
        if not self._one_in(4):
            session = self._session(session_id)
            files = files_of_size(session["size"])
        file = self._choice(files)
        self.comparison.send_bytes(session_id, file)

    def _complete(self, session_id: str) -> None:
        session = self._session(session_id)
        token = session.get("token")
        if token is None or self._one_in(6):
            token = "upt_made_up"
        if self._one_in(6):
            window = UPLOAD_WINDOW // SECOND
            self.comparison.advance({"seconds": window})
        path = f"/uploads/{session_id}/complete"
        self._write("POST", path, body={"upload_token": token})

    # The Library ----------------------------------------------------------------------

    def create(self) -> None:
        kind = self._choice(MADE_BY_CLIENTS)
        self._write("POST", f"/{COLLECTIONS[kind]}")

    def change(self) -> None:
        key = self._key()
        kind = self._choice(MADE_BY_CLIENTS)
        target = self._target(key, kind)
        self._write("PATCH", f"/{COLLECTIONS[kind]}/{target}", key)

    def delete(self) -> None:
        """Delete a resource, and ask for it again where that succeeded."""
        key = self._key()
        kind = self._choice(DELETED)
        target = self._target(key, kind)
        products = self._own_resources(key, "product")
        if kind == "asset" and products and not self._one_in(2):
            product = self._choice(products)
            target = self._choice(product["asset_ids"])
        ask = Ask(key, "DELETE", f"/{COLLECTIONS[kind]}/{target}")
        ask.fault = self._fault(ask)
        if self._one_in(12):
            ask.query = {"force": "true"}
            ask.flaw = "invalid_request"

        answer = self._ask(ask)
        if answer.status < 300:
            method = self._choice(("GET", "DELETE"))
            self._ask(Ask(key, method, ask.path))

    def generate(self) -> None:
        workflow = self._choice(GENERATED)
        self._write("POST", f"/generations/{workflow}")

    # The same again -------------------------------------------------------------------

    def repeat(self) -> None:
        """Send an old request again: as it was, or with another body or credential."""
        candidates = self._sent[-6:]
        candidates += self._refused[-3:]
        if not candidates:
            return

        old = self._choice(candidates)
        ask = Ask(
            old.key,
            old.method,
            old.path,
            old.body,
            old.idempotency_key,
        )
        ask.fault = self._fault(ask)
        change = self._chance.randrange(5)
        if change == 0 and old.kind != "upload":
            bodies = self._bodies(old.key)
            ask.body = bodies.body(old.operation)
        elif change == 1:
            ask.key = self._choice(("ash_full", "ash_second", "birch_full"))
        self._ask(ask)

    # Reading --------------------------------------------------------------------------

    def read(self) -> None:
        kind = self._choice(observation.LISTED)
        step = self._choice((self._read_resource, self._page_through))
        step(kind)

    def _read_resource(self, kind: str) -> None:
        key = self._key()
        identifier = self._bodies(key).reference(kind)
        resource_path = f"/{COLLECTIONS[kind]}/{identifier}"
        path = self._choice((resource_path, resource_path, "/team"))
        ask = Ask(key, "GET", path)
        ask.fault = self._fault(ask)
        self._ask(ask)

    def poll(self) -> None:
        """Poll work, mostly unfinished: once, or as Retry-After says until it ends."""
        state = self._state
        work_ids = list(state.unfinished)
        if self._one_in(4):
            work_ids = self._ended_work()
        if not work_ids:
            return

        work_id = self._choice(work_ids)
        collection = "generations"
        if work_id in state.resources["operation"]:
            collection = "operations"
        observer = OBSERVERS[state.owner[work_id] or ""]
        ask = Ask(observer, "GET", f"/{collection}/{work_id}")
        polls = self._choice((1, 1, 8))
        for _ in range(polls):
            answer = self._ask(ask)
            if answer.status != 200 or answer.retry_after is None:
                return
            if answer.retry_after:
                self.comparison.advance({"seconds": answer.retry_after})

    def _ended_work(self) -> list[str]:
        state = self._state
        operations = list(state.resources["operation"])
        generations = list(state.resources["generation"])
        work_ids = operations + generations
        return [work_id for work_id in work_ids if work_id not in state.unfinished]

    def _page_through(self, kind: str) -> None:
        key = self._key()
        query = dict(self._filters(kind))
        query["limit"] = self._choice(("1", "2", "100"))
        path = f"/{COLLECTIONS[kind]}"
        ask = Ask(key, "GET", path, query=query)
        if self._one_in(6):
            wrong_parameters = self._choice(WRONG_PARAMETERS)
            ask.query |= wrong_parameters
            ask.flaw = "invalid_request"
            if "after" in wrong_parameters:
                ask.flaw = "invalid_cursor"
        ask.fault = self._fault(ask)

        for _ in range(3):
            answer = self._ask(ask)
            if answer.status != 200:
                return
            if not answer.json["page"]["has_more"]:
                return
            ask = next_page(ask, answer)
            self._cursors.append(ask)
            self._use_an_old_cursor()

    def _filters(self, kind: str) -> Query:
        if kind in INGREDIENTS:
            return self._choice(SCOPE_FILTERS)
        pose_id = self._bodies("ash_full").reference("pose")
        return self._choice(filters_of(kind, pose_id))

    def _use_an_old_cursor(self) -> None:
        old = self._choice(self._cursors[-5:])
        refused = replace(old, after=None)
        refused.flaw = "invalid_cursor"
        match self._chance.randrange(4):
            case 0 if old.kind != "product":
                refused.query = other_filters(old)
                self._ask(refused)
            case 1:
                refused.key = key_of_other_team(old.key)
                self._ask(refused)
            case 2:
                refused.path = other_collection(old.kind)
                refused.query = {"after": old.query["after"]}
                self._ask(refused)
            case _:
                larger_page = {**old.query, "limit": "100"}
                self._ask(replace(old, query=larger_page))

    # From outside ---------------------------------------------------------------------

    def let_time_pass(self) -> None:
        spans: tuple[float, ...] = SPANS
        if self._one_in(10):
            spans = LONG_SPANS
        seconds = self._choice(spans)
        by_seconds = {"seconds": seconds}
        to_next_event: Json = {"next_event": True}
        move = self._choice((by_seconds, by_seconds, to_next_event))
        self.comparison.advance(move)

    def change_clock(self) -> None:
        mode = self._choice(("auto", "auto", "manual"))
        self.comparison.set_clock(mode)

    def change_team(self) -> None:
        plenty = {
            "credits": 20,
            "concurrency_limit": 6,
            "subscription": "active",
        }
        balance = self._choice((0, 1, 2, 12, 20))
        limit = self._choice((0, 1, 3, 6))
        subscription = self._choice(("active", "inactive"))
        changes: list[Json] = [
            {"credits": balance},
            {"concurrency_limit": limit},
            {"subscription": subscription},
            plenty,
            plenty,
        ]
        name = self._choice(("Ash", "Ash", "Birch"))
        change = self._choice(changes)
        self.comparison.change_team(name, change)

    def change_scenario(self) -> None:
        """Begin or end scenarios of everyone, of one Team, or of both.

        If one runs then, a client of each Team meets it.
        """
        content = self._choice(("rules", "rules", "timeline"))
        scenarios = [scenario for scenario in SCENARIOS if content in scenario]
        scenario = self._choice(scenarios)
        for whose in self._choice(TARGETS):
            if self._one_in(4):
                self.comparison.end_scenario(whose)
            else:
                self.comparison.run_scenario(scenario, whose)
        if self.comparison.scenarios:
            for key in ("ash_full", "birch_full"):
                path = self._choice(SUBMITTED)
                self._write("POST", path, key)

    def save_and_load(self) -> None:
        self.comparison.save_and_load()

    def reset(self) -> None:
        """Reset the emulator: it starts again byte by byte, with its scenarios."""
        if not self._one_in(2):
            for whose in list(self.comparison.scenarios):
                self.comparison.end_scenario(whose)
        self.comparison.reset()
        self._forget()
        if not self.comparison.scenarios:
            self.begin()


Step = Callable[[ClientSteps], None]

STEPS: Final[dict[Step, int]] = {
    ClientSteps.upload: 2,
    ClientSteps.use_sessions: 3,
    ClientSteps.create: 8,
    ClientSteps.change: 9,
    ClientSteps.delete: 5,
    ClientSteps.generate: 11,
    ClientSteps.repeat: 5,
    ClientSteps.read: 4,
    ClientSteps.poll: 4,
    ClientSteps.let_time_pass: 10,
    ClientSteps.change_clock: 2,
    ClientSteps.change_team: 4,
    ClientSteps.change_scenario: 6,
    ClientSteps.save_and_load: 1,
    ClientSteps.reset: 1,
}
"""Weight of each step."""


def files_of_size(size_bytes: int) -> tuple[SampleFile, ...]:
    files = sample_files()
    return tuple(file for file in files if len(file.data) == size_bytes)


def first_bodies(photos: list[str]) -> list[tuple[str, Json]]:
    """Return what a Team makes at the beginning, with the path of each.

    Photos belong to several Products, so that one deletion changes each differently.
    """
    plain, subject, wide, webp = photos
    shoe = {
        "name": "Shoe",
        "asset_ids": [plain, subject],
        "primary_asset_id": plain,
    }
    sock = {
        "name": "Sock",
        "asset_ids": [webp],
        "primary_asset_id": webp,
    }
    outfit = {
        "name": "Outfit",
        "asset_ids": [webp, plain],
        "primary_asset_id": webp,
    }
    style = {
        "name": "Bright",
        "asset_ids": [plain, subject, wide],
    }
    background = {
        "name": "Wall",
        "kind": "backdrop",
        "asset_id": plain,
    }
    pose = {
        "name": "Sitting",
        "asset_id": plain,
        "supported_camera_distances": ["far"],
    }
    model = {
        "name": "Eve",
        "age_range": "25-35",
        "gender": "female",
        "asset_ids": [plain],
    }
    return [
        ("/products", shoe),
        ("/products", sock),
        ("/products", outfit),
        ("/photography-styles", style),
        ("/backgrounds", background),
        ("/poses", pose),
        ("/fashion-models", model),
    ]


def next_page(ask: Ask, answer: Answer) -> Ask:
    """Return the request for the page after an answer."""
    last = answer.json["data"][-1]
    cursor = answer.json["page"]["next_cursor"]
    query = {**ask.query, "after": cursor}
    after = (last["created_at"], last["id"])
    return replace(
        ask,
        query=query,
        after=after,
        fault=None,
    )


def filters_of(kind: str, target: str) -> list[Query]:
    """Return filters that a list of a kind takes; `target` is the id of a pose."""
    match kind:
        case "asset":
            return [
                {},
                {"source": "upload"},
                {"source": "generation"},
            ]
        case "operation":
            return [
                {},
                *STATUS_FILTERS,
                {"type": "pose.create"},
                {"target_id": target},
            ]
        case "generation":
            return [
                {},
                *STATUS_FILTERS,
                {"workflow": "upscale", "status": "completed"},
                {"workflow": "edit_images"},
            ]
    return [{}]


def key_of_other_team(key: str) -> str:
    if key.startswith("ash"):
        return "birch_full"
    return "ash_full"


def other_collection(kind: str) -> str:
    """Return the path of a list of another kind."""
    if kind == "product":
        return "/assets"
    return "/products"


def other_filters(ask: Ask) -> Query:
    """Return the query of a list with a filter of another value."""
    match ask.kind:
        case "asset":
            return with_other(ask.query, "source", ("upload", "generation"))
        case "operation" | "generation":
            return with_other(ask.query, "status", ("queued", "failed"))
    return with_other(ask.query, "scope", ("team", "global"))


def with_other(
    query: Query,
    name: str,
    values: tuple[str, str],
) -> Query:
    first, second = values
    value = first
    if query.get(name) == first:
        value = second
    return {**query, name: value}
