"""Steps of random clients with several keys of two Teams, drawn by chance.

They are mostly right requests with some flaws, repeated ones, moves of the clock, and
changes from outside. A step says nothing of what must come of it: `Comparison` does.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Final

from tests.model import observation
from tests.model.arithmetic import SECOND, UPLOAD_WINDOW, Json
from tests.model.comparison import OBSERVERS, Comparison
from tests.model.materials import SCENARIOS, RandomBodies, SampleFile, sample_files
from tests.model.meanings import COLLECTIONS, INGREDIENTS, codes_of
from tests.model.model_state import State
from tests.model.service_model import Ask
from tests.support.contract_check import STATUSES
from tests.support.emulator_client import Answer

WRITERS: Final = (
    "ash_full",
    "ash_full",
    "ash_full",
    "ash_full",
    "ash_second",
    "birch_full",
    "birch_full",
)
CANNOT_WRITE: Final = ("ash_read", "ash_expiring", "ash_revoked", "nobody")

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
DELETED: Final = ("asset", "asset", "asset", "product", *INGREDIENTS)
GENERATED: Final = (
    "product-photography",
    "product-photography",
    "edit-images",
    "upscale",
)
SCOPE_FILTERS: Final[tuple[dict[str, str], ...]] = (
    {},
    {"scope": "team"},
    {"scope": "global"},
    {"scope": "all"},
)
STATUS_FILTERS: Final[tuple[dict[str, str], ...]] = (
    {"status": "queued"},
    {"status": "processing"},
    {"status": "completed"},
    {"status": "failed"},
)

WRONG_QUERIES: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("invalid_request", {"limit": "101"}),
    ("invalid_request", {"limit": "0"}),
    ("invalid_request", {"colour": "red"}),
    ("invalid_cursor", {"after": "made-up"}),
    ("invalid_cursor", {"after": ""}),
)
"""Parameters that no list takes, each with the code of its refusal."""
TARGETS: Final[tuple[tuple[str | None, ...], ...]] = (
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


class ClientSteps:
    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self._ask = comparison.ask
        self._keys = 0
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

    def begin(self) -> None:
        """Give Ash files, Products and an ingredient of each kind, and Birch a file."""
        files = sample_files()
        for file in (files[0], files[1], files[2], files[4]):
            self._upload(file, "ash_full")
        self._upload(files[0], "birch_full")
        photos = self._state.ids("asset", "Ash")
        for path, body in first_bodies(photos):
            self._ask(Ask("ash_full", "POST", path, body, self._fresh_key()))
        self.comparison.advance({"seconds": 7})

    # What steps have in common --------------------------------------------------------

    def _key(self, chance: Random) -> str:
        if one_in(10, chance):
            return chance.choice(CANNOT_WRITE)
        return chance.choice(WRITERS)

    def _fault(
        self,
        chance: Random,
        method: str,
        path: str,
    ) -> str | None:
        """Return the problem that the request asks for, by its header.

        It is mostly none, and else mostly one that the operation declares.
        """
        if not one_in(8, chance):
            return None
        if one_in(8, chance):
            return chance.choice([*STATUSES, "no-such-code"])
        declared_codes = sorted(codes_of(method, path))
        return chance.choice(declared_codes)

    def _bodies(self, chance: Random, key: str) -> RandomBodies:
        team = self.comparison.team_of(key)
        return RandomBodies(chance, self._state, team)

    def _fresh_key(self) -> str:
        self._keys += 1
        return f"key {self._keys}"

    def _write(
        self,
        chance: Random,
        method: str,
        path: str,
        key: str = "",
        body: Json | None = None,
    ) -> Answer:
        """Send a POST or PATCH: mostly right, sometimes with one flaw."""
        key = key or self._key(chance)
        idempotency_key = chance.choice(("again", "once more"))
        if not one_in(6, chance):
            idempotency_key = self._fresh_key()
        ask = Ask(key, method, path, body, idempotency_key)
        bodies = self._bodies(chance, key)
        if body is None:
            ask.body = bodies.body(ask.operation)
        ask.fault = self._fault(chance, method, path)

        flaw = chance.randrange(16)
        if flaw == 0:
            ask.flaw = "invalid_input"
            ask.body = bodies.spoiled(ask.operation, ask.body)
        elif flaw == 1:
            return self._malformed(chance, ask)

        answer = self._ask(ask)
        may_succeed_later = answer.status in MAY_SUCCEED_LATER
        if ask.flaw is None:
            self._remember(ask, may_succeed_later)
        if may_succeed_later and not one_in(2, chance):
            return self._ask(replace(ask, fault=None))
        return answer

    def _remember(self, ask: Ask, may_succeed_later: bool) -> None:
        if may_succeed_later:
            self._refused.append(ask)
        else:
            self._sent.append(ask)

    def _malformed(self, chance: Random, ask: Ask) -> Answer:
        ask.flaw = "invalid_request"
        match chance.randrange(4):
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

    def _target(
        self,
        chance: Random,
        key: str,
        kind: str,
    ) -> str:
        """Return the id of a resource: mostly one of the key's Team."""
        own_resources = self._own_resources(key, kind)
        if own_resources and not one_in(8, chance):
            resource = chance.choice(own_resources)
            return str(resource["id"])
        return self._bodies(chance, key).reference(kind)

    def _own_resources(self, key: str, kind: str) -> list[Json]:
        team = self.comparison.team_of(key)
        return self._state.of_team(kind, team)

    # Uploads --------------------------------------------------------------------------

    def upload(self, chance: Random) -> None:
        file = chance.choice(sample_files())
        key = chance.choice(WRITERS)
        self._upload(file, key)

    def _upload(self, file: SampleFile, key: str) -> None:
        opening = Ask(key, "POST", "/uploads", file.announced, self._fresh_key())
        answer = self._ask(opening)
        if answer.status != 201:
            return
        token = self.comparison.send_bytes(answer.id, file)
        path = f"/uploads/{answer.id}/complete"
        body = {"upload_token": token}
        self._ask(Ask(key, "POST", path, body, self._fresh_key()))

    def use_sessions(self, chance: Random) -> None:
        file = chance.choice(sample_files())
        self._write(chance, "POST", "/uploads", body=file.announced)
        for _ in range(chance.randrange(4)):
            if self.comparison.sessions:
                latest_ids = list(self.comparison.sessions)[-3:]
                session_id = chance.choice(latest_ids)
                step = chance.choice((self._send_bytes, self._complete))
                step(chance, session_id)

    def _send_bytes(self, chance: Random, session_id: str) -> None:
        files = list(sample_files())
        if not one_in(4, chance):
            session = self._state.resources["upload"][session_id]
            files = [file for file in files if len(file.data) == session["size"]]
        file = chance.choice(files)
        self.comparison.send_bytes(session_id, file)

    def _complete(self, chance: Random, session_id: str) -> None:
        session = self._state.resources["upload"][session_id]
        token = session.get("token")
        if token is None or one_in(6, chance):
            token = "upt_made_up"
        if one_in(6, chance):
            self.comparison.advance({"seconds": UPLOAD_WINDOW // SECOND})
        path = f"/uploads/{session_id}/complete"
        self._write(chance, "POST", path, body={"upload_token": token})

    # The Library ----------------------------------------------------------------------

    def create(self, chance: Random) -> None:
        kind = chance.choice(MADE_BY_CLIENTS)
        self._write(chance, "POST", f"/{COLLECTIONS[kind]}")

    def change(self, chance: Random) -> None:
        key = self._key(chance)
        kind = chance.choice(MADE_BY_CLIENTS)
        target = self._target(chance, key, kind)
        self._write(chance, "PATCH", f"/{COLLECTIONS[kind]}/{target}", key)

    def delete(self, chance: Random) -> None:
        """Delete a resource, and ask for it again where that succeeded."""
        key = self._key(chance)
        kind = chance.choice(DELETED)
        target = self._target(chance, key, kind)
        products = self._own_resources(key, "product")
        if kind == "asset" and products and not one_in(2, chance):
            product = chance.choice(products)
            target = chance.choice(product["asset_ids"])
        ask = Ask(key, "DELETE", f"/{COLLECTIONS[kind]}/{target}")
        ask.fault = self._fault(chance, ask.method, ask.path)
        if one_in(12, chance):
            ask.query = {"force": "true"}
            ask.flaw = "invalid_request"

        answer = self._ask(ask)
        if answer.status < 300:
            method = chance.choice(("GET", "DELETE"))
            self._ask(Ask(key, method, ask.path))

    def generate(self, chance: Random) -> None:
        workflow = chance.choice(GENERATED)
        self._write(chance, "POST", f"/generations/{workflow}")

    # The same again -------------------------------------------------------------------

    def repeat(self, chance: Random) -> None:
        """Send an old request again: as it was, or with another body or credential."""
        candidates = self._sent[-6:] + self._refused[-3:]
        if not candidates:
            return

        old = chance.choice(candidates)
        ask = Ask(old.key, old.method, old.path, old.body, old.idempotency_key)
        ask.fault = self._fault(chance, ask.method, ask.path)
        change = chance.randrange(5)
        if change == 0 and old.kind != "upload":
            bodies = self._bodies(chance, old.key)
            ask.body = bodies.body(old.operation)
        elif change == 1:
            ask.key = chance.choice(("ash_full", "ash_second", "birch_full"))
        self._ask(ask)

    # Reading --------------------------------------------------------------------------

    def read(self, chance: Random) -> None:
        kind = chance.choice(observation.LISTED)
        step = chance.choice((self._read_resource, self._page_through))
        step(chance, kind)

    def _read_resource(self, chance: Random, kind: str) -> None:
        key = self._key(chance)
        identifier = self._bodies(chance, key).reference(kind)
        resource_path = f"/{COLLECTIONS[kind]}/{identifier}"
        path = chance.choice((resource_path, resource_path, "/team"))
        ask = Ask(key, "GET", path)
        ask.fault = self._fault(chance, ask.method, ask.path)
        self._ask(ask)

    def poll(self, chance: Random) -> None:
        """Poll work, mostly unfinished: once, or as Retry-After says until it ends."""
        state = self._state
        work_ids = list(state.unfinished)
        if one_in(4, chance):
            work_ids = self._ended_work()
        if not work_ids:
            return

        work_id = chance.choice(work_ids)
        collection = "generations"
        if work_id in state.resources["operation"]:
            collection = "operations"
        observer = OBSERVERS[state.owner[work_id] or ""]
        ask = Ask(observer, "GET", f"/{collection}/{work_id}")
        polls = chance.choice((1, 1, 8))
        for _ in range(polls):
            answer = self._ask(ask)
            if answer.status != 200 or answer.retry_after is None:
                return
            if answer.retry_after:
                self.comparison.advance({"seconds": answer.retry_after})

    def _ended_work(self) -> list[str]:
        state = self._state
        work_ids = [*state.resources["operation"], *state.resources["generation"]]
        return [work_id for work_id in work_ids if work_id not in state.unfinished]

    def _page_through(self, chance: Random, kind: str) -> None:
        key = self._key(chance)
        query = dict(self._filters(chance, kind))
        query["limit"] = chance.choice(("1", "2", "100"))
        ask = Ask(key, "GET", f"/{COLLECTIONS[kind]}", query=query)
        if one_in(6, chance):
            ask.flaw, wrong_parameters = chance.choice(WRONG_QUERIES)
            ask.query |= wrong_parameters
        ask.fault = self._fault(chance, ask.method, ask.path)

        for _ in range(3):
            answer = self._ask(ask)
            if answer.status != 200 or not answer.json["page"]["has_more"]:
                return
            ask = next_page(ask, answer)
            self._cursors.append(ask)
            self._use_an_old_cursor(chance)

    def _filters(self, chance: Random, kind: str) -> dict[str, str]:
        if kind in INGREDIENTS:
            return chance.choice(SCOPE_FILTERS)
        pose_id = self._bodies(chance, "ash_full").reference("pose")
        return chance.choice(filters_of(kind, pose_id))

    def _use_an_old_cursor(self, chance: Random) -> None:
        old = chance.choice(self._cursors[-5:])
        refused = replace(old, after=None, flaw="invalid_cursor")
        match chance.randrange(4):
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

    def let_time_pass(self, chance: Random) -> None:
        spans: tuple[float, ...] = SPANS
        if one_in(10, chance):
            spans = LONG_SPANS
        by_seconds = {"seconds": chance.choice(spans)}
        to_next_event = {"next_event": True}
        move = chance.choice((by_seconds, by_seconds, to_next_event))
        self.comparison.advance(move)

    def change_clock(self, chance: Random) -> None:
        mode = chance.choice(("auto", "auto", "manual"))
        self.comparison.set_clock(mode)

    def change_team(self, chance: Random) -> None:
        plenty = {"credits": 20, "concurrency_limit": 6, "subscription": "active"}
        changes: list[Json] = [
            {"credits": chance.choice((0, 1, 2, 12, 20))},
            {"concurrency_limit": chance.choice((0, 1, 3, 6))},
            {"subscription": chance.choice(("active", "inactive"))},
            plenty,
            plenty,
        ]
        name = chance.choice(("Ash", "Ash", "Birch"))
        change = chance.choice(changes)
        self.comparison.change_team(name, change)

    def change_scenario(self, chance: Random) -> None:
        """Begin or end scenarios of everyone, of one Team, or of both.

        If one runs then, a client of each Team meets it.
        """
        content = chance.choice(("rules", "rules", "timeline"))
        scenarios = [scenario for scenario in SCENARIOS if content in scenario]
        scenario = chance.choice(scenarios)
        for whose in chance.choice(TARGETS):
            if one_in(4, chance):
                self.comparison.end_scenario(whose)
            else:
                self.comparison.run_scenario(scenario, whose)
        if self.comparison.scenarios:
            for key in ("ash_full", "birch_full"):
                path = chance.choice(SUBMITTED)
                self._write(chance, "POST", path, key)

    def save_and_load(self, chance: Random) -> None:
        self.comparison.save_and_load()

    def reset(self, chance: Random) -> None:
        """Reset the emulator: it starts again byte by byte, with its scenarios."""
        if not one_in(2, chance):
            for whose in list(self.comparison.scenarios):
                self.comparison.end_scenario(whose)
        self.comparison.reset()
        self._forget()
        if not self.comparison.scenarios:
            self.begin()


STEPS: Final[dict[Callable[[ClientSteps, Random], None], int]] = {
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


def one_in(number: int, chance: Random) -> bool:
    """Return True once in so many draws."""
    return chance.randrange(number) == 0


def first_bodies(photos: list[str]) -> list[tuple[str, Json]]:
    """Return what a Team makes at the beginning, with the path of each.

    Photos belong to several Products, so that one deletion changes each differently.
    """
    shoe = {"name": "Shoe", "asset_ids": photos[:2], "primary_asset_id": photos[0]}
    sock = {"name": "Sock", "asset_ids": photos[3:], "primary_asset_id": photos[3]}
    outfit = {
        "name": "Outfit",
        "asset_ids": [photos[3], photos[0]],
        "primary_asset_id": photos[3],
    }
    style = {"name": "Bright", "asset_ids": photos[:3]}
    background = {"name": "Wall", "kind": "backdrop", "asset_id": photos[0]}
    pose = {
        "name": "Sitting",
        "asset_id": photos[0],
        "supported_camera_distances": ["far"],
    }
    model = {
        "name": "Eve",
        "age_range": "25-35",
        "gender": "female",
        "asset_ids": photos[:1],
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
    return replace(
        ask,
        query={**ask.query, "after": cursor},
        after=(last["created_at"], last["id"]),
        fault=None,
    )


def filters_of(kind: str, target: str) -> list[dict[str, str]]:
    """Return filters that a list of a kind takes; `target` is the id of a pose."""
    match kind:
        case "asset":
            return [{}, {"source": "upload"}, {"source": "generation"}]
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


def other_filters(ask: Ask) -> dict[str, str]:
    """Return the query of a list with a filter of another value."""
    match ask.kind:
        case "asset":
            return with_other(ask.query, "source", ("upload", "generation"))
        case "operation" | "generation":
            return with_other(ask.query, "status", ("queued", "failed"))
    return with_other(ask.query, "scope", ("team", "global"))


def with_other(
    query: dict[str, str],
    name: str,
    values: tuple[str, str],
) -> dict[str, str]:
    first, second = values
    value = first
    if query.get(name) == first:
        value = second
    return {**query, name: value}
