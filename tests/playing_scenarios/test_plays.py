"""Every scenario of the library is played: a client does what it is for, sees what it says, and lets every rule act."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, IncompleteRead
from io import BytesIO
from typing import Any, Final, Self

import pytest
from PIL import Image, UnidentifiedImageError

from image_workflow_emulator.documents.values import parse_clock
from image_workflow_emulator.settings import Settings
from tests.support.emulator_client import (
    FULL,
    TERMINAL,
    UPLOAD,
    Answer,
    Call,
    Client,
    EmulatorUnderTest,
    Json,
    advance_call,
    completion_call,
    ingredient_body,
)
from tests.support.every_operation import WORKFLOWS, generation_call, upscale_call
from tests.support.pictures import picture
from tests.support.served import ROOT, Server, serving
from tests.support.served_client import IMPATIENT_SECONDS, SECONDS, ServedClient


class Player:
    """A client, and what it remembers: its key, a small picture, its last work. Each act returns what was seen."""

    def __init__(self, client: Client) -> None:
        self.client, self.key, self.work = client, FULL, ""
        self._credits, self._assets = int(client.team()["credits"]), list[str]()

    @property
    def asset(self) -> str:
        self._assets = self._assets or self.client.assets(1, self.key)
        return self._assets[0]

    def send(self, call: Call, **options: Any) -> str:
        """Return the status, or the code with the wait that is asked for, or how the answer was lost."""
        try:
            return self.note(self.client.send(call, **options))
        except ConnectionResetError:
            return "reset"
        except TimeoutError:
            return "silence"

    def note(self, answer: Answer) -> str:
        if answer.status == 202:
            self.work = f"/{answer.json['object']}s/{answer.id}"
        if answer.status < 400:
            return str(answer.status)
        return (
            answer.code
            if answer.retry_after is None
            else f"{answer.code}, wait {answer.retry_after} s"
        )

    def ask(self, method: str, path: str, body: Any = None, key: str = "k") -> str:
        return self.send(Call(method, path, body, key=self.key, idempotency_key=key))

    def get(self, path: str) -> str:
        return self.ask("GET", path)

    def delete_asset(self) -> str:
        return self.ask("DELETE", f"/assets/{self.asset}")

    def give_up(self, path: str) -> str:
        """Read what is never answered, for as long as a client has patience."""
        return self.send(Call("GET", path), seconds=IMPATIENT_SECONDS)

    def insist(self, call: Call, *statuses: int) -> str:
        """Send a request with its key until it is let in, waiting as told; return how long that took too."""
        waits = list[int]()
        while (answer := self.client.send(call)).status in (statuses or (429, 503)):
            assert len(waits) < 20, answer.body
            waits.append(answer.retry_after or 0)
            self.client.advance(waits[-1])
        return f"{self.note(answer)} after {sum(waits)} s"

    def twice(self, call: Call, held_seconds: float) -> str:
        """Send a request that is held, and once more meanwhile, and let the time of the hold pass."""
        assert isinstance(self.client, EmulatorUnderTest)
        first, second, _ = self.client.together(call, call, advance_call(held_seconds))
        return f"{self.note(first)}, {self.note(second)}"

    def order_call(self, workflow: str, key: str = "k") -> Call:
        return generation_call(workflow, self.asset, key, self.key)

    def order(self, workflow: str, key: str = "k") -> str:
        """Ask for one output, for 1 Credit."""
        return self.send(self.order_call(workflow, key))

    def upscale(self, key: str = "k") -> str:
        return self.order("upscale", key)

    def photograph(self, key: str, **body: Any) -> str:
        return self.ask(
            "POST",
            "/generations/product-photography",
            {"asset_ids": [self.asset]} | body,
            key,
        )

    def author(self, kind: str, key: str = "k") -> str:
        return self.ask("POST", f"/{kind}s", ingredient_body(kind, [self.asset]), key)

    def replace_source(self, kind: str) -> str:
        """Have the newest ingredient of the Team made again."""
        newest = self.client.items(f"/{kind}s?scope=team")[0]["id"]
        return self.ask("PATCH", f"/{kind}s/{newest}", {"asset_id": self.asset})

    def poll(self) -> str:
        answer = self.client.get(self.work, self.key)
        return f"{answer.json['status']}, wait {answer.retry_after} s"

    def end(self) -> str:
        """Wait for the last work; return how it ended, with the errors of what failed."""
        done = self.client.wait_for(self.client.get(self.work, self.key).json, self.key)
        if done["object"] == "operation":
            return str(
                done["status"] if done["error"] is None else done["error"]["code"]
            )
        return " ".join(
            [
                done["status"],
                *(
                    output["error"]["code"]
                    for output in done["outputs"]
                    if output["error"]
                ),
            ]
        )

    def completion_call(self, **options: Any) -> Call:
        """Open an Upload Session, send its bytes, and return the request that completes it."""
        return completion_call(
            *self.client.ready_upload(key=self.key), key=self.key, **options
        )

    def complete(self) -> str:
        return self.send(self.completion_call())

    def send_bytes_twice(self) -> str:
        session = self.client.open_upload(len(picture()))
        with pytest.raises(ConnectionResetError):
            self.client.send_bytes(session, picture())
        sent = self.client.send_bytes(session, picture())
        return f"{self.note(sent)}, {self.send(completion_call(session, sent.json['upload_token']))}"

    def view(self) -> str:
        """Get the picture and decode it."""
        try:
            answer = self.client.fetch(
                self.client.get(f"/assets/{self.asset}").json["url"]
            )
            Image.open(BytesIO(answer.body)).load()
        except IncompleteRead:
            return "cut short"
        except UnidentifiedImageError:
            return "no picture"
        return "a picture"

    def count(self, path: str) -> str:
        return str(self.client.count(path, self.key))

    def next_page(self, path: str) -> str:
        cursor = self.client.get(f"{path}?limit=1").json["page"]["next_cursor"]
        return self.get(f"{path}?limit=1&after={cursor}")

    def notice(self) -> str:
        """Return the headers of a list that say that it is on its way out."""
        headers = self.client.get("/poses").headers
        return ", ".join(headers[name] for name in ("deprecation", "sunset", "link"))

    def spent(self) -> str:
        return f"{self._credits - self.client.team()['credits']} spent"

    def after(self, seconds: float) -> Self:
        self.client.advance(seconds)
        return self

    def at(self, instant: str) -> Self:
        self.client.told("POST", "/clock/advance", {"to": f"2026-01-01T{instant}Z"})
        return self

    def with_a_new_key(self) -> Self:
        """Go on with another credential of the Team."""
        self.key = self.client.new_key()
        return self

    def control(self, method: str, path: str, body: Any = None) -> str:
        """Ask the control plane, as the operator of the service would."""
        return str(self.client.ask(method, path, body).status)


PAUSED, LAPSED, DENIED = (
    "service_unavailable, wait 10 s",
    "subscription_required",
    "permission_denied",
)
TWO_LOST: Final = "completed content_rejected timed_out"
SHOTS: Final[Json] = {"output_mode": "single_shots", "image_count": 4}
SHOOT: Final[Json] = {"output_mode": "photoshoot"}
NOTICE: Final = '@1767225600, Wed, 30 Jun 2027 00:00:00 GMT, <https://docs.example/migration>; rel="deprecation"'

Play = Callable[[Player], list[tuple[str, str]]]
"""Returns what must be seen beside what is."""


def lost_credential(seconds: float, code: str) -> Play:
    """Another credential finds the work of one that was lost."""
    return lambda it: [
        ("202", it.after(seconds - 0.001).upscale()),
        (code, it.after(0.001).get(it.work)),
        (code, it.upscale()),
        ("1", it.with_a_new_key().count("/generations")),
        ("completed", it.end()),
    ]


PLAYS: Final[dict[str, Play]] = {
    "admission-paused": lambda it: [
        ("202", it.after(29).upscale("k1")),
        (PAUSED, it.after(1).upscale("k2")),
        (PAUSED, it.delete_asset()),
        ("completed", it.end()),
        ("202 after 60 s", it.insist(it.order_call("upscale", "k2"))),
    ],
    "all-outputs-fail": lambda it: [
        *[
            pair
            for name in WORKFLOWS
            for pair in (
                ("202", it.order(name)),
                ("failed processing_failed", it.end()),
            )
        ],
        ("0 spent", it.spent()),
    ],
    "already-at-target-resolution": lambda it: [
        ("already_at_target_resolution", it.upscale()),
        (
            "202",
            it.ask(
                "POST",
                "/generations/upscale",
                upscale_call(it.asset, "").json | {"target_resolution": "4k"},
            ),
        ),
    ],
    "answer-lost": lambda it: [
        *[
            pair
            for name in WORKFLOWS
            for pair in (("reset", it.order(name)), ("202", it.order(name)))
        ],
        ("3 spent", it.spent()),
        ("3", it.count("/generations")),
    ],
    "authentication-required": lambda it: [
        ("202", it.upscale()),
        ("authentication_required", it.get("/team")),
        ("204", it.control("DELETE", "/scenario")),
        ("202", it.upscale()),
    ],
    "authoring-fails": lambda it: [
        ("202", it.author("pose", "k1")),
        ("processing_failed", it.end()),
        ("202", it.author("pose", "k2")),
        ("completed", it.end()),
        ("202", it.replace_source("pose")),
        ("timed_out", it.end()),
        ("1 spent", it.spent()),
    ],
    "batch-runs-dry": lambda it: [
        *[
            pair
            for key in "12"
            for pair in (("202", it.photograph(key, **SHOOT)), (TWO_LOST, it.end()))
        ],
        ("insufficient_credits", it.photograph("3", **SHOOT)),
        *[
            pair
            for key in "45"
            for pair in (("202", it.photograph(key, **SHOOT)), (TWO_LOST, it.end()))
        ],
        ("4 spent", it.spent()),
        (
            "201 after 0 s",
            it.at("00:10:00.000").insist(Call("POST", "/uploads", UPLOAD)),
        ),  # the auto clock waits
        ("credential_revoked", it.at("01:00:00.000").get("/team")),
        ("8", it.with_a_new_key().count("/assets?source=generation")),
    ],
    "concurrency-budget-exhausted": lambda it: [
        ("202", it.upscale("k1")),
        ("202 after 31 s", it.insist(it.order_call("upscale", "k2"))),
    ],
    "corrupt-downloads": lambda it: [
        ("no picture", it.view()),
        ("a picture", it.view()),
    ],
    "credential-expired-mid-run": lost_credential(60, "credential_expired"),
    "credential-revoked-mid-run": lost_credential(30, "credential_revoked"),
    "credits-run-dry": lambda it: [
        *[("202", it.upscale(key)) for key in "12345"],
        ("insufficient_credits", it.upscale("6")),
        ("200", it.control("PATCH", "/teams/Demo", {"credits": 10})),
        ("insufficient_credits", it.upscale("6")),
        ("202", it.upscale("a new one")),
    ],
    "deprecated-endpoint": lambda it: [(NOTICE, it.notice())],
    "every-first-write-fails": lambda it: [
        ("internal_error", it.upscale("k0")),
        ("202", it.upscale("k0")),
        (
            "internal_error",
            it.upscale("k1"),
        ),  # the third request, after which all Credits are gone
        ("202", it.upscale("k1")),
        ("insufficient_credits", it.upscale("k2")),
        ("2", it.count("/generations")),
    ],
    "foreground-removed": lambda it: [
        ("202", it.author("background")),
        ("completed", it.end()),
        ("1 spent", it.spent()),
        ("202", it.replace_source("background")),
        ("completed", it.end()),
        ("1 spent", it.spent()),
    ],
    "internal-error": lambda it: [
        *[
            pair
            for name in WORKFLOWS
            for pair in (
                ("internal_error", it.order(name)),
                ("202 after 0 s", it.insist(it.order_call(name), 500)),
            )
        ],
        *[
            ("200 after 0 s", it.insist(Call("GET", "/generations"), 500))
            for _ in range(5)
        ],
        ("3 spent", it.spent()),
    ],
    "invalid-cursor": lambda it: [
        *[("202", it.upscale(key)) for key in "12"],
        *[("201", it.ask("POST", "/products", product(it.asset), key)) for key in "34"],
        ("201", it.complete()),
        *[
            (seen, it.next_page(path))
            for path in ("/assets", "/products", "/generations")
            for seen in ("invalid_cursor", "200")
        ],
    ],
    "outputs-stall": lambda it: [
        ("202", it.upscale("k1")),
        ("queued, wait 1 s", it.poll()),
        ("processing, wait 5 s", it.after(60).poll()),  # D47
        ("202", it.upscale("k2")),
        ("completed", it.end()),
    ],
    "permission-denied": lambda it: [
        ("202", it.upscale("k1")),
        (DENIED, it.after(30).upscale("k2")),
        ("completed", it.end()),
        ("202", it.with_a_new_key().upscale("k2")),
    ],
    "rate-limited": lambda it: [
        *[("200", it.after(2).get("/team")) for _ in range(5)],
        ("rate_limited, wait 52 s", it.get("/team")),
        ("200", it.after(52).get("/team")),
        ("rate_limited, wait 2 s", it.get("/team")),
    ],
    "resource-operation-in-progress": lambda it: [
        ("202", it.author("pose")),
        ("completed", it.end()),
        ("202", it.replace_source("pose")),
        ("resource_operation_in_progress", it.delete_asset()),
        ("completed", it.end()),
        ("200", it.delete_asset()),
    ],
    "same-key-in-flight": lambda it: [
        *[
            ("202, idempotency_in_progress", it.twice(it.order_call(name), 10))
            for name in WORKFLOWS
        ],
        *[("202", it.order(name)) for name in WORKFLOWS],
        ("3", it.count("/generations")),
    ],
    "short-outages": lambda it: [
        ("202", it.after(10).upscale("k1")),
        ("202", it.after(49.999).upscale("k2")),
        ("internal_error", it.after(0.001).upscale("k3")),
        ("202", it.after(10).upscale("k3")),
        ("3", it.count("/generations")),
    ],
    "some-outputs-fail": lambda it: [
        ("202", it.photograph("k1", **SHOTS)),
        (TWO_LOST, it.end()),
        ("2 spent", it.spent()),
        ("202", it.photograph("k2", **SHOTS | {"image_count": 1})),
        ("completed", it.end()),
    ],
    "subscription-lapses-mid-run": lambda it: [
        ("202", it.upscale("k1")),
        (LAPSED, it.after(30).upscale("k2")),
        ("completed", it.end()),
        (LAPSED, it.at("00:01:59.999").upscale("k2")),
        ("202", it.after(0.001).upscale("k2")),
    ],
    "upload-answer-lost": lambda it: [
        *[("200, 201", it.send_bytes_twice()) for _ in range(2)],
        ("2", it.count("/assets")),
    ],
    "upload-bytes-conflict": lambda it: [
        ("upload_bytes_conflict", it.complete()),
        ("201", it.complete()),
    ],
    "upload-expired": lambda it: [
        *[("upload_expired", it.complete()) for _ in range(3)],
        ("0", it.count("/assets")),
    ],
    "upload-window-missed": lambda it: [
        (
            "upload_expired, idempotency_in_progress",
            it.twice(it.completion_call(idempotency_key="k"), 960),
        ),
        ("201", it.complete()),
    ],
}
"""The acts of each scenario's client, with what it must see."""
PLAYS_ON_THE_WIRE: Final[dict[str, Play]] = {
    "silent-service": lambda it: [
        ("silence", it.give_up("/team")),
        ("200", it.get("/team")),
        ("202", it.upscale()),
        *[("200", it.get(it.work)) for _ in range(3)],
        ("silence", it.give_up(it.work)),
        ("completed", it.after(10).end()),
    ],
    "slow-downloads": lambda it: [("cut short", it.view()), ("a picture", it.view())],
    "slow-service": lambda it: [
        ("202", it.upscale()),
        ("processing, wait 120 s", it.after(1).poll()),
        ("completed", it.after(120).end()),
        ("202", it.author("pose")),
        ("processing, wait 60 s", it.after(1).poll()),
    ],
}
"""The scenarios whose faults show only at a server."""


