"""Every scenario of the library is played.

A client does what the scenario is for, sees what it says, and lets every rule act.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, IncompleteRead
from io import BytesIO
from typing import Any, Final

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
    Json,
    advance_call,
    completion_call,
    ingredient_body,
)
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.every_operation import WORKFLOWS, generation_call, upscale_call
from tests.support.pictures import picture
from tests.support.served import ROOT, Server, serving
from tests.support.served_client import IMPATIENT_SECONDS, SECONDS, ServedClient


class Player:
    """A client, and what it remembers: its key, a small picture, its last work.

    Each act returns what was seen.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.key = FULL
        self.work = ""
        self._credits = int(client.team()["credits"])
        self._assets: list[str] = []

    @property
    def asset(self) -> str:
        self._assets = self._assets or self.client.assets(1, self.key)
        return self._assets[0]

    def send(self, call: Call, **options: Any) -> str:
        """Return what `note` says of the answer, or how the answer was lost."""
        try:
            answer = self.client.send(call, **options)
        except ConnectionResetError:
            return "reset"
        except TimeoutError:
            return "silence"
        return self.note(answer)

    def note(self, answer: Answer) -> str:
        """Return the status, or the code with the wait that is asked for.

        Work that was admitted is remembered.
        """
        if answer.status == 202:
            self.work = f"/{answer.json['object']}s/{answer.id}"
        if answer.status < 400:
            return str(answer.status)
        if answer.retry_after is None:
            return answer.code
        return f"{answer.code}, wait {answer.retry_after} s"

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        key: str = "k",
    ) -> str:
        call = Call(
            method,
            path,
            body,
            key=self.key,
            idempotency_key=key,
        )
        return self.send(call)

    def get(self, path: str) -> str:
        return self.ask("GET", path)

    def delete_asset(self) -> str:
        return self.ask("DELETE", f"/assets/{self.asset}")

    def give_up(self, path: str) -> str:
        """Read what is never answered, for as long as a client has patience."""
        return self.send(Call("GET", path), seconds=IMPATIENT_SECONDS)

    def insist(self, call: Call, *statuses: int) -> str:
        """Send a request with its key until it is admitted, waiting as told.

        `statuses` are those of answers after which it is sent again. Returns how long
        that took, too.
        """
        passing = statuses or (429, 503)
        waited = 0
        for _ in range(20):
            answer = self.client.send(call)
            if answer.status not in passing:
                return f"{self.note(answer)} after {waited} s"
            seconds = answer.retry_after or 0
            self.client.advance(seconds)
            waited += seconds
        raise AssertionError(f"the request was never admitted: {answer.body!r}")

    def twice(self, call: Call, held_seconds: float) -> str:
        """Send a request that is held, and once more meanwhile.

        Then the time of the hold passes.
        """
        assert isinstance(self.client, EmulatorUnderTest)
        release = advance_call(held_seconds)
        first, second, _ = self.client.together(call, call, release)
        return f"{self.note(first)}, {self.note(second)}"

    def order_call(self, workflow: str, key: str = "k") -> Call:
        return generation_call(workflow, self.asset, key, self.key)

    def order(self, workflow: str, key: str = "k") -> str:
        """Ask for one output, for 1 Credit."""
        return self.send(self.order_call(workflow, key))

    def upscale(self, key: str = "k") -> str:
        return self.order("upscale", key)

    def photograph(self, key: str, **fields: Any) -> str:
        path = "/generations/product-photography"
        body = {"asset_ids": [self.asset], **fields}
        return self.ask("POST", path, body, key)

    def author(self, kind: str, key: str = "k") -> str:
        body = ingredient_body(kind, [self.asset])
        return self.ask("POST", f"/{kind}s", body, key)

    def replace_source(self, kind: str) -> str:
        """Have the newest ingredient of the Team made again."""
        newest, *_ = self.client.items(f"/{kind}s?scope=team")
        body = {"asset_id": self.asset}
        return self.ask("PATCH", f"/{kind}s/{newest['id']}", body)

    def poll(self) -> str:
        answer = self.client.get(self.work, self.key)
        return f"{answer.json['status']}, wait {answer.retry_after} s"

    def end(self) -> str:
        """Wait for the last work; return how it ended, with the errors of what failed."""
        work = self.client.get(self.work, self.key).json
        ended = self.client.wait_for(work, self.key)
        if ended["object"] == "generation":
            errors = [output["error"] for output in ended["outputs"]]
            codes = [error["code"] for error in errors if error is not None]
            return " ".join([ended["status"], *codes])
        if ended["error"] is not None:
            return str(ended["error"]["code"])
        return str(ended["status"])

    def completion_call(self, **options: Any) -> Call:
        """Open an Upload Session and send its bytes.

        Returns the request that completes it.
        """
        session, token = self.client.ready_upload(key=self.key)
        return completion_call(session, token, key=self.key, **options)

    def complete(self) -> str:
        return self.send(self.completion_call())

    def send_bytes_twice(self) -> str:
        """Send bytes again after their answer is lost, and complete the upload."""
        data = picture()
        session = self.client.open_upload(len(data))
        with pytest.raises(ConnectionResetError):
            self.client.send_bytes(session, data)
        sent = self.client.send_bytes(session, data)
        completion = completion_call(session, sent.json["upload_token"])
        return f"{self.note(sent)}, {self.send(completion)}"

    def view(self) -> str:
        """Get the picture and decode it."""
        asset = self.client.get(f"/assets/{self.asset}").json
        try:
            answer = self.client.fetch(asset["url"])
            image = Image.open(BytesIO(answer.body))
            image.load()
        except IncompleteRead:
            return "cut short"
        except UnidentifiedImageError:
            return "no picture"
        return "a picture"

    def count(self, path: str) -> str:
        return str(self.client.count(path, self.key))

    def next_page(self, path: str) -> str:
        first_page = self.client.get(f"{path}?limit=1").json
        cursor = first_page["page"]["next_cursor"]
        return self.get(f"{path}?limit=1&after={cursor}")

    def notice(self) -> str:
        """Return the headers of a list that say that it is on its way out."""
        headers = self.client.get("/poses").headers
        notice = [
            headers["deprecation"],
            headers["sunset"],
            headers["link"],
        ]
        return ", ".join(notice)

    def spent(self) -> str:
        team = self.client.team()
        return f"{self._credits - team['credits']} spent"

    def wait(self, seconds: float) -> None:
        self.client.advance(seconds)

    def wait_until(self, time_of_day: str) -> None:
        instant = f"2026-01-01T{time_of_day}Z"
        self.client.told("POST", "/clock/advance", {"to": instant})

    def take_a_new_key(self) -> None:
        """Go on with another credential of the Team."""
        self.key = self.client.new_key()

    def control(
        self,
        method: str,
        path: str,
        body: Any = None,
    ) -> str:
        """Ask the control plane, as the operator of the service would."""
        return str(self.client.ask(method, path, body).status)


