"""Whatever follows from seed, start and requests is the same, byte for byte.

One long conversation goes through everything that could let two runs differ:
identifiers, signatures, tokens, cursors, ETags, timestamps, pictures, order of headers,
texts of errors, replays, faults by scenario, the journal, and jumps of the clock. What
it sends depends only on what it was answered. And one history goes in several gaits:
how the clock was moved, and who looked when, leaves no trace in what comes to be.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPConnection
from typing import Any, NamedTuple

from image_workflow_emulator.imaging.normalize import CONTENT_TYPES
from tests.support.emulator_client import (
    HOST,
    LISTS,
    TERMINAL,
    UPLOAD,
    Answer,
    Call,
    Client,
)
from tests.support.emulator_under_test import MakeEmulator
from tests.support.every_operation import CALLS, SUCCESSES, Things
from tests.support.pictures import photo
from tests.support.served import serving
from tests.support.served_client import SECONDS, ServedClient

CREATION = {"operation": "createProduct"}
FAULTS = {
    "scenario": "faults of the transcript",
    "rules": [
        {
            "match": CREATION,
            "when": {"nth": "1"},
            "then": {"problem": "service_unavailable"},
        },
        {
            "match": CREATION,
            "when": {"nth": "1"},
            "then": {"problem": "internal_error", "at": "after_commit"},
        },
        {
            "match": {"work": "product_photography"},
            "then": {
                "outputs": {
                    "1": "content_rejected",
                    "3": "timed_out",
                },
            },
        },
        {
            "match": {"work": "upscale"},
            "when": {"probability": 0.5},
            "then": {"fail": "processing_failed"},
        },
    ],
    "timeline": [
        {
            "at": 3600,
            "set": {"admission": "paused", "retry_after": 7},
        },
        {
            "at": 7200,
            "set": {"admission": "open"},
        },
    ],
}

OF_THE_HOST = ("arrived_at", "duration_ms", "wait_ms", "connection")
"""What the journal has of the machine that the emulator runs on."""
Exchange = tuple[str, Answer]
"""A request's first line and all that was answered."""


class Recorder(ServedClient):
    """A client that holds every answer against the contract, and keeps it."""

    def __init__(self, origin: str) -> None:
        super().__init__(f"{origin}/v1")
        self.exchanges: list[Exchange] = []

    def send(
        self,
        call: Call,
        connection: HTTPConnection | None = None,
        seconds: float = SECONDS,
    ) -> Answer:
        answer = super().send(call, connection, seconds)
        first_line = f"{call.method} {call.target}"
        self.exchanges.append((first_line, answer))
        self.check(call, answer)
        return answer

    def journal(self) -> Any:
        """Return what the emulator noted of the conversation, without the host's times
        and ports.
        """
        journal = self.told("GET", "/requests")
        entries = journal["data"]
        for entry in entries:
            for name in OF_THE_HOST:
                entry.pop(name, None)
        return entries


@contextmanager
def recording(*options: str) -> Iterator[Recorder]:
    with serving("--public-url", f"http://{HOST}", *options) as emulator:
        yield Recorder(emulator.url)


def bring_in(client: Client) -> Things:
    asset_ids: list[str] = []
    for content_type in CONTENT_TYPES:
        file = photo(content_type, (320, 240))
        asset = client.upload(file, content_type)
        asset_ids.append(asset["id"])
    product = client.product(*asset_ids[:3])
    return Things(
        asset_ids,
        product,
        session={},
        token="",
        operation={},
        generation={},
    )


def order_work(client: Client, things: Things) -> list[str]:
    """Order work of each kind, and return the paths of what was admitted."""
    answers: list[Answer] = []
    for operation, status in SUCCESSES.items():
        if status == 202:
            call = CALLS[operation](things)
            answers.append(client.send(call))
    shots = client.photograph(
        product_ids=[things.product["id"]],
        image_count=2,
        background={"type": "transparent"},
        output_format="webp",
    )
    answers.append(shots)
    return [path_of_work(answer) for answer in answers]


def path_of_work(answer: Answer) -> str:
    assert answer.status == 202, answer.body
    return f"/{answer.json['object']}s/{answer.id}"


def provoke(recorder: Recorder, things: Things) -> None:
    product = f"/products/{things.product['id']}"
    recorder.get("/team", key="iwe_demo_expired")
    recorder.delete(product, key="iwe_demo_read")
    recorder.get(product, key="iwe_other_full")
    recorder.send(Call("PUT", "/team"))
    recorder.get("/nowhere")
    recorder.get("/assets?limit=0&colour=red")
    invalid_in_all = {
        "name": "",
        "asset_ids": [],
        "primary_asset_id": 7,
        "extra": None,
    }
    recorder.post("/products", invalid_in_all)
    without_photo = {
        "name": "Lost",
        "asset_ids": ["ast_none"],
        "primary_asset_id": "ast_none",
    }
    recorder.post("/products", without_photo)
    recorder.upscale(things.asset_ids[0], key="iwe_other_full")
    recorder.post("/uploads", UPLOAD, key="iwe_lapsed_full")