def product(asset_id: str) -> Json:
    return {"name": "Shirt", "asset_ids": [asset_id], "primary_asset_id": asset_id}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@contextmanager
def playing(client: Client) -> Iterator[None]:
    """Let every rule of a client's scenario act."""
    yield
    assert [] == [name for name, (_, fired) in client.rules().items() if not fired]


def wire_client(server: Server, scenario: str, clock: str) -> ServedClient:
    client = ServedClient(server.base_url)
    client.use({"use": scenario})
    client.told("POST", "/reset")
    client.told("PUT", "/clock", {"mode": clock})
    return client


@pytest.mark.parametrize("scenario", PLAYS)
def test_a_client_sees_what_a_scenario_is_for(scenario: str) -> None:
    clock = parse_clock("auto" if scenario == "batch-runs-dry" else "manual")
    with (
        closing(EmulatorUnderTest(Settings(clock=clock, scenario=scenario))) as client,
        playing(client),
    ):
        pairs = PLAYS[scenario](Player(client))
    assert [expected for expected, _ in pairs] == [seen for _, seen in pairs]


@pytest.mark.parametrize("scenario", PLAYS_ON_THE_WIRE)
def test_a_client_sees_on_the_wire_what_a_scenario_is_for(
    server: Server, scenario: str
) -> None:
    with playing(client := wire_client(server, scenario, "manual")):
        pairs = PLAYS_ON_THE_WIRE[scenario](Player(client))
    assert [expected for expected, _ in pairs] == [seen for _, seen in pairs]