PAUSED: Final = "service_unavailable, wait 10 s"
LAPSED: Final = "subscription_required"
DENIED: Final = "permission_denied"
TWO_LOST: Final = "completed content_rejected timed_out"
SHOTS: Final[Json] = {
    "output_mode": "single_shots",
    "image_count": 4,
}
SHOOT: Final[Json] = {"output_mode": "photoshoot"}
NOTICE: Final = (
    "@1767225600, "
    "Wed, 30 Jun 2027 00:00:00 GMT, "
    '<https://docs.example/migration>; rel="deprecation"'
)


def product(asset_id: str) -> Json:
    return {
        "name": "Shirt",
        "asset_ids": [asset_id],
        "primary_asset_id": asset_id,
    }


PLAYED: set[str] = set()
"""The scenarios that are played."""


def plays(scenario: str) -> pytest.MarkDecorator:
    """Let a test play a scenario of the library in its own process."""
    PLAYED.add(scenario)
    return pytest.mark.parametrize("player", [scenario], indirect=True)


def plays_on_the_wire(scenario: str) -> pytest.MarkDecorator:
    """Let a test play a scenario whose faults show only at a server."""
    PLAYED.add(scenario)
    return pytest.mark.parametrize("wire_player", [scenario], indirect=True)


@contextmanager
def playing(client: Client) -> Iterator[None]:
    """Let every rule of a client's scenario act."""
    yield
    counts = client.rules()
    idle_rules = [name for name in counts if counts[name].fired == 0]
    assert idle_rules == []


@pytest.fixture
def player(request: pytest.FixtureRequest) -> Iterator[Player]:
    """A client of an emulator that runs the scenario of the test."""
    clock = "manual"
    if request.param == "batch-runs-dry":
        clock = "auto"
    settings = Settings(clock=parse_clock(clock), scenario=request.param)
    with closing(EmulatorUnderTest(settings)) as client, playing(client):
        yield Player(client)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


