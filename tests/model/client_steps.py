"""Steps of random clients, with several keys of two Teams, each drawn from a source of chance.

Mostly right requests with some flaws, repeated ones, moves of the clock, and changes from outside. A step says
nothing of what must come of it: `Comparison` does.
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
OTHERS: Final = ("ash_read", "ash_expiring", "ash_revoked", "nobody")

WORK: Final = ("operation", "generation")
COME_AGAIN: Final = (402, 403, 429, 500, 503)
SUBMITTED: Final = (
    "/products",
    "/poses",
    "/backgrounds",
    "/generations/upscale",
    "/generations/product-photography",
)
"""Paths of the writes that try out a scenario."""

SPANS: Final = (0.4, 1, 1, 3, 3, 5, 8, 8, 8, 30, 30)
"""Usual moves of the clock, in seconds."""
LONG_SPANS: Final = (600, 901, 86_399, 86_401)
"""The end of a credential, of an upload window, of the retention of keys."""


class ClientSteps:
    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self._keys = 0
        self._forget()

    def _forget(self) -> None:
        self._sent: list[Ask] = []
        """Requests with a key, to be sent again."""
        self._refused: list[Ask] = []
        """Refused requests of which a repetition may be admitted."""
        self._cursors: list[Ask] = []
        """Requests for a further page."""

    def begin(self) -> None:
        for key, number in (
            ("ash_full", 0),
            ("ash_full", 1),
            ("ash_full", 2),
            ("ash_full", 4),
            ("birch_full", 0),
        ):
            self._upload(sample_files()[number], key)
        photos = self.comparison.model.state.ids("asset", "Ash")
        begun: list[tuple[str, Json]] = [
            (
                "/products",
                {
                    "name": "Shoe",
                    "asset_ids": photos[:2],
                    "primary_asset_id": photos[0],
                },
            ),
            (
                "/products",
                {
                    "name": "Sock",
                    "asset_ids": photos[3:],
                    "primary_asset_id": photos[3],
                },
            ),
            ("/photography-styles", {"name": "Bright", "asset_ids": photos[:3]}),
            (
                "/backgrounds",
                {"name": "Wall", "kind": "backdrop", "asset_id": photos[0]},
            ),
            (
                "/poses",
                {
                    "name": "Sitting",
                    "asset_id": photos[0],
                    "supported_camera_distances": ["far"],
                },
            ),
            (
                "/fashion-models",
                {
                    "name": "Eve",
                    "age_range": "25-35",
                    "gender": "female",
                    "asset_ids": photos[:1],
                },
            ),
        ]
        for path, body in begun:
            self.comparison.ask(Ask("ash_full", "POST", path, body, self._fresh_key()))
        self.comparison.advance({"seconds": 7})

    # What steps have in common ----------------------------------------------------------------------------------------

    def _key(self, chance: Random) -> str:
        return chance.choice(WRITERS if chance.randrange(10) else OTHERS)

    def _fault(self, chance: Random, method: str, path: str) -> str | None:
        """Return what the request asks to go wrong, by its header: mostly nothing, and mostly what can go wrong."""
        if chance.randrange(8):
            return None
        return chance.choice(
            sorted(codes_of(method, path))
            if chance.randrange(8)
            else [*STATUSES, "no-such-code"]
        )

    def _bodies(self, chance: Random, key: str) -> RandomBodies:
        return RandomBodies(
            chance, self.comparison.model.state, self.comparison.team_of(key)
        )

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
        shared_key = chance.choice(("again", "once more"))
        ask = Ask(
            key,
            method,
            path,
            body,
            self._fresh_key() if chance.randrange(6) else shared_key,
        )
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
        answer = self.comparison.ask(ask)
        if ask.flaw is None:
            (self._refused if answer.status in COME_AGAIN else self._sent).append(ask)
        if answer.status in COME_AGAIN and chance.randrange(2):
            return self.comparison.ask(replace(ask, fault=None))
        return answer

    def _malformed(self, chance: Random, ask: Ask) -> Answer:
        ask.flaw = "invalid_request"
        match chance.randrange(4):
            case 0:
                ask.idempotency_key = None
                return self.comparison.ask(ask)
            case 1:
                ask.query = {"colour": "red"}
                return self.comparison.ask(ask)
            case 2:
                return self.comparison.ask(ask, headers={"content-type": "text/plain"})
            case _:
                ask.body = None
                return self.comparison.ask(
                    ask,
                    content=b'{"name": ',
                    headers={"content-type": "application/json"},
                )

    def _target(self, chance: Random, key: str, kind: str) -> str:
        own = [
            thing["id"]
            for thing in self.comparison.model.state.of_team(
                kind, self.comparison.team_of(key)
            )
        ]
        return (
            chance.choice(own)
            if own and chance.randrange(8)
            else self._bodies(chance, key).reference(kind)
        )

    # Uploads ----------------------------------------------------------------------------------------------------------

    def upload(self, chance: Random) -> None:
        self._upload(chance.choice(sample_files()), chance.choice(WRITERS))

    def _upload(self, file: SampleFile, key: str) -> None:
        answer = self.comparison.ask(
            Ask(key, "POST", "/uploads", file.announced, self._fresh_key())
        )
        if answer.status == 201:
            token = self.comparison.send_bytes(answer.id, file)
            complete = Ask(
                key,
                "POST",
                f"/uploads/{answer.id}/complete",
                {"upload_token": token},
                self._fresh_key(),
            )
            self.comparison.ask(complete)

    def use_sessions(self, chance: Random) -> None:
        self._write(
            chance, "POST", "/uploads", body=chance.choice(sample_files()).announced
        )
        for _ in range(chance.randrange(4)):
            if self.comparison.sessions:
                session_id = chance.choice([*self.comparison.sessions][-3:])
                chance.choice((self._send_bytes, self._complete))(chance, session_id)

    def _send_bytes(self, chance: Random, session_id: str) -> None:
        size = self.comparison.model.state.things["upload"][session_id]["size"]
        fitting = [file for file in sample_files() if len(file.data) == size]
        self.comparison.send_bytes(
            session_id,
            chance.choice(fitting if chance.randrange(4) else sample_files()),
        )

    def _complete(self, chance: Random, session_id: str) -> None:
        token = self.comparison.model.state.things["upload"][session_id].get("token")
        if token is None or not chance.randrange(6):
            token = "upt_made_up"
        if not chance.randrange(6):
            self.comparison.advance({"seconds": UPLOAD_WINDOW // SECOND})
        self._write(
            chance,
            "POST",
            f"/uploads/{session_id}/complete",
            body={"upload_token": token},
        )

    # The Library ------------------------------------------------------------------------------------------------------

    def create(self, chance: Random) -> None:
        self._write(
            chance,
            "POST",
            f"/{COLLECTIONS[chance.choice(('product', 'product', *INGREDIENTS))]}",
        )

    def change(self, chance: Random) -> None:
        key, kind = (
            self._key(chance),
            chance.choice(("product", "product", *INGREDIENTS)),
        )
        self._write(
            chance,
            "PATCH",
            f"/{COLLECTIONS[kind]}/{self._target(chance, key, kind)}",
            key,
        )

    def delete(self, chance: Random) -> None:
        key, kind = (
            self._key(chance),
            chance.choice(("asset", "asset", "asset", "product", *INGREDIENTS)),
        )
        target = self._target(chance, key, kind)
        products = self.comparison.model.state.of_team(
            "product", self.comparison.team_of(key)
        )
        if kind == "asset" and products and chance.randrange(2):
            target = chance.choice(chance.choice(products)["asset_ids"])
        ask = Ask(key, "DELETE", f"/{COLLECTIONS[kind]}/{target}")
        ask.fault = self._fault(chance, ask.method, ask.path)
        if not chance.randrange(12):
            ask.query, ask.flaw = {"force": "true"}, "invalid_request"
        if self.comparison.ask(ask).status < 300:
            self.comparison.ask(Ask(key, chance.choice(("GET", "DELETE")), ask.path))

    def generate(self, chance: Random) -> None:
        workflow = chance.choice(
            ("product-photography", "product-photography", "edit-images", "upscale")
        )
        self._write(chance, "POST", f"/generations/{workflow}")

    # The same again ---------------------------------------------------------------------------------------------------

    def repeat(self, chance: Random) -> None:
        """Send an old request again: as it was, with another meaning, or with its key where the key is new."""
        candidates = self._sent[-6:] + self._refused[-3:]
        if not candidates:
            return
        old = chance.choice(candidates)
        ask = Ask(old.key, old.method, old.path, old.body, old.idempotency_key)
        ask.fault = self._fault(chance, ask.method, ask.path)
        change = chance.randrange(5)
        if change == 0 and old.kind != "upload":
            ask.body = self._bodies(chance, old.key).body(old.operation)
        elif change == 1:
            ask.key = chance.choice(("ash_full", "ash_second", "birch_full"))
        self.comparison.ask(ask)

    # Reading ----------------------------------------------------------------------------------------------------------

    def read(self, chance: Random) -> None:
        kind = chance.choice(observation.LISTED)
        chance.choice((self._read_one, self._page_through))(chance, kind)

    def _read_one(self, chance: Random, kind: str) -> None:
        key = self._key(chance)
        path = f"/{COLLECTIONS[kind]}/{self._bodies(chance, key).reference(kind)}"
        ask = Ask(key, "GET", chance.choice((path, path, "/team")))
        ask.fault = self._fault(chance, ask.method, ask.path)
        self.comparison.ask(ask)

    def poll(self, chance: Random) -> None:
        """Poll work, mostly what is unfinished, once or until it is finished, as Retry-After says."""
        state = self.comparison.model.state
        ended = [
            one
            for kind in WORK
            for one in state.things[kind]
            if one not in state.unfinished
        ]
        work_ids = list(state.unfinished) if chance.randrange(4) else ended
        if not work_ids:
            return
        work_id = chance.choice(work_ids)
        observer = OBSERVERS[state.owner[work_id] or ""]
        kind = "operation" if work_id in state.things["operation"] else "generation"
        for _ in range(chance.choice((1, 1, 8))):
            answer = self.comparison.ask(
                Ask(observer, "GET", f"/{COLLECTIONS[kind]}/{work_id}")
            )
            if answer.status != 200 or answer.retry_after is None:
                return
            if answer.retry_after:
                self.comparison.advance({"seconds": answer.retry_after})

    def _page_through(self, chance: Random, kind: str) -> None:
        key, filters = self._key(chance), self._filters(chance, kind)
        ask = Ask(
            key,
            "GET",
            f"/{COLLECTIONS[kind]}",
            query={**filters, "limit": chance.choice(("1", "2", "100"))},
        )
        wrong = (
            {"limit": "101"},
            {"limit": "0"},
            {"colour": "red"},
            {"after": "made-up"},
            {"after": ""},
        )
        if not chance.randrange(6):
            ask.query |= chance.choice(wrong)
            ask.flaw = "invalid_cursor" if "after" in ask.query else "invalid_request"
        ask.fault = self._fault(chance, ask.method, ask.path)
        for _ in range(3):
            answer = self.comparison.ask(ask)
            if answer.status != 200 or not answer.json["page"]["has_more"]:
                return
            last = answer.json["data"][-1]
            query = {**ask.query, "after": answer.json["page"]["next_cursor"]}
            ask = Ask(
                key,
                "GET",
                ask.path,
                query=query,
                after=(last["created_at"], last["id"]),
            )
            self._cursors.append(ask)
            self._use_an_old_cursor(chance)

    def _filters(self, chance: Random, kind: str) -> dict[str, str]:
        if kind in INGREDIENTS:
            return chance.choice(
                ({}, {"scope": "team"}, {"scope": "global"}, {"scope": "all"})
            )
        words = ("queued", "processing", "completed", "failed")
        statuses: list[dict[str, str]] = [{"status": word} for word in words]
        target = self._bodies(chance, "ash_full").reference("pose")
        filters: dict[str, list[dict[str, str]]] = {
            "asset": [{}, {"source": "upload"}, {"source": "generation"}],
            "product": [{}],
            "operation": [
                {},
                *statuses,
                {"type": "pose.create"},
                {"target_id": target},
            ],
            "generation": [
                {},
                *statuses,
                {"workflow": "upscale", "status": "completed"},
                {"workflow": "edit_images"},
            ],
        }
        return chance.choice(filters[kind])

    def _use_an_old_cursor(self, chance: Random) -> None:
        old = chance.choice(self._cursors[-5:])
        match chance.randrange(4):
            case 0 if old.kind != "product":
                self.comparison.ask(
                    replace(
                        old, query=other_filters(old), after=None, flaw="invalid_cursor"
                    )
                )
            case 1:
                other = "birch_full" if old.key.startswith("ash") else "ash_full"
                self.comparison.ask(
                    replace(old, key=other, after=None, flaw="invalid_cursor")
                )
            case 2:
                path, query = (
                    "/products" if old.kind != "product" else "/assets",
                    {"after": old.query["after"]},
                )
                self.comparison.ask(
                    Ask(old.key, "GET", path, query=query, flaw="invalid_cursor")
                )
            case _:
                self.comparison.ask(replace(old, query={**old.query, "limit": "100"}))

    # From outside -----------------------------------------------------------------------------------------------------

    def let_time_pass(self, chance: Random) -> None:
        span = {"seconds": chance.choice(SPANS if chance.randrange(10) else LONG_SPANS)}
        self.comparison.advance(chance.choice((span, span, {"next_event": True})))

    def change_clock(self, chance: Random) -> None:
        self.comparison.set_clock(chance.choice(("auto", "auto", "manual")))

    def change_team(self, chance: Random) -> None:
        choose = chance.choice
        changes: list[Json] = [
            {"credits": choose((0, 1, 2, 12, 20))},
            {"concurrency_limit": choose((0, 1, 3, 6))},
            {"subscription": choose(("active", "inactive"))},
            *[{"credits": 20, "concurrency_limit": 6, "subscription": "active"}] * 2,
        ]
        self.comparison.change_team(choose(("Ash", "Ash", "Birch")), choose(changes))

    def change_scenario(self, chance: Random) -> None:
        """Begin or end scenarios of everyone, of one Team, or of both; then a client of each Team meets them."""
        kind = chance.choice(("rules", "rules", "timeline"))
        scenario = chance.choice([one for one in SCENARIOS if kind in one])
        for whose in chance.choice(
            ((None,), (None,), ("Ash",), ("Birch",), (None, "Ash"), ("Birch", None))
        ):
            if chance.randrange(4):
                self.comparison.run_scenario(scenario, whose)
            else:
                self.comparison.end_scenario(whose)
        for key in ("ash_full", "birch_full") if self.comparison.scenarios else ():
            self._write(chance, "POST", chance.choice(SUBMITTED), key)

    def save_and_load(self, chance: Random) -> None:
        self.comparison.save_and_load()

    def reset(self, chance: Random) -> None:
        """Reset the emulator: it starts again byte by byte, and its scenarios with it."""
        for whose in [*self.comparison.scenarios] if chance.randrange(2) else []:
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


def other_filters(ask: Ask) -> dict[str, str]:
    statuses = ("status", ("queued", "failed"))
    filters = {
        "asset": ("source", ("upload", "generation")),
        "operation": statuses,
        "generation": statuses,
    }
    name, words = filters.get(ask.kind, ("scope", ("team", "global")))
    return ask.query | {
        name: next(word for word in words if word != ask.query.get(name))
    }