def test_every_scenario_of_the_library_is_played() -> None:
    assert {file.stem for file in (ROOT / "scenarios").glob("*.yaml")} == {
        *PLAYS,
        *PLAYS_ON_THE_WIRE,
        "flaky-network",
    }


FAILURES: Final[tuple[type[Exception], ...]] = (
    ConnectionResetError,
    IncompleteRead,
    ValueError,
)
"""Broken off, half a body, and a body that is not JSON."""


class Persistent(ServedClient):
    """A client that sends a request again, with the same key, until it has a whole answer."""

    failures: set[type[Exception]]

    def send(
        self,
        call: Call,
        connection: HTTPConnection | None = None,
        seconds: float = SECONDS,
    ) -> Answer:
        for _ in range(10):
            try:
                answer = super().send(call, connection, seconds)
                if answer.body:
                    assert isinstance(answer.json, dict)
            except FAILURES as failure:
                self.failures.update(
                    kind for kind in FAILURES if isinstance(failure, kind)
                )
            else:
                return answer
        raise AssertionError(f"{call.method} {call.target} was never answered")


def test_a_client_that_retries_with_the_same_keys_comes_through_a_flaky_network(
    server: Server,
) -> None:
    persistent = Persistent(server.base_url)
    persistent.failures = set()
    with playing(wire_client(server, "flaky-network", "auto")):
        (asset_id,) = persistent.assets(1)
        for number in range(12):
            work = persistent.send(upscale_call(asset_id, f"k{number}")).json
            while work["status"] not in TERMINAL:
                work = persistent.get(f"/generations/{work['id']}").json
            assert "completed" == work["status"]
        assert (88, 12) == (persistent.credits(), persistent.count("/generations"))
    assert set(FAILURES) == persistent.failures
