"""Every scenario of the library is played: a client does what it is for, sees what it says, and lets every rule act."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, IncompleteRead
from io import BytesIO
from typing import Any, Final

import pytest
from PIL import Image, UnidentifiedImageError

from image_workflow_emulator.documents.values import parse_clock
from image_workflow_emulator.settings import Settings
from tests.playing_scenarios.player import WORKFLOWS, errors_of, generation_call, upscale_call
from tests.support.emulator_client import (
    FULL,
    TERMINAL,
    UPLOAD,
    Answer,
    Call,
    Client,
    EmulatorUnderTest,
    Json,
    completion_call,
    control_call,
    ingredient_body,
)
from tests.support.pictures import picture
from tests.support.served import ROOT, serving
from tests.support.served_client import IMPATIENT_SECONDS, SECONDS, ServedClient


class Player:
    """A client, and what it remembers: a small picture of its own, brought in when first needed, and its last work."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.key = FULL
        self.work: Json = {}
        self.credits = 0
        self._assets: list[str] = []

    def __getitem__(self, name: str) -> str:
        """What stands for `{asset}` and `{work}` in paths: an id, and the path of the last work."""
        if name == "work":
            return f"/{self.work['object']}s/{self.work['id']}"
        self._assets = self._assets or self.client.assets(1, self.key)
        return self._assets[0]

    def send(self, call: Call) -> str:
        """Send a request; tell the status, or the code with the wait that it asks for, or how the answer was lost."""
        try:
            return self.note(self.client.send(call))
        except ConnectionResetError:
            return "reset"
        except IncompleteRead:
            return "cut short"

    def note(self, answer: Answer) -> str:
        if answer.status == 202:
            self.work = answer.json
        if answer.status < 400:
            return str(answer.status)
        return answer.code if answer.retry_after is None else f"{answer.code}, wait {answer.retry_after} s"


Step = Callable[[Player], str]
Play = tuple[tuple[str, Step], ...]
"""What is seen, and the step that shows it."""


def ask(method: str, path: str, body: Any = None, key: str = "k") -> Step:
    return lambda player: player.send(
        Call(method, path.format_map(player), _filled(body, player), key=player.key, idempotency_key=key)
    )


def _filled(body: Any, player: Player) -> Any:
    """A body with the id of the Asset in place of `{asset}`."""
    if isinstance(body, dict):
        return {name: _filled(value, player) for name, value in body.items()}
    if isinstance(body, list):
        return [_filled(value, player) for value in body]
    return player["asset"] if body == "{asset}" else body


def get(path: str) -> Step:
    return ask("GET", path)


def order(workflow: str, key: str = "k") -> Step:
    """Ask for one output, for 1 Credit."""
    return lambda player: player.send(generation_call(workflow, player["asset"], key, player.key))


def upscale(key: str = "k") -> Step:
    return order("upscale", key)


def photograph(key: str = "k", **body: Any) -> Step:
    return ask("POST", "/generations/product-photography", {"asset_ids": ["{asset}"]} | body, key)


def insist(call: Callable[[Player], Call], *statuses: int) -> Step:
    """Send a request with its key until it is let in, waiting as told; tell how long that took."""

    def insistent(player: Player) -> str:
        sent, waits = call(player), list[int]()
        while (answer := player.client.send(sent)).status in (statuses or (429, 503)):
            assert len(waits) < 20, answer.body
            waits.append(answer.retry_after or 0)
            player.client.advance(waits[-1])
        return f"{player.note(answer)} after {sum(waits)} s"

    return insistent


def an_upscale(key: str) -> Callable[[Player], Call]:
    return lambda player: generation_call("upscale", player["asset"], key, player.key)


def an_upload(player: Player) -> Call:
    return Call("POST", "/uploads", UPLOAD, key=player.key, idempotency_key="k")


def give_up(path: str) -> Step:
    """Read what is never answered, for as long as a client has patience."""

    def impatient(player: Player) -> str:
        assert isinstance(player.client, ServedClient)
        try:
            answer = player.client.send(Call("GET", path.format_map(player)), seconds=IMPATIENT_SECONDS)
        except TimeoutError:
            return "silence"
        return player.note(answer)

    return impatient


def complete(player: Player) -> str:
    """Open an Upload Session, send its bytes, and complete it."""
    return player.send(completion_call(*player.client.ready_upload(key=player.key), key=player.key))