def wire_client(
    server: Server,
    scenario: str,
    clock: str,
) -> ServedClient:
    client = ServedClient(server.base_url)
    client.use({"use": scenario})
    client.told("POST", "/reset")
    client.told("PUT", "/clock", {"mode": clock})
    return client


@pytest.fixture
def wire_player(request: pytest.FixtureRequest, server: Server) -> Iterator[Player]:
    """A client of a server that runs the scenario of the test."""
    client = wire_client(server, request.param, "manual")
    with playing(client):
        yield Player(client)


def _lose_credential(
    player: Player,
    seconds: float,
    code: str,
) -> None:
    """Lose a credential at its time, and find its work with another one."""
    player.wait(seconds - 0.001)
    assert player.upscale() == "202"

    player.wait(0.001)
    assert player.get(player.work) == code
    assert player.upscale() == code

    player.take_a_new_key()
    assert player.count("/generations") == "1"
    assert player.end() == "completed"


@plays("admission-paused")
def test_new_writes_wait_while_admission_is_paused(player: Player) -> None:
    player.wait(29)
    assert player.upscale("k1") == "202"

    player.wait(1)
    assert player.upscale("k2") == PAUSED
    assert player.delete_asset() == PAUSED
    assert player.end() == "completed"

    second_order = player.order_call("upscale", "k2")
    assert player.insist(second_order) == "202 after 60 s"


@plays("all-outputs-fail")
def test_work_whose_outputs_all_fail_costs_nothing(player: Player) -> None:
    for name in WORKFLOWS:
        assert player.order(name) == "202"
        assert player.end() == "failed processing_failed"

    assert player.spent() == "0 spent"


@plays("already-at-target-resolution")
def test_an_asset_that_is_large_enough_is_upscaled_to_a_higher_resolution(
    player: Player,
) -> None:
    assert player.upscale() == "already_at_target_resolution"

    larger: Json = {
        "asset_id": player.asset,
        "target_resolution": "4k",
        "output_format": "png",
    }
    assert player.ask("POST", "/generations/upscale", larger) == "202"


@plays("answer-lost")
def test_a_lost_answer_is_got_by_the_same_request_and_paid_once(player: Player) -> None:
    for name in WORKFLOWS:
        assert player.order(name) == "reset"
        assert player.order(name) == "202"

    assert player.spent() == "3 spent"
    assert player.count("/generations") == "3"


@plays("authentication-required")
def test_a_key_that_is_refused_works_again_without_the_scenario(player: Player) -> None:
    assert player.upscale() == "202"
    assert player.get("/team") == "authentication_required"
    assert player.control("DELETE", "/scenario") == "204"
    assert player.upscale() == "202"


@plays("authoring-fails")
def test_authoring_that_fails_is_repeated_with_a_new_key(player: Player) -> None:
    assert player.author("pose", "k1") == "202"
    assert player.end() == "processing_failed"
    assert player.author("pose", "k2") == "202"
    assert player.end() == "completed"
    assert player.replace_source("pose") == "202"
    assert player.end() == "timed_out"
    assert player.spent() == "1 spent"


@plays("batch-runs-dry")
def test_a_batch_runs_out_of_credits_is_paused_and_loses_its_credential(
    player: Player,
) -> None:
    for key in "12":
        assert player.photograph(key, **SHOOT) == "202"
        assert player.end() == TWO_LOST

    assert player.photograph("3", **SHOOT) == "insufficient_credits"

    for key in "45":
        assert player.photograph(key, **SHOOT) == "202"
        assert player.end() == TWO_LOST

    assert player.spent() == "4 spent"
    # The auto clock waits.
    write = Call("POST", "/uploads", UPLOAD)

    player.wait_until("00:10:00.000")
    assert player.insist(write) == "201 after 0 s"

    player.wait_until("01:00:00.000")
    assert player.get("/team") == "credential_revoked"

    player.take_a_new_key()
    assert player.count("/assets?source=generation") == "8"


@plays("concurrency-budget-exhausted")
def test_work_beyond_the_concurrency_limit_waits_for_a_place(player: Player) -> None:
    assert player.upscale("k1") == "202"

    second_order = player.order_call("upscale", "k2")
    assert player.insist(second_order) == "202 after 31 s"


@plays("corrupt-downloads")
def test_a_corrupt_download_is_repeated(player: Player) -> None:
    assert player.view() == "no picture"
    assert player.view() == "a picture"