def hurry(recorder: Recorder, things: Things) -> None:
    """Reach the rate limit and the concurrency limit; the auto clock waits for both."""
    read = Call("GET", "/team", key="iwe_other_full")
    limited = send_while(recorder, read, 200)
    after_the_wait = recorder.send(read)
    assert limited.code == "rate_limited"
    assert after_the_wait.status == 200

    style = CALLS["createPhotographyStyle"](things)
    limited = send_while(recorder, style, 202)
    after_the_wait = recorder.send(style)
    assert limited.code == "concurrency_limit_reached"
    assert after_the_wait.status == 202


def send_while(
    recorder: Recorder,
    call: Call,
    status: int,
) -> Answer:
    """Send a request until its answer has another status; return that answer."""
    answer = recorder.send(call)
    while answer.status == status:
        answer = recorder.send(call)
    return answer


def replay(recorder: Recorder, things: Things) -> None:
    """Use one key three times: the same intent twice, then another."""
    body = {
        "name": "Twice",
        "asset_ids": things.asset_ids[:2],
        "primary_asset_id": things.asset_ids[0],
    }
    same_body = dict(reversed(body.items()))
    other_body = {**body, "name": "Other"}
    key = "used again"

    first = recorder.post("/products", body, idempotency_key=key)
    second = recorder.post("/products", same_body, idempotency_key=key)
    refused = recorder.post("/products", other_body, idempotency_key=key)

    assert second == first
    assert refused.status == 422


def meet_faults(recorder: Recorder, things: Things) -> list[str]:
    """Let a scenario begin, and run into its rules; return the paths of what was
    accepted.
    """
    recorder.use(FAULTS)
    creation = CALLS["createProduct"](things)
    creation.idempotency_key = "unlucky"
    refused = recorder.send(creation)
    lost_though_admitted = recorder.send(creation)
    replayed = recorder.send(creation)
    assert refused.status == 503
    assert lost_though_admitted.status == 500
    assert replayed.status == 201

    photoshoot = recorder.photograph(
        product_ids=[things.product["id"]],
        output_mode="photoshoot",
    )
    answers = [photoshoot]
    for _ in range(4):
        upscale = recorder.upscale(things.asset_ids[0])
        answers.append(upscale)
    return [path_of_work(answer) for answer in answers]


def poll(client: Client, paths: list[str]) -> None:
    for path in paths:
        poll_until_terminal(client, path)


def poll_until_terminal(client: Client, path: str) -> None:
    for _ in range(20):
        work = client.get(path).json
        if work["status"] in TERMINAL:
            return
    raise AssertionError(f"{path} has not ended")


def read_everything(client: Client) -> list[Any]:
    team = client.get("/team").json
    lists = [client.items(path, limit=3) for path in LISTS]
    return [team, *lists]


def download_everything(client: Client) -> list[bytes]:
    contents: list[bytes] = []
    for url in urls_of_everything(client):
        file = client.fetch(url)
        assert file.status == 200
        contents.append(file.body)
    return contents


def urls_of_everything(client: Client) -> list[str]:
    """Return the URLs of the pictures of every Asset and ingredient."""
    urls: list[str] = []
    for path in LISTS:
        for resource in client.items(path):
            if "url" in resource:
                urls.append(resource["url"])
            if "card_image_url" in resource:
                urls.append(resource["card_image_url"])
            urls += resource.get("preview_image_urls", [])
    return urls


def delete_some(recorder: Recorder, things: Things) -> None:
    asset = f"/assets/{things.asset_ids[1]}"
    product = f"/products/{things.product['id']}"
    link = recorder.get(asset).json["url"]
    recorder.delete(asset)
    recorder.delete(asset)
    recorder.fetch(link)
    recorder.get(product)
    recorder.delete(product)


class Begun(NamedTuple):
    """What the second half of the conversation goes on with."""

    things: Things
    unfinished: list[str]
    """The paths of work."""
    cursor: str


def begin(recorder: Recorder) -> Begun:
    things = bring_in(recorder)
    work = order_work(recorder, things)
    provoke(recorder, things)
    hurry(recorder, things)
    replay(recorder, things)
    recorder.advance(60)
    work += meet_faults(recorder, things)
    first_page = recorder.get("/assets?limit=2").json
    return Begun(
        things=things,
        unfinished=work,
        cursor=first_page["page"]["next_cursor"],
    )


def go_on(recorder: Recorder, begun: Begun) -> None:
    recorder.get(f"/assets?limit=2&after={begun.cursor}")
    replay(recorder, begun.things)
    poll(recorder, begun.unfinished)

    recorder.advance(3600)
    paused = recorder.post("/uploads", UPLOAD)
    assert paused.status == 503

    recorder.advance(3600)
    recorder.told("GET", "/scenario")
    read_everything(recorder)
    download_everything(recorder)

    late = recorder.open_upload(10)
    recorder.advance(901)
    expired = recorder.send_bytes(late, b"0123456789")
    assert expired.status == 410

    delete_some(recorder, begun.things)
    recorder.told("POST", "/clock/advance", {"until_idle": True})
    read_everything(recorder)