def send_bytes_again(player: Player) -> str:
    """Send the bytes of a new session twice to its address, and complete it; tell the three outcomes."""
    session = player.client.open_upload(len(picture()))
    upload = session["upload"]
    call = Call("POST", upload["url"], content=picture(), key=None, idempotency_key=None, headers=upload["headers"])
    lost, sent = player.send(call), player.client.send(call)
    return f"{lost}, {player.note(sent)}, {player.send(completion_call(session, sent.json['upload_token']))}"


def twice(call: Callable[[Player], Call], held_seconds: float) -> Step:
    """Send a request that is held, and once more meanwhile, and let the time of the hold pass."""

    def hasty(player: Player) -> str:
        assert isinstance(player.client, EmulatorUnderTest)
        sent, advance = call(player), control_call("POST", "/clock/advance", {"seconds": held_seconds})
        first, second, _ = player.client.together(sent, sent, advance)
        return f"{player.note(first)}, {player.note(second)}"

    return hasty


def poll(player: Player) -> str:
    """Look at the last work; tell its status, and the wait that is asked for."""
    answer = player.client.get(player["work"], player.key)
    return f"{answer.json['status']}, wait {answer.retry_after} s"


def end(player: Player) -> str:
    """Wait for the last work; tell how it ended, with the errors of what failed, and whether those are
    worth a retry.
    """
    done = player.client.wait_for(player.work, player.key)
    if done["object"] == "operation":
        return str(done["status"] if done["error"] is None else done["error"]["code"])
    return " ".join([done["status"], *(code for code in errors_of(done) if code)])


def account(player: Player) -> str:
    """Tell how many Credits were spent since the last look, which no scenario is asked about."""
    before, player.credits = player.credits, player.client.team()["credits"]
    return f"{max(before - player.credits, 0)} spent"


def replace_source(path: str) -> Step:
    """Have the newest ingredient of the Team made again."""

    def replacing(player: Player) -> str:
        newest = player.client.items(f"{path}?scope=team")[0]["id"]
        return player.send(Call("PATCH", f"{path}/{newest}", {"asset_id": player["asset"]}))

    return replacing


def count(path: str) -> Step:
    return lambda player: str(player.client.count(path, player.key))


def wait(seconds: float) -> Step:
    def waiting(player: Player) -> str:
        player.client.told("POST", "/clock/advance", {"seconds": seconds})
        return ""

    return waiting


def control(method: str, path: str, body: Any = None) -> Step:
    """Ask the control plane, as the operator of the service would."""
    return lambda player: str(player.client.ask(method, path, body).status)


def replace_key(player: Player) -> str:
    """Go on with another credential of the Team."""
    player.key = player.client.new_key()
    return ""


# What is played -------------------------------------------------------------------------------------------------------

ON_AN_AUTO_CLOCK: Final = ("batch-runs-dry", "flaky-network")
ON_THE_WIRE: Final = ("flaky-network", "silent-service", "slow-downloads", "slow-service")
"""Those that a client meets at a server alone."""
PAUSED, LAPSED, RUNNING = "service_unavailable, wait 10 s", "subscription_required", "resource_operation_in_progress"
POSE = ingredient_body("pose", ["{asset}"])
A_PRODUCT: Final = {"name": "Shirt", "asset_ids": ["{asset}"], "primary_asset_id": "{asset}"}
SHOTS: Final = {"output_mode": "single_shots", "image_count": 4}


def an_order(workflow: str) -> Play:
    """Meet a failure, and send the same order again with its key until it is let in."""
    return (
        ("internal_error", order(workflow)),
        ("202 after 0 s", insist(lambda player: generation_call(workflow, player["asset"], "k"), 500)),
    )


def a_lost_credential(seconds: float, code: str) -> Play:
    """Another credential finds the work of one that was lost."""
    return (
        ("", wait(seconds - 0.001)),
        ("202", upscale()),
        ("", wait(0.001)),
        (code, get("{work}")),
        (code, upscale()),
        (code, get("/team")),
        ("", replace_key),
        ("1", count("/generations")),
        ("completed", end),
    )


def a_completion(player: Player) -> Call:
    return completion_call(*player.client.ready_upload(), idempotency_key="k")