@plays("credential-expired-mid-run")
def test_another_credential_finds_the_work_of_one_that_has_expired(
    player: Player,
) -> None:
    _lose_credential(player, 60, "credential_expired")


@plays("credential-revoked-mid-run")
def test_another_credential_finds_the_work_of_one_that_was_revoked(
    player: Player,
) -> None:
    _lose_credential(player, 30, "credential_revoked")


@plays("credits-run-dry")
def test_after_402_new_credits_need_a_new_key(player: Player) -> None:
    for key in "12345":
        assert player.upscale(key) == "202"

    assert player.upscale("6") == "insufficient_credits"
    assert player.control("PATCH", "/teams/Demo", {"credits": 10}) == "200"
    assert player.upscale("6") == "insufficient_credits"
    assert player.upscale("a new one") == "202"


@plays("deprecated-endpoint")
def test_a_deprecated_list_says_so(player: Player) -> None:
    assert player.notice() == NOTICE


@plays("every-first-write-fails")
def test_every_first_write_fails_and_was_carried_out(player: Player) -> None:
    assert player.upscale("k0") == "internal_error"
    assert player.upscale("k0") == "202"
    # The third request, after which all Credits are gone.
    assert player.upscale("k1") == "internal_error"
    assert player.upscale("k1") == "202"
    assert player.upscale("k2") == "insufficient_credits"
    assert player.count("/generations") == "2"


@plays("foreground-removed")
def test_removing_a_foreground_costs_a_credit(player: Player) -> None:
    assert player.author("background") == "202"
    assert player.end() == "completed"
    assert player.spent() == "1 spent"
    assert player.replace_source("background") == "202"
    assert player.end() == "completed"
    assert player.spent() == "1 spent"


@plays("internal-error")
def test_an_internal_error_is_repeated_with_the_same_key(player: Player) -> None:
    for name in WORKFLOWS:
        assert player.order(name) == "internal_error"
        repeated = player.order_call(name)
        assert player.insist(repeated, 500) == "202 after 0 s"

    read = Call("GET", "/generations")
    for _ in range(5):
        assert player.insist(read, 500) == "200 after 0 s"

    assert player.spent() == "3 spent"


@plays("invalid-cursor")
def test_a_cursor_that_is_refused_once_works_afterwards(player: Player) -> None:
    for key in "12":
        assert player.upscale(key) == "202"
    body = product(player.asset)
    for key in "34":
        assert player.ask("POST", "/products", body, key) == "201"

    assert player.complete() == "201"

    for path in ("/assets", "/products", "/generations"):
        assert player.next_page(path) == "invalid_cursor"
        assert player.next_page(path) == "200"


@plays("outputs-stall")
def test_an_output_that_stalls_is_polled_and_ordered_anew(player: Player) -> None:
    assert player.upscale("k1") == "202"
    assert player.poll() == "queued, wait 1 s"

    player.wait(60)
    assert player.poll() == "processing, wait 5 s"  # D47
    assert player.upscale("k2") == "202"
    assert player.end() == "completed"


@plays("permission-denied")
def test_a_credential_that_may_only_read_is_replaced(player: Player) -> None:
    assert player.upscale("k1") == "202"

    player.wait(30)
    assert player.upscale("k2") == DENIED
    assert player.end() == "completed"

    player.take_a_new_key()
    assert player.upscale("k2") == "202"


@plays("rate-limited")
def test_a_client_waits_as_long_as_the_rate_limit_asks(player: Player) -> None:
    for _ in range(5):
        player.wait(2)
        assert player.get("/team") == "200"

    assert player.get("/team") == "rate_limited, wait 52 s"

    player.wait(52)
    assert player.get("/team") == "200"
    assert player.get("/team") == "rate_limited, wait 2 s"


@plays("resource-operation-in-progress")
def test_an_asset_is_deleted_once_the_work_with_it_has_ended(player: Player) -> None:
    assert player.author("pose") == "202"
    assert player.end() == "completed"
    assert player.replace_source("pose") == "202"
    assert player.delete_asset() == "resource_operation_in_progress"
    assert player.end() == "completed"
    assert player.delete_asset() == "200"


@plays("same-key-in-flight")
def test_a_key_in_flight_is_refused_and_replayed_afterwards(player: Player) -> None:
    for name in WORKFLOWS:
        order = player.order_call(name)
        assert player.twice(order, 10) == "202, idempotency_in_progress"

    for name in WORKFLOWS:
        assert player.order(name) == "202"

    assert player.count("/generations") == "3"