END = "2026-01-01T00:01:00.000Z"
"""When all work of the transcript is done, counted from the start of a clock that
stands still."""
SEEDED = ("--clock", "auto", "--seed", "7")


def of_the_service(recorder: Recorder) -> list[Exchange]:
    """What was answered, without the Request-Ids of the control plane, which count what
    a server was asked.
    """
    exchanges: list[Exchange] = []
    for request, answer in recorder.exchanges:
        if "/_emulator/" in request:
            without_headers = replace(answer, raw_headers=())
            exchanges.append((request, without_headers))
        else:
            exchanges.append((request, answer))
    return exchanges


SUCCESSFUL = {200, 201, 202, 204}
REFUSED = {400, 401, 403, 404, 405, 410, 422, 429}
FAILED = {500, 503}
STATUSES = SUCCESSFUL | REFUSED | FAILED
"""What the whole conversation is answered with."""


def test_a_twin_and_a_successor_from_a_saved_state_say_the_same_bytes() -> None:
    with (
        recording(*SEEDED) as recorder,
        recording(*SEEDED) as twin,
        recording("--seed", "8") as successor,
        ThreadPoolExecutor(2) as both,
    ):
        begun, _ = both.map(begin, (recorder, twin))
        first_half = list(recorder.exchanges)
        assert_equal(first_half, twin.exchanges)
        assert recorder.journal() == twin.journal()

        load_state_of(recorder, successor)
        recorder.exchanges.clear()
        going_on = both.map(
            go_on,
            (recorder, successor),
            (begun, begun),
        )
        list(going_on)
        second_half = of_the_service(recorder)
        assert_equal(second_half, of_the_service(successor))

    # So the conversation was one that could have told a difference.
    exchanges = [*first_half, *second_half]
    statuses = [answer.status for _, answer in exchanges]
    server_errors = [status for status in statuses if status >= 500]
    assert set(statuses) >= STATUSES
    assert server_errors == [503, 500, 503]
    assert len(first_half) > 100
    assert len(second_half) > 100


def load_state_of(recorder: Recorder, successor: Recorder) -> None:
    """Let a successor go on where a recorder is, with nothing recorded yet."""
    saved = recorder.ask("GET", "/state").body
    successor.told("PUT", "/state", content=saved)
    successor.keys_used = recorder.keys_used
    successor.exchanges.clear()


def assert_equal(exchanges: list[Exchange], expected: list[Exchange]) -> None:
    """One by one, so that a failure shows the first difference."""
    for exchange, expected_exchange in zip(exchanges, expected, strict=True):
        assert exchange == expected_exchange


def test_another_seed_gives_other_identifiers_and_links(
    make_emulator: MakeEmulator,
) -> None:
    emulator = make_emulator(seed=7)
    other = make_emulator(seed=8)

    poses = emulator.items("/poses")
    other_poses = other.items("/poses")

    for pose, other_pose in zip(poses, other_poses, strict=True):
        assert pose["name"] == other_pose["name"]
        assert pose["id"] != other_pose["id"]
        assert pose["card_image_url"] != other_pose["card_image_url"]


Gait = Callable[[Client, list[str]], None]


def at_once(client: Client, paths: list[str]) -> None:
    """Go straight to the end, which every gait does at last."""


def many_advances(client: Client, paths: list[str]) -> None:
    for _ in range(300):
        client.advance(0.1)


def event_by_event_with_a_look_at_everything(client: Client, paths: list[str]) -> None:
    while has_event_before_the_end(client):
        client.told("POST", "/clock/advance", {"next_event": True})
        for path in paths:
            client.get(path)


def has_event_before_the_end(client: Client) -> bool:
    clock = client.told("GET", "/clock")
    next_event_at = clock["next_event_at"]
    if next_event_at is None:
        return False
    return bool(next_event_at <= END)  # timestamps sort as texts


def polls_that_take_their_waits(client: Client, paths: list[str]) -> None:
    poll(client, paths[::-1])


def test_any_gait_of_the_clock_makes_the_resources_that_one_advance_makes(
    make_emulator: MakeEmulator,
) -> None:
    def history(gait: Gait, clock: str = "manual") -> list[Any]:
        """Order work, let time pass in some gait, and return all that there is then,
        pictures included.
        """
        emulator = make_emulator(clock=clock, rate_limits=False)
        things = bring_in(emulator)
        paths = order_work(emulator, things)
        gait(emulator, paths)
        emulator.told("POST", "/clock/advance", {"to": END})
        return [*read_everything(emulator), *download_everything(emulator)]

    expected = history(at_once)

    by_many_advances = history(many_advances)
    by_events = history(event_by_event_with_a_look_at_everything)
    by_polls = history(polls_that_take_their_waits, "auto")

    assert by_many_advances == expected
    assert by_events == expected
    assert by_polls == expected