def next_page(path: str) -> Play:
    """Read the second page of two, and begin anew where its cursor is refused."""

    def follow(player: Player) -> str:
        cursor = player.client.get(f"{path}?limit=1").json["page"]["next_cursor"]
        return player.send(Call("GET", f"{path}?limit=1&after={cursor}"))

    return ("invalid_cursor", follow), ("200", follow)


def notice(player: Player) -> str:
    """Read a list that is on its way out; tell the headers that say so."""
    headers = player.client.get("/poses").headers
    return ", ".join(headers.get(name, "none") for name in ("deprecation", "sunset", "link"))


def download(player: Player) -> str:
    return player.send(Call("GET", player.client.get(f"/assets/{player['asset']}").json["url"], key=None))


def view(player: Player) -> str:
    """Get a picture and decode it."""
    answer = player.client.fetch(player.client.get(f"/assets/{player['asset']}").json["url"])
    assert (200, "image/png") == (answer.status, answer.headers["content-type"])
    try:
        Image.open(BytesIO(answer.body)).load()
    except UnidentifiedImageError:
        return "no picture"
    return "a picture"


PLAYS: Final[dict[str, Play]] = {
    "admission-paused": (
        ("", wait(29)), ("202", upscale("k1")), ("", wait(1)),
        (PAUSED, upscale("k2")), (PAUSED, ask("POST", "/uploads", UPLOAD)), (PAUSED, ask("DELETE", "/assets/{asset}")),
        ("completed", end), ("202", upscale("k1")), ("202 after 60 s", insist(an_upscale("k2"))),
    ),
    "all-outputs-fail": (
        ("0 spent", account),
        *[row for workflow in WORKFLOWS for row in (("202", order(workflow)), ("failed processing_failed", end), ("0 spent", account))],
    ),
    "already-at-target-resolution": (
        ("0 spent", account), ("already_at_target_resolution", upscale()), ("0 spent", account),
        ("202", ask("POST", "/generations/upscale", {"asset_id": "{asset}", "target_resolution": "4k", "output_format": "png"})),
    ),
    "answer-lost": (
        ("0 spent", account),
        *[row for workflow in WORKFLOWS for row in (("reset", order(workflow)), ("1 spent", account), ("202", order(workflow)), ("0 spent", account))],
        ("3", count("/generations")),
    ),
    "authentication-required": (
        ("202", upscale()), ("authentication_required", get("/team")),
        ("204", control("DELETE", "/scenario")), ("202", upscale()),
    ),
    "authoring-fails": (
        ("0 spent", account), ("202", ask("POST", "/poses", POSE, "k1")), ("processing_failed", end),
        ("202", ask("POST", "/poses", POSE, "k2")), ("completed", end), ("1 spent", account),
        ("202", replace_source("/poses")),
        ("timed_out", end), ("0 spent", account),
    ),
    "batch-runs-dry": (
        ("0 spent", account),
        *[row for key in ("one", "two") for row in (("202", photograph(key, output_mode="photoshoot")), ("completed content_rejected timed_out", end))],
        ("insufficient_credits", photograph("three", output_mode="photoshoot")),
        *[row for key in ("three again", "four") for row in (("202", photograph(key, output_mode="photoshoot")), ("completed content_rejected timed_out", end))],
        ("4 spent", account),
        ("200", control("POST", "/clock/advance", {"to": "2026-01-01T00:10:00.000Z"})),
        ("201 after 0 s", insist(an_upload)),  # the auto clock waits until writes are let in again
        ("200", control("POST", "/clock/advance", {"to": "2026-01-01T01:00:00.000Z"})),
        ("credential_revoked", get("/team")), ("", replace_key), ("8", count("/assets?source=generation")),
    ),
    "concurrency-budget-exhausted": (
        ("202", upscale("k1")), ("concurrency_limit_reached, wait 31 s", upscale("k2")), ("202 after 31 s", insist(an_upscale("k2"))),
    ),
    "corrupt-downloads": (("no picture", view), ("a picture", view)),
    "credential-expired-mid-run": a_lost_credential(60, "credential_expired"),
    "credential-revoked-mid-run": a_lost_credential(30, "credential_revoked"),
    "credits-run-dry": (
        *[("202", upscale(f"k{number}")) for number in range(5)],
        ("insufficient_credits", upscale("k5")), ("200", control("PATCH", "/teams/Demo", {"credits": 10})),
        ("insufficient_credits", upscale("k5")), ("202", upscale("a new one")),
    ),
    "deprecated-endpoint": (
        ('@1767225600, Wed, 30 Jun 2027 00:00:00 GMT, <https://docs.example/migration>; rel="deprecation"', notice),
        ("204", control("DELETE", "/scenario")), ("none, none, none", notice),
    ),
    "every-first-write-fails": (
        ("0 spent", account),
        ("internal_error", upscale("k0")), ("202", upscale("k0")), ("1 spent", account),
        ("internal_error", upscale("k1")),  # the third request, after which all Credits are gone
        ("202", upscale("k1")), ("insufficient_credits", upscale("k2")), ("2", count("/generations")),
    ),
    "foreground-removed": (
        ("0 spent", account), ("202", ask("POST", "/backgrounds", ingredient_body("background", ["{asset}"]))),
        ("completed", end), ("1 spent", account),
        ("202", replace_source("/backgrounds")), ("completed", end), ("0 spent", account),
    ),
    "internal-error": (
        ("0 spent", account), *[row for workflow in WORKFLOWS for row in an_order(workflow)],
        *[("200 after 0 s", insist(lambda player: Call("GET", "/generations"), 500))] * 5, ("3 spent", account),
    ),
    "invalid-cursor": (
        *[("202", upscale(key)) for key in ("k1", "k2")],
        *[("201", ask("POST", "/products", A_PRODUCT, key)) for key in ("k3", "k4")],
        ("201", complete), *[row for path in ("/assets", "/products", "/generations") for row in next_page(path)],
    ),
    "outputs-stall": (
        ("202", upscale("k1")), ("queued, wait 1 s", poll), ("", wait(1)),
        *[row for _ in range(11) for row in (("processing, wait 5 s", poll), ("", wait(5)))],  # a minute (D47)
        ("202", upscale("k2")), ("completed", end),
    ),
    "permission-denied": (
        ("202", upscale("k1")), ("", wait(30)), ("permission_denied", upscale("k2")),
        ("permission_denied", ask("POST", "/uploads", UPLOAD)), ("permission_denied", ask("DELETE", "/assets/{asset}")),
        ("completed", end), ("", replace_key), ("202", upscale("k2")),
    ),
    "rate-limited": (
        *[row for _ in range(5) for row in (("200", get("/team")), ("", wait(2)))],
        ("rate_limited, wait 50 s", get("/team")), ("", wait(50)),
        ("200", get("/team")), ("rate_limited, wait 2 s", get("/team")),
    ),
    "resource-operation-in-progress": (
        ("202", ask("POST", "/poses", POSE, "k1")), ("completed", end),
        ("202", replace_source("/poses")),
        (RUNNING, ask("DELETE", "/assets/{asset}")), ("completed", end), ("200", ask("DELETE", "/assets/{asset}")),
    ),
    "same-key-in-flight": tuple(
        row for workflow in WORKFLOWS for row in (
            ("202, idempotency_in_progress", twice(lambda player, workflow=workflow: generation_call(workflow, player["asset"], "k"), 10)),  # type: ignore[misc]
            ("202", order(workflow)), (str(1 + WORKFLOWS.index(workflow)), count("/generations")),
        )
    ),
    "short-outages": (
        ("", wait(10)), ("202", upscale("k1")), ("", wait(49.999)), ("202", upscale("k2")), ("", wait(0.001)),
        ("internal_error", upscale("k3")), ("", wait(10)), ("202", upscale("k3")), ("3", count("/generations")),
    ),
    "silent-service": (
        ("silence", give_up("/team")), ("200", get("/team")), ("202", upscale()),
        *[("200", get("{work}"))] * 3, ("silence", give_up("{work}")), ("", wait(10)), ("completed", end),
    ),
    "slow-downloads": (("cut short", download), ("200", download)),
    "some-outputs-fail": (
        ("0 spent", account), ("202", photograph("k1", **SHOTS)), ("completed content_rejected timed_out", end), ("2 spent", account),
        ("202", photograph("k2", **SHOTS | {"image_count": 1})), ("completed", end),
    ),
    "subscription-lapses-mid-run": (
        ("202", upscale("k1")), ("", wait(30)), (LAPSED, upscale("k2")), ("completed", end),
        ("200", control("POST", "/clock/advance", {"to": "2026-01-01T00:01:59.999Z"})), (LAPSED, upscale("k2")),
        ("", wait(0.001)), ("202", upscale("k2")),
    ),
    "upload-answer-lost": (*[("reset, 200, 201", send_bytes_again)] * 2, ("2", count("/assets"))),
    "upload-bytes-conflict": (("upload_bytes_conflict", complete), ("0", count("/assets")), ("201", complete)),
    "upload-expired": (*[("upload_expired", complete)] * 3, ("0", count("/assets"))),
    "upload-window-missed": (("upload_expired, idempotency_in_progress", twice(a_completion, 16 * 60)), ("201", complete)),
}  # fmt: skip
"""By scenario: what its client sees, and does."""