@plays("short-outages")
def test_short_outages_are_waited_out(player: Player) -> None:
    player.wait(10)
    assert player.upscale("k1") == "202"

    player.wait(49.999)
    assert player.upscale("k2") == "202"

    player.wait(0.001)
    assert player.upscale("k3") == "internal_error"

    player.wait(10)
    assert player.upscale("k3") == "202"
    assert player.count("/generations") == "3"


@plays("some-outputs-fail")
def test_outputs_that_fail_are_not_paid(player: Player) -> None:
    assert player.photograph("k1", **SHOTS) == "202"
    assert player.end() == TWO_LOST
    assert player.spent() == "2 spent"
    assert player.photograph("k2", **SHOTS | {"image_count": 1}) == "202"
    assert player.end() == "completed"


@plays("subscription-lapses-mid-run")
def test_accepted_work_ends_while_the_subscription_has_lapsed(player: Player) -> None:
    assert player.upscale("k1") == "202"

    player.wait(30)
    assert player.upscale("k2") == LAPSED
    assert player.end() == "completed"

    player.wait_until("00:01:59.999")
    assert player.upscale("k2") == LAPSED

    player.wait(0.001)
    assert player.upscale("k2") == "202"


@plays("upload-answer-lost")
def test_bytes_whose_answer_was_lost_are_sent_again(player: Player) -> None:
    for _ in range(2):
        assert player.send_bytes_twice() == "200, 201"

    assert player.count("/assets") == "2"


@plays("upload-bytes-conflict")
def test_an_upload_that_conflicts_is_made_anew(player: Player) -> None:
    assert player.complete() == "upload_bytes_conflict"
    assert player.complete() == "201"


@plays("upload-expired")
def test_an_upload_that_has_expired_leaves_no_asset(player: Player) -> None:
    for _ in range(3):
        assert player.complete() == "upload_expired"

    assert player.count("/assets") == "0"


@plays("upload-window-missed")
def test_a_completion_that_comes_too_late_is_repeated_with_a_new_session(
    player: Player,
) -> None:
    completion = player.completion_call(idempotency_key="k")
    both_answers = player.twice(completion, 960)
    assert both_answers == "upload_expired, idempotency_in_progress"

    assert player.complete() == "201"


@plays_on_the_wire("silent-service")
def test_a_read_that_is_never_answered_is_given_up_and_repeated(
    wire_player: Player,
) -> None:
    assert wire_player.give_up("/team") == "silence"
    assert wire_player.get("/team") == "200"
    assert wire_player.upscale() == "202"

    for _ in range(3):
        assert wire_player.get(wire_player.work) == "200"

    assert wire_player.give_up(wire_player.work) == "silence"

    wire_player.wait(10)
    assert wire_player.end() == "completed"


@plays_on_the_wire("slow-downloads")
def test_a_download_that_is_cut_short_is_repeated(wire_player: Player) -> None:
    assert wire_player.view() == "cut short"
    assert wire_player.view() == "a picture"


@plays_on_the_wire("slow-service")
def test_slow_work_asks_for_long_waits(wire_player: Player) -> None:
    assert wire_player.upscale() == "202"

    wire_player.wait(1)
    assert wire_player.poll() == "processing, wait 120 s"

    wire_player.wait(120)
    assert wire_player.end() == "completed"
    assert wire_player.author("pose") == "202"

    wire_player.wait(1)
    assert wire_player.poll() == "processing, wait 60 s"


def test_every_scenario_of_the_library_is_played() -> None:
    files = (ROOT / "scenarios").glob("*.yaml")
    library = {file.stem for file in files}

    assert library == {*PLAYED, "flaky-network"}


FAILURES: Final[tuple[type[Exception], ...]] = (
    ConnectionResetError,
    IncompleteRead,
    ValueError,
)
"""Broken off, half a body, and a body that is not JSON."""


class Persistent(ServedClient):
    """A client that repeats a request, with its key, until it has a whole answer."""

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
                kinds = [kind for kind in FAILURES if isinstance(failure, kind)]
                self.failures.update(kinds)
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
            order = upscale_call(asset_id, f"k{number}")
            work = persistent.send(order).json
            while work["status"] not in TERMINAL:
                work = persistent.get(f"/generations/{work['id']}").json
            assert work["status"] == "completed"

        assert persistent.credits() == 88
        assert persistent.count("/generations") == 12

    assert persistent.failures == set(FAILURES)