@contextmanager
def client_of(scenario: str) -> Iterator[Client]:
    """A client of an emulator that runs a scenario; at the end, every rule must have acted."""
    clock = "auto" if scenario in ON_AN_AUTO_CLOCK else "manual"
    if scenario in ON_THE_WIRE:
        with serving("--scenario", scenario, "--clock", clock) as server:
            client = ServedClient(server.base_url)
            yield client
            assert_no_rule_is_idle(client)
    else:
        with closing(EmulatorUnderTest(Settings(clock=parse_clock(clock), scenario=scenario))) as emulator:
            yield emulator
            assert_no_rule_is_idle(emulator)


def assert_no_rule_is_idle(client: Client) -> None:
    assert [] == [name for name, (_, fired) in client.rules().items() if not fired]


@pytest.mark.parametrize("scenario", PLAYS)
def test_a_client_sees_what_a_scenario_is_for(scenario: str) -> None:
    with client_of(scenario) as client:
        player = Player(client)
        assert [seen for seen, _ in PLAYS[scenario]] == [step(player) for _, step in PLAYS[scenario]]


def test_every_scenario_of_the_library_is_played() -> None:
    played = {*PLAYS, "flaky-network", "slow-service"}
    assert {file.stem for file in (ROOT / "scenarios").glob("*.yaml")} == played


FAILURES: tuple[type[Exception], ...] = (ConnectionResetError, IncompleteRead, ValueError)
"""Broken off, half a body, and a body that is not JSON."""


class Persistent(ServedClient):
    """A client that sends a request again, with the same key, until it has a whole answer."""

    failures: Counter[type[Exception]]

    def send(self, call: Call, connection: HTTPConnection | None = None, seconds: float = SECONDS) -> Answer:
        for _ in range(10):
            try:
                answer = super().send(call, connection, seconds)
                if answer.body:
                    assert isinstance(answer.json, dict)
            except FAILURES as failure:
                self.failures[next(kind for kind in FAILURES if isinstance(failure, kind))] += 1
            else:
                return answer
        raise AssertionError(f"{call.method} {call.target} was never answered")


def test_a_client_that_retries_with_the_same_keys_comes_through_a_flaky_network() -> None:
    with client_of("flaky-network") as client:
        assert isinstance(client, ServedClient)
        persistent = Persistent(f"http://{client.address}/v1")
        persistent.failures = Counter()
        (asset_id,) = persistent.assets(1)
        credits_before = persistent.credits()
        for number in range(12):
            work = persistent.send(upscale_call(asset_id, f"k{number}")).json
            while work["status"] not in TERMINAL:
                work = persistent.get(f"/generations/{work['id']}").json
            assert "completed" == work["status"]
        assert (credits_before - 12, 12) == (persistent.credits(), persistent.count("/generations"))
        assert set(FAILURES) == set(persistent.failures)


def test_a_slow_service_is_waited_for_and_polled_no_faster_than_told() -> None:
    with client_of("slow-service") as client:
        player, began = Player(client), time.monotonic()
        assert ["202", "queued, wait 1 s", ""] == [step(player) for step in (upscale(), poll, wait(1))]
        assert time.monotonic() - began >= 0.3
        assert ["processing, wait 120 s", "", "completed"] == [step(player) for step in (poll, wait(120), end)]
        assert ["202", "", "processing, wait 60 s"] == [
            step(player) for step in (ask("POST", "/poses", POSE), wait(1), poll)
        ]
